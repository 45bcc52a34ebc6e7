"""What memories told of their state."""

import json
from pathlib import Path

import pytest

from ledger_fixtures import unit_record
from memgauge.analysis import memory_states as module
from memgauge.analysis.memory_states import memory_states
from memgauge.analysis.read import read
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger


def _ledger(directory: Path) -> Frames:
    """``facts`` was served and asked, ``log`` asked alone, ``plain`` has no state."""
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        plan = (("log", "recall", 4), ("plain", "serve", 4), ("facts", "serve", 3), ("facts", "recall", 4))
        for unit, (memory, protocol, turns) in enumerate(plan, 1):
            ledger.add_units([unit_record(unit, memory, protocol, turns=turns)])
            ledger.start_unit(unit, 0.0)
            for turn in range(1, turns + 1) if memory != "plain" else ():
                state = {"stored": turn * unit, "lost": 0.0} | ({"late": 1.0} if turn == 3 else {})
                ledger.add_state(unit, turn, json.dumps(state))
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0)
    return Frames(directory)


def test_each_memory_with_a_state_has_its_figures_turn_by_turn_those_that_stayed_0_left_out(tmp_path: Path) -> None:
    log, facts = memory_states(read(_ledger(tmp_path)))
    assert (log.memory, log.protocol, log.turns) == ("log", "recall", 4)
    assert [series.figure for series in log.series] == ["stored", "late"]
    assert (log.series[0].turns, log.series[0].values) == ((1, 2, 3, 4), (1.0, 2.0, 3.0, 4.0))
    assert (log.series[1].turns, log.series[1].values) == ((3,), (1.0,))
    # What was served goes before what was asked.
    assert (facts.memory, facts.protocol, facts.series[0].values) == ("facts", "serve", (3.0, 6.0, 9.0))


def test_of_very_many_turns_evenly_spread_ones_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_POINTS", 2)
    log, _ = memory_states(read(_ledger(tmp_path)))
    assert log.series[0].turns == (1, 3, 4)  # and the last
