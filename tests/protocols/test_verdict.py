"""A judge's reply is a verdict only where it plainly is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.protocols.verdict import parse


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reason": "same city", "verdict": "CORRECT"}', "correct"),
        ('{"verdict": "wrong"}', "wrong"),
        ('```json\n{"label": "CORRECT"}\n```', "correct"),
        ('Both name Porto.\n{"reason": "r", "verdict": "CORRECT"} I am sure.', "correct"),
        ('{"Verdict": "Incorrect", "reason": "x"}', "wrong"),
        ("The dates agree, so CORRECT.", "correct"),
        ("Verdict: **WRONG**", "wrong"),
        # No verdict: neither, both, prose, cut off, empty.
        ("The answer is not correct.", None),
        ("CORRECT or WRONG? Hard to say.", None),
        ('{"verdict": "CORRECT"} {"verdict": "WRONG"}', None),
        ('{"verdict": "CORRECT", "label": "WRONG"}', None),
        ('{"verdict": "PARTLY"}', None),
        ('{"reason": "it nam', None),
        ("", None),
        ("INCORRECTLY", None),
        ('{"verdict": {"a": 1}}', None),
        ("yes", None),
    ],
)  # fmt: skip
def test_replies(reply: str, verdict: str | None) -> None:
    found = parse(reply)
    assert (found.verdict if found else None) == verdict


def test_the_reason_is_kept() -> None:
    found = parse('{"reason": "both say 7 May", "verdict": "CORRECT"}')
    assert found is not None
    assert found.why == "both say 7 May"


@given(st.text() | st.text(st.sampled_from('{}[]":,CORRECTWRONGverdict \n'), max_size=80))
def test_any_reply_is_read_without_a_fault(reply: str) -> None:
    found = parse(reply)
    assert found is None or found.verdict in ("correct", "wrong")
