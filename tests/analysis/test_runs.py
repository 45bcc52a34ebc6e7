"""Served runs and their cost per turn, read from a real ledger."""

from pathlib import Path

import numpy as np

from ledger_fixtures import call_record, sample_ledger, unit_record
from memgauge.analysis.runs import CALL_COLUMNS, Served, input_series, served, serving_calls
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from served_ledgers import Memory, full_history, served_ledger


def read(frames: Frames) -> tuple[Served, dict[int, np.ndarray]]:
    calls = frames.calls(CALL_COLUMNS)
    found = served(frames.units(), calls)
    every = (*found.runs, *found.cut_off)
    return found, input_series(serving_calls(calls, every), every)


def test_a_cell_is_the_group_of_its_seeds(tmp_path: Path) -> None:
    found, costs = read(served_ledger(tmp_path, [Memory("m", full_history, [(3, 10), (2, 20)], seeds=2)]))
    assert [run.group.label for run in found.runs] == ["3 × 10", "3 × 10", "2 × 20", "2 × 20"]
    assert [run.message_tokens for run in found.runs] == [10, 10, 20, 20]
    assert costs[1].tolist() == [10, 20, 30]
    assert costs[4].tolist() == [20, 40]


def test_the_measured_message_size_can_be_taken_in_place_of_the_cells(tmp_path: Path) -> None:
    frames = served_ledger(tmp_path, [Memory("m", full_history, [(3, 100)])])
    (run,) = served(frames.units(), frames.calls(CALL_COLUMNS), measured_size=True).runs
    assert run.message_tokens == 102


def test_failed_units_are_left_out_and_counted_and_full_history_is_kept_as_far_as_it_was_measured(
    tmp_path: Path,
) -> None:
    frames = served_ledger(
        tmp_path,
        [
            Memory("full-history", full_history, [(5, 10)], seeds=2, dies_after=3),
            Memory("m", full_history, [(5, 10)], dies_after=3),
        ],
    )
    found, costs = read(frames)
    assert found.runs == ()
    assert [(entry.memory, entry.units, entry.status, entry.where) for entry in found.excluded] == [
        ("full-history", 2, "failed", "5 × 10"),
        ("m", 1, "failed", "5 × 10"),
    ]
    assert found.excluded[0].error == "HTTP 400: prompt rejected"
    assert [(run.memory, run.measured, run.turns) for run in found.cut_off] == [("full-history", 3, 5)] * 2
    assert costs[1].tolist() == [10, 20, 30]


def test_every_serving_stage_counts_and_cached_input_is_input_but_judging_and_questions_are_not(
    tmp_path: Path,
) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "m", "serve", turns=2)])
        ledger.start_unit(1, 0.0)
        calls = (
            (0, "write", {"input_tokens": 1000}),  # before the first turn: billed with it
            (1, "read", {"input_tokens": 1}),
            (1, "answer", {"input_tokens": 10, "cached_tokens": 100}),
            (2, "write", {"input_tokens": 2, "cache_write_tokens": 20}),
            (2, "manage", {"input_tokens": 200}),
            (2, "judge", {"input_tokens": 9999}),
            (2, "answer", {"input_tokens": 9999, "question": "q1"}),
            (2, "write", {"kind": "embed", "input_tokens": None, "embedding_tokens": 9999}),
        )
        for seq, (turn, stage, fields) in enumerate(calls, 1):
            ledger.add_call(call_record(1, seq, turn, stage, **fields))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    _, costs = read(Frames(tmp_path))
    assert costs[1].tolist() == [1111, 222]


def test_a_turn_whose_usage_is_unknown_has_an_unknown_cost(tmp_path: Path) -> None:
    frames = served_ledger(tmp_path, [Memory("m", lambda size, turn, seed: None if turn == 2 else 5, [(3, 10)])])
    _, costs = read(frames)
    assert np.isnan(costs[1]).tolist() == [False, True, False]


def test_a_conversation_that_was_not_made_for_a_cell_is_a_group_of_its_own(tmp_path: Path) -> None:
    found, _ = read(Frames(sample_ledger(tmp_path, conversations=2)))
    assert {run.group.label for run in found.runs} == {"sample-1", "sample-2"}
    assert {run.group.tokens for run in found.runs} == {None}
