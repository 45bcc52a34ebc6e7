"""The sections that show what happened inside the memories; what models said in them is text."""

import re

from memgauge.analysis.call_trees import Call, CallTree, Place, Stage, Tokens
from memgauge.analysis.losses import FaultTold, Losses
from memgauge.analysis.memory_states import MemoryStates, StateSeries
from memgauge.report.call_trees import call_trees_section
from memgauge.report.losses import loss_marks, losses_section
from memgauge.report.state_charts import state_charts
from tags import Tags

STYLES = {"graph": "c0", "shop": "c1"}
EVIL = '</details><script>alert("x")</script><img src=x onerror=alert(1)>'


def _text(html: object) -> str:
    return re.sub(r"<[^>]+>", "", str(html))


def _call(**changes: object) -> Call:
    fields: dict[str, object] = {
        "kind": "chat", "input": 1_234, "output": 56, "embedded": None, "seconds": 0.25, "background": False,
        "opening": "List the facts.", "ending": "Ann: hello", "reply": "none", "error": None,
    }  # fmt: skip
    return Call(**{**fields, **changes})  # type: ignore[arg-type]


def _tree(*calls: Call, places: int = 1, why: str = "") -> CallTree:
    spent = Tokens(3, 0, 3_000, 150, 0)
    place = Place(7, None, why, (Stage("write", spent, calls),))
    return CallTree("graph", "serve", "talk-1", "default", 20, {"write": spent}, places, (place,))


def test_a_tree_opens_from_the_unit_to_its_turns_stages_and_calls() -> None:
    html = str(call_trees_section([_tree(_call())], STYLES))
    Tags(html)
    assert html.count("<details") == 2
    text = _text(html)
    assert "graph served talk-1" in text
    assert "write 3 × 1,000 → 50" in text  # calls × mean tokens in → out
    assert "Turn 7" in text
    assert "write 3 calls, 3,000 in, 150 out" in text
    assert "1,234 → 56 · 0.25 s" in text
    assert "List the facts. Ann: hello none" in text
    assert "and 2 more" in text


def test_a_sample_says_so_and_why_each_turn_is_told() -> None:
    text = _text(call_trees_section([_tree(_call(), places=40, why="costliest")], STYLES))
    assert "the first, the median and the costliest turn" in text
    assert "Turn 7costliest" in text
    assert "39 further turns or questions made calls." in text


def test_a_call_says_what_is_special_about_it() -> None:
    calls = [
        _call(background=True, seconds=None),
        _call(kind="embed", embedded=12, opening="Ann: hello", reply=""),
        _call(reply="", input=None, output=None, error="timeout: no answer"),
    ]
    text = _text(call_trees_section([_tree(*calls)], STYLES))
    assert "1,234 → 56 · from the record · background" in text
    assert "12 embedded · 0.25 sAnn: hello" in text  # a text that is both opening and ending is told once
    assert "– → –" in text
    assert "timeout: no answer" in text


def test_what_models_said_is_never_markup() -> None:
    call = _call(opening=EVIL, ending=EVIL + ".", reply=EVIL)
    lost = Losses(
        "graph", 1, 0, 1, {"write": 1}, (FaultTold(EVIL, "serve", 1, EVIL, "write", EVIL, EVIL, 0, 1),), {EVIL: 1}
    )
    states = MemoryStates("graph", "serve", EVIL, 2, (StateSeries(EVIL, (1,), (1.0,)),))
    for html in (
        call_trees_section([_tree(call)], STYLES),
        losses_section([lost], STYLES),
        state_charts([states], STYLES),
        loss_marks([lost])["graph"],
    ):
        assert not [tag for tag, _ in Tags(str(html)).found if tag in ("script", "img")]


def _losses() -> list[Losses]:
    fault = FaultTold("talk-1", "serve", 9, None, "write", "the reply is no JSON", "Sure!", 10, 4)
    return [
        Losses("graph", 5, 20, 2, {"write": 4, "read": 1}, (fault,), {}),
        Losses("shop", 0, 0, 0, {}, (), {"3 of 9 turns lost": 2}),
    ]


def test_faults_are_counted_and_the_last_are_told_with_the_reply() -> None:
    text = _text(losses_section(_losses(), STYLES))
    assert "graph 5 faults in 2 units (4 in write, 1 in read), 20 turns lost" in text
    assert "the reply is no JSON (4 times; the last:)talk-1, serve, turn 9, write, 10 turns lostSure!" in text
    assert "3 of 9 turns lost (2 units)" in text
    assert losses_section([], STYLES) is None


def test_a_memory_is_marked_by_what_it_lost() -> None:
    harmless = Losses("calm", 1, 0, 1, {"read": 1}, (), {})
    marks = {memory: _text(mark) for memory, mark in loss_marks([*_losses(), harmless]).items()}
    assert marks == {"graph": "lost 20 turns", "shop": "lost something", "calm": "1 fault"}


def test_a_state_is_drawn_as_steps_and_says_its_last_value() -> None:
    states = MemoryStates("graph", "serve", "talk-1", 20, (StateSeries("stored_facts", (10, 20), (4.0, 9.0)),))
    html = str(state_charts([states], STYLES))
    Tags(html)
    assert "stored facts" in html
    assert 'title="graph, stored facts: 9 after turn 20, at most 9"' in html
    # 0 until turn 10, then 4 until turn 20, then 9: x runs from 2 to 146 over 20 turns, y from 41 (0) to 4 (9).
    assert 'd="M2.0,41.0L74.0,41.0L74.0,24.6L146.0,24.6L146.0,4.0"' in html
    assert state_charts([], STYLES) is None
