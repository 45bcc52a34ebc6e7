"""Where a memory spends its calls: what is told of which turn."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger_fixtures import call_record, unit_record
from memgauge.analysis import call_trees as module
from memgauge.analysis.call_trees import MOST_CALLS, MOST_EMBEDDINGS, CallTree, call_trees
from memgauge.analysis.read import read
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import CallRecord, PromptRecord
from memgauge.ledger.writer import FILE_NAME, Ledger

EMBED = {"kind": "embed", "input_tokens": None, "output_tokens": None, "embedding_tokens": 7, "reply": "{}"}


def _call(turn: int, stage: str, **changes: Any) -> tuple[int, str, dict[str, Any]]:
    return turn, stage, changes


def _tree(directory: Path, *calls: tuple[int, str, dict[str, Any]], **unit: Any) -> CallTree:
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve", **unit)])
        ledger.start_unit(1, 0.0)
        for record in _records(calls):
            ledger.add_call(record)
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    (tree,) = call_trees(read(Frames(directory)))
    return tree


def _records(calls: tuple[tuple[int, str, dict[str, Any]], ...]) -> Iterator[CallRecord]:
    for seq, (turn, stage, changes) in enumerate(calls, 1):
        yield call_record(1, seq, turn, stage, **{"input_tokens": 10, "output_tokens": 1, **changes})


def _served(text: str) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})


def _prompt(*pieces: str, base: int | None = None, keep: int = 0) -> PromptRecord:
    return PromptRecord(base, keep, pieces, 1, 0, None)


def test_a_small_run_is_told_whole_turn_by_turn_and_stage_by_stage(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        _call(1, "answer", input_tokens=30, cached_tokens=5, output_tokens=2, reasoning_tokens=3),
        _call(1, "write", input_tokens=100),
        _call(1, "write", **EMBED),
        _call(2, "answer"),
        _call(2, "manage", background=True),
    )
    assert (tree.memory, tree.protocol, tree.item, tree.places) == ("mem", "serve", "sample-1", 2)
    assert [(place.turn, [stage.stage for stage in place.stages]) for place in tree.told] == [
        (1, ["answer", "write"]), (2, ["answer", "manage"]),
    ]  # fmt: skip
    answer, write = tree.told[0].stages
    assert (answer.spent.chats, answer.spent.input, answer.spent.output) == (1, 35, 5)
    assert (answer.calls[0].input, answer.calls[0].output) == (35, 5)
    assert (write.spent.chats, write.spent.embeddings, write.spent.embedded) == (1, 1, 7)
    assert tree.told[1].stages[1].calls[0].background
    assert (tree.stages["answer"].chats, tree.stages["answer"].input) == (2, 45)  # over all turns


def test_of_a_call_one_sees_how_its_prompt_begins_and_ends_and_what_came_back(tmp_path: Path) -> None:
    start = ("\x02system", "List the facts. ", "As JSON.", "\x02user")
    tree = _tree(
        tmp_path,
        _call(1, "write", prompt=_prompt(*start, "Ann: hello", "Bob: I have a dog"), reply=_served("Bob has a dog")),
        # The same prompt but for its end is kept as a delta on the first call.
        _call(2, "write", prompt=_prompt("Bob: his name is Rex", base=1, keep=4), reply=_served("")),
        # This one shares no more than the mark that a system text begins.
        _call(3, "write", prompt=_prompt("Merge these. ", "\x02user", "a, b", base=1, keep=1), reply="no JSON"),
    )
    first, second, third = (place.stages[0].calls[0] for place in tree.told)
    assert (first.opening, first.ending) == ("List the facts. As JSON.", "As JSON. Ann: hello Bob: I have a dog")
    assert first.reply == "Bob has a dog"
    assert (second.opening, second.ending) == ("List the facts. As JSON.", "Bob: his name is Rex")
    assert (third.opening, third.ending, third.reply) == ("Merge these. a, b", "Merge these. a, b", "no JSON")


def test_a_long_text_is_cut_and_a_call_without_a_reply_says_why(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        _call(1, "write", prompt=_prompt("x" * 5_000), reply=_served("y" * 5_000)),
        _call(2, "answer", reply=None, input_tokens=None, outcome="timeout", error="no answer within 120 s"),
    )
    write, answer = (place.stages[0].calls[0] for place in tree.told)
    assert (len(write.opening), len(write.ending), write.reply) == (100, 200, f"{'y' * 200} …")
    assert (answer.input, answer.reply, answer.error) == (None, "", "timeout: no answer within 120 s")


def test_of_very_many_calls_at_one_place_the_first_are_told_and_all_are_counted(tmp_path: Path) -> None:
    tree = _tree(tmp_path, *[_call(1, "write")] * 20, *[_call(1, "write", **EMBED)] * 9)
    (stage,) = tree.told[0].stages
    assert (stage.spent.chats, stage.spent.embeddings, stage.spent.input) == (20, 9, 200)
    kinds = [call.kind for call in stage.calls]
    assert (kinds.count("chat"), kinds.count("embed")) == (MOST_CALLS, MOST_EMBEDDINGS)


def test_of_a_large_run_the_first_the_median_and_the_costliest_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WHOLE_CALLS", 5)
    costs = (40, 10, 90, 30, 20)  # the median is turn 4's 30
    asked = {"input_tokens": 5, "question": "q1"}
    tree = _tree(
        tmp_path, *(_call(turn, "answer", input_tokens=cost) for turn, cost in enumerate(costs, 1)),
        _call(5, "answer", **asked),
    )  # fmt: skip
    assert tree.places == 6
    told = [(place.turn, place.question, place.why) for place in tree.told]
    assert told == [(1, None, "first"), (3, None, "costliest"), (4, None, "median"), (5, "q1", "first")]


def test_the_longest_finished_unit_of_each_memory_and_protocol_is_told(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        for unit, (protocol, turns, status) in enumerate(
            (("serve", 5, "done"), ("serve", 9, "done"), ("serve", 50, "failed"), ("recall", 7, "done")), 1
        ):
            ledger.add_units([unit_record(unit, "mem", protocol, f"talk-{unit}", turns=turns)])
            ledger.start_unit(unit, 0.0)
            ledger.add_call(call_record(unit, 1, 1, "answer"))
            ledger.add_call(call_record(unit, 2, 1, "judge"))
            ledger.end_unit(unit, status, now=1.0, wall_s=1.0)
    trees = call_trees(read(Frames(tmp_path)))
    assert [(tree.protocol, tree.item) for tree in trees] == [("serve", "talk-2"), ("recall", "talk-4")]
    assert all(list(tree.stages) == ["answer"] for tree in trees)  # a judge is no cost of the memory's


def test_a_run_in_which_nothing_finished_has_no_tree(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve")])
    assert call_trees(read(Frames(tmp_path))) == ()


def test_a_memory_that_calls_nobody_has_a_tree_without_places(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    assert (tree.stages, tree.places, tree.told) == ({}, 0, ())


def test_calls_served_from_the_record_have_no_seconds(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve")])
        ledger.start_unit(1, 0.0)
        call = ledger.add_call(call_record(1, 1, 1, "answer", latency_s=0.5))
        ledger.add_call(call_record(1, 2, 2, "answer", latency_s=0.5))
        ledger.start_unit(1, 1.0)
        ledger.claim_call(call, 1)
        ledger.add_call(call_record(1, 2, 2, "answer", attempt=2, latency_s=0.5))
        ledger.end_unit(1, "done", now=2.0, wall_s=1.0)
    (tree,) = call_trees(read(Frames(tmp_path)))
    assert [place.stages[0].calls[0].seconds for place in tree.told] == [None, 0.5]
