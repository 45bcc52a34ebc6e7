"""What went wrong inside memories that went on."""

from pathlib import Path

import pytest

from ledger_fixtures import unit_record
from memgauge.analysis import losses as module
from memgauge.analysis.losses import EXCERPT, losses
from memgauge.analysis.read import read
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import FaultRecord
from memgauge.ledger.writer import FILE_NAME, Ledger


def _ledger(directory: Path) -> Frames:
    """``graph`` has five faults in two units; ``quiet`` none; ``shop`` lost something without a fault on record."""
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        plan = (("graph", None), ("graph", None), ("quiet", None), ("shop", "3 of 9 turns lost: bad JSON"))
        for unit, (memory, error) in enumerate(plan, 1):
            ledger.add_units([unit_record(unit, memory, "serve", f"talk-{unit}")])
            ledger.start_unit(unit, 0.0)
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0, error=error)
        for fault in range(1, 5):
            reply = "Sure! " + "x" * 1_000 if fault == 4 else None
            what = "no JSON" if fault < 3 else f"fault {fault}"
            ledger.add_fault(FaultRecord(1, fault, fault, None, "write", what, reply, 2))
        ledger.add_fault(FaultRecord(2, 1, 9, "q1", "read", "no page of that number", "page 99", 0))
    return Frames(directory)


def test_faults_and_lost_turns_are_counted_over_all_units_and_the_last_are_told(tmp_path: Path) -> None:
    graph, shop = losses(read(_ledger(tmp_path)))
    assert (graph.memory, graph.faults, graph.lost_turns, graph.units) == ("graph", 5, 8, 2)
    assert graph.kinds == {"write": 4, "read": 1}
    assert [fault.what for fault in graph.last] == ["fault 3", "fault 4", "no page of that number"]
    assert (graph.last[-1].item, graph.last[-1].question, graph.last[-1].reply) == ("talk-2", "q1", "page 99")
    assert (shop.memory, shop.faults, shop.lost) == ("shop", 0, {"3 of 9 turns lost: bad JSON": 1})


def test_faults_that_say_the_same_are_told_once_the_last_of_them_with_how_many_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_EXAMPLES", 9)
    graph, _ = losses(read(_ledger(tmp_path)))
    told = [(fault.what, fault.times, fault.turn) for fault in graph.last]
    assert told == [("no JSON", 2, 2), ("fault 3", 1, 3), ("fault 4", 1, 4), ("no page of that number", 1, 9)]


def test_a_long_reply_is_cut_and_its_length_told(tmp_path: Path) -> None:
    graph, _ = losses(read(_ledger(tmp_path)))
    reply = graph.last[1].reply
    assert reply is not None
    assert reply.startswith("Sure! xxx")
    assert reply.endswith("… (1,006 characters)")
    assert len(reply) < EXCERPT + 40


def test_what_a_failed_unit_says_is_no_loss_of_a_memory_that_went_on(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve")])
        ledger.start_unit(1, 0.0)
        ledger.end_unit(1, "failed", now=1.0, wall_s=1.0, error="the upstream went away")
    assert losses(read(Frames(tmp_path))) == ()
