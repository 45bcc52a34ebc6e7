"""Paper 2's tables: which memory is which substrate, in what order, with which figures."""

import json
from pathlib import Path

import pytest

from ledger_fixtures import call_record, unit_record
from memgauge.analysis.harness import harness
from memgauge.analysis.substrates import KNOWN, SubstrateTable
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import StepRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from recalled_ledgers import Asked, Said, recalled_ledger

NAMED = {"graph": "M5", "buffer": "M10", "bm25": "M2", "dense": "M1"}


def _tables(directory: Path, *units: Asked) -> tuple[SubstrateTable, ...]:
    frames = recalled_ledger(directory, *units)
    with Ledger.open(frames.path) as ledger:
        ledger.set_meta("paper_ids", json.dumps(NAMED))
    return harness(frames).tables


def test_memories_stand_in_the_paper_s_order_strangers_behind_them_and_controls_last(tmp_path: Path) -> None:
    right = [Said("Pepper")]
    (table,) = _tables(
        tmp_path,
        Asked(right, "oracle", unit={"control": True}),
        Asked(right, "mem0"),
        *(Asked(right, memory) for memory in NAMED),
    )
    assert [row.memory for row in table.rows] == ["dense", "bm25", "graph", "buffer", "mem0", "oracle"]
    families = [row.family for row in table.rows]
    assert families == ["flat", "flat", "structural", "activation", None, None]
    assert [row.paper_id for row in table.rows][:5] == ["M1", "M2", "M5", "M10", None]


def test_a_table_holds_what_was_known_and_what_was_spent(tmp_path: Path) -> None:
    said = [Said("Pepper", lines=["Ann: his dog is Pepper"]), Said("no", lines=["x"], recalled=())]
    (table,) = _tables(tmp_path, Asked(said, "bm25", store=(600, 50), written=100))
    assert (table.workload, table.protocol, table.conversations, table.questions) == ("sample", "recall", 1, 2)
    (row,) = table.rows
    assert (row.asked, row.errors) == (2, 0)
    assert row.scores["exact_match"].value == 0.5
    assert row.scores["evidence_recall"].value == 0.5
    assert set(row.scores) <= set(KNOWN)
    # Two calls of 120 tokens in; the fixture's calls answer with one token each.
    assert (row.figures["read_answer_tokens"], row.figures["read_tokens"]) == (242, 0)
    assert row.figures["compression"] == 2.0


def test_what_is_handed_over_whole_has_no_seconds_of_retrieval(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {"paper_ids": json.dumps(NAMED)}) as ledger:
        for unit, memory in enumerate(("buffer", "dense"), 1):
            ledger.add_units([unit_record(unit, memory, "recall", questions=1)])
            ledger.start_unit(unit, 0.0)
            ledger.add_step(StepRecord(unit, 1, 1, "q1", "read", 0, 50, 0.25))
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0)
    (table,) = harness(Frames(tmp_path)).tables
    assert {row.memory: row.figures["read_s"] for row in table.rows} == {"buffer": None, "dense": 0.25}


def test_a_memory_that_was_resumed_says_that_its_seconds_are_not_whole(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        for unit, memory in enumerate(("a", "b"), 1):
            ledger.add_units([unit_record(unit, memory, "recall", questions=1)])
            ledger.start_unit(unit, 0.0)
            call = ledger.add_call(call_record(unit, 1, 1, "answer", question="q1"))
            if memory == "a":
                ledger.start_unit(unit, 1.0)
                ledger.claim_call(call, 1)
            ledger.end_unit(unit, "done", now=2.0, wall_s=1.0)
    (table,) = harness(Frames(tmp_path)).tables
    assert {row.memory: row.seconds_whole for row in table.rows} == {"a": False, "b": True}


def test_a_run_that_asked_nothing_has_no_table(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "a", "serve")])
        ledger.start_unit(1, 0.0)
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    assert harness(Frames(tmp_path)).tables == ()


@pytest.mark.parametrize("noted", ["{}", None])
def test_a_ledger_that_does_not_say_what_its_memories_are_has_no_families(tmp_path: Path, noted: str | None) -> None:
    frames = recalled_ledger(tmp_path, Asked([Said("Pepper")], "dense"))
    if noted:
        with Ledger.open(frames.path) as ledger:
            ledger.set_meta("paper_ids", noted)
    assert [row.paper_id for row in harness(frames).tables[0].rows] == [None]
