"""Break-even: hand-worked cumulative costs."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from memgauge.analysis.cost_model import Exponent, Fit
from memgauge.analysis.runs import Group, Run
from memgauge.analysis.sustained import Comparisons, Costs, Sustained, compare

CELL = Group("synthetic", 4, 10)


def run(unit: int, memory: str, turns: int = 4, measured: int | None = None, cell: Group = CELL) -> Run:
    return Run(unit, memory, "low", "m", None, False, cell, 10.0, turns, measured or turns)


def compared(costs: Mapping[str, Sequence[Sequence[float]]], **more: object) -> Comparisons:
    """Break-even of runs given as costs per turn, by memory; each list is a repeat."""
    runs, series = [], {}
    for memory, repeats in costs.items():
        for repeat in repeats:
            unit = len(runs) + 1
            runs.append(run(unit, memory, len(repeat), cell=Group("synthetic", len(repeat), 10)))
            series[unit] = np.array(repeat, dtype=float)
    return compare(runs, (), [Costs("tokens", series)], {}, series, **more)  # type: ignore[arg-type]


def only(found: Comparisons) -> Sustained:
    (row,) = found.rows
    return row


FULL = [10.0, 20.0, 30.0, 40.0]  # cumulative 10, 30, 60, 100


def test_the_turn_from_which_on_the_memory_stays_cheaper() -> None:
    # 24 each: 24, 48, 72, 96: dearer at turns 1, 2, 3, cheaper at 4.
    row = only(compared({"full-history": [FULL], "m": [[24.0] * 4]}))
    assert (row.turn, row.ratio, row.last_turn) == (4, pytest.approx(0.96), 4)


def test_cheaper_from_the_start_is_turn_zero() -> None:
    assert only(compared({"full-history": [FULL], "m": [[9.0] * 4]})).turn == 0


def test_equal_at_the_last_turn_is_never() -> None:
    row = only(compared({"full-history": [FULL], "m": [[25.0] * 4]}))
    assert (row.turn, row.ratio) == (None, 1.0)


def test_a_crossing_that_does_not_last_does_not_count() -> None:
    # 5, 10, 15, 101: cheaper until the last turn.
    assert only(compared({"full-history": [FULL], "m": [[5.0, 5.0, 5.0, 86.0]]})).turn is None


def test_repeats_are_averaged_before_they_are_compared() -> None:
    # 30 and 18 average to 24, as above.
    row = only(compared({"full-history": [FULL, FULL], "m": [[30.0] * 4, [18.0] * 4]}))
    assert (row.turn, row.runs, row.reference_runs) == (4, 2, 2)


def test_the_interval_over_repeats_spans_what_the_repeats_say() -> None:
    # Only the first repeat: 120 > 100, never. Only the second: 18, 36 > 30, 54 < 60: turn 3.
    row = only(compared({"full-history": [FULL], "m": [[30.0] * 4, [18.0] * 4]}))
    assert row.repeats is not None
    assert (row.repeats.low, row.repeats.high) == (3, None)
    assert row.repeats.never == pytest.approx(0.25, abs=0.05)


def test_a_single_repeat_has_no_interval() -> None:
    assert only(compared({"full-history": [FULL], "m": [[9.0] * 4]})).repeats is None


def test_a_cell_without_full_history_says_which_memory_is_missing() -> None:
    found = compared({"m": [[9.0] * 4]})
    assert found.rows == ()
    (missing,) = found.missing
    assert (missing.memory, missing.cell) == ("m", "4 × 10")
    assert missing.reason == "no finished full-history here; add it to the memories"


def test_unknown_costs_end_what_is_measured() -> None:
    row = only(compared({"full-history": [[10.0, 20.0, np.nan, 40.0]], "m": [[24.0] * 4]}))
    assert (row.turn, row.last_turn) == (None, 2)
    assert row.ratio == pytest.approx(48 / 30)


def test_where_full_history_was_cut_off_the_model_extends_it_and_says_so() -> None:
    # Measured to turn 3 of 6: 10, 30, 60 against 25, 50, 75: never so far. The model predicts 10·t at every
    # turn, 40, 50, 60: 100, 150, 210 against 100, 125, 150: cheaper from turn 5 on.
    exact = Exponent(1.0, None, None)
    cell = Group("synthetic", 6, 10)
    series = {1: np.array(FULL[:3]), 2: np.full(6, 25.0)}
    own, reference = run(2, "m", 6, cell=cell), run(1, "full-history", 6, measured=3, cell=cell)
    found = compare([own], [reference], [Costs("tokens", series)], {"low": _TenPerTurn(exact)}, series)
    row = only(found)
    assert (row.turn, row.last_turn, row.ratio) == (None, 3, pytest.approx(75 / 60))
    assert row.extended is not None
    assert (row.extended.turn, row.extended.last_turn, row.extended.measured_turns) == (5, 6, 3)
    assert row.extended.ratio == pytest.approx(150 / 210)


def test_extended_dollars_follow_the_last_measured_dollars_per_token() -> None:
    # Dollars are half the tokens for both, so break-even is where it is in tokens.
    cell = Group("synthetic", 6, 10)
    tokens = {1: np.array(FULL[:3]), 2: np.full(6, 25.0)}
    dollars = Costs("usd", {unit: series / 2 for unit, series in tokens.items()})
    own, reference = run(2, "m", 6, cell=cell), run(1, "full-history", 6, measured=3, cell=cell)
    row = only(compare([own], [reference], [dollars], {"low": _TenPerTurn(Exponent(1.0, None, None))}, tokens))
    assert row.extended is not None
    assert (row.extended.turn, row.extended.ratio) == (5, pytest.approx(150 / 210))


def test_a_finished_full_history_is_not_extended_and_its_failed_repeat_does_not_count() -> None:
    series = {1: np.array(FULL), 2: np.full(4, 24.0), 3: np.array([1000.0])}
    found = compare(
        [run(1, "full-history"), run(2, "m")],
        [run(3, "full-history", measured=1)],
        [Costs("tokens", series)],
        {},
        series,
    )
    row = only(found)
    assert (row.turn, row.reference_runs, row.extended) == (4, 1, None)


class _TenPerTurn(Fit):
    """A fit that predicts ten tokens per turn of depth, whatever the message size."""

    def __init__(self, exponent: Exponent) -> None:
        super().__init__(0.0, exponent, exponent, 1.0, None, None, 0)

    def predict(self, message_tokens: float, turns: np.ndarray) -> np.ndarray:
        return 10 * turns
