"""Small flaws are mended by one rule for every loader, and counted."""

from collections import Counter

import pytest

from memgauge.workloads.mending import Gold, golds, stripped, unlike


@pytest.mark.parametrize(
    ("raw", "answers", "counted"),
    [
        ("Ghent", ("Ghent",), {}),
        (" Ghent\n", ("Ghent",), {"space around a text, stripped": 1}),
        (3, ("3",), {"answer that is a number, made text": 1}),
        (2.5, ("2.5",), {"answer that is a number, made text": 1}),
        (None, (), {}),
        ("", (), {}),
        ([], (), {"answer that is a list, each part a gold": 1}),
        (
            ["Ghent", 3, "Ghent", ""],
            ("Ghent", "3"),
            {"answer that is a list, each part a gold": 1, "answer that is a number, made text": 1},
        ),
    ],
)
def test_golds_become_texts_each_once(raw: Gold, answers: tuple[str, ...], counted: dict[str, int]) -> None:
    anomalies: Counter[str] = Counter()
    assert golds(raw, anomalies) == answers
    assert +anomalies == counted


def test_an_answer_of_100_kb_is_kept_whole() -> None:
    assert golds("x" * 100_000, Counter()) == ("x" * 100_000,)


def test_space_around_a_text_is_counted_once_per_text() -> None:
    anomalies: Counter[str] = Counter()
    assert [stripped(text, anomalies) for text in ("a", " b", "c\n")] == ["a", "b", "c"]
    assert anomalies["space around a text, stripped"] == 2


def test_an_id_used_again_is_numbered_until_it_is_its_own() -> None:
    taken, anomalies = Counter[str](), Counter[str]()
    names = [unlike(name, taken, "twice", anomalies) for name in ("a", "a#2", "a", "a", "b")]
    assert names == ["a", "a#2", "a#2#2", "a#3", "b"]
    assert anomalies == {"twice": 2}
