"""Accuracy, cost and their ratio."""

import numpy as np
import polars as pl
import pytest

from memgauge.analysis.joint import Answered, JointRow, joint_matrix
from memgauge.analysis.runs import Group, Run

CELL = Group("synthetic", 100, 100)


def run(unit: int, memory: str, control: bool = False) -> Run:
    return Run(unit, memory, "low", "m", None, control, CELL, 100.0, 100, 100)


def verdicts(*conversations: list[float]) -> tuple[Answered, ...]:
    return (Answered("judge", "locomo", tuple(np.array(each) for each in conversations), 0),)


def matrix(usd: dict[str, list[float | None]], accuracy: dict[str, tuple[Answered, ...]]) -> dict[str, JointRow]:
    runs, values = [], []
    for memory, each in usd.items():
        for value in each:
            runs.append(run(len(runs) + 1, memory, memory == "oracle"))
            values.append(value)
    units = [entry.unit for entry in runs]
    dollars = pl.DataFrame({"unit": units, "value": values}, schema={"unit": pl.Int64, "value": pl.Float64})
    tokens = pl.DataFrame({"unit": units, "value": [entry * 10 for entry in units]})
    by_pair = {(memory, "low"): answered for memory, answered in accuracy.items()}
    return {row.memory: row for row in joint_matrix(runs, [CELL], dollars, tokens, by_pair)}


def test_cost_per_correct_answer_is_mean_cost_over_accuracy() -> None:
    row = matrix({"m": [0.02, 0.04]}, {"m": verdicts([1, 0], [1, 1])})["m"]
    assert row.accuracy is not None
    assert (row.cost.usd, row.accuracy.value) == (pytest.approx(0.03), 0.75)
    assert row.usd_per_correct == pytest.approx(0.04)


def test_the_cost_interval_is_students_over_runs() -> None:
    # Mean 0.03, standard error 0.01, one degree of freedom: 12.706. Costs are not negative.
    row = matrix({"m": [0.02, 0.04]}, {})["m"]
    assert row.cost.interval == pytest.approx((0.0, 0.03 + 0.12706), abs=1e-4)


def test_the_ratios_interval_carries_both_uncertainties() -> None:
    noisy = [0.029, 0.030, 0.031, 0.030]
    answers = verdicts([1.0] * 6 + [0.0] * 4, [1.0] * 8 + [0.0] * 2, [1.0] * 7 + [0.0] * 3)
    both = matrix({"m": noisy}, {"m": answers})["m"].usd_per_correct_interval
    cost_only = matrix({"m": noisy}, {"m": verdicts([1.0, 1.0], [1.0, 1.0])})["m"].usd_per_correct_interval
    assert both is not None
    assert cost_only is not None
    assert both[0] < 0.03 / 0.7 < both[1]
    assert (both[1] - both[0]) * 0.7 > cost_only[1] - cost_only[0]


def test_a_run_without_price_leaves_cost_and_ratio_unknown() -> None:
    row = matrix({"m": [0.02, None]}, {"m": verdicts([1, 0])})["m"]
    assert (row.cost.usd, row.cost.complete, row.usd_per_correct) == (None, False, None)
    assert row.cost.input_tokens == 15


def test_nothing_right_has_no_cost_per_correct_answer() -> None:
    row = matrix({"m": [0.02]}, {"m": verdicts([0, 0])})["m"]
    assert (row.usd_per_correct, row.usd_per_correct_interval) == (None, None)


def test_the_front_holds_what_nothing_else_beats_in_both() -> None:
    rows = matrix(
        {"cheap": [1.0], "good": [3.0], "beaten": [3.0], "twin": [1.0], "oracle": [0.1]},
        {
            "cheap": verdicts([1, 0, 0, 0]),
            "good": verdicts([1, 1, 1, 0]),
            "beaten": verdicts([1, 1, 0, 0]),
            "twin": verdicts([1, 0, 0, 0]),
            "oracle": verdicts([1, 1, 1, 1]),
        },
    )
    on_front = {memory: row.on_front for memory, row in rows.items()}
    assert on_front == {"cheap": True, "good": True, "beaten": False, "twin": True, "oracle": None}


def test_without_prices_the_front_is_in_tokens() -> None:
    # Tokens: 10 for the first memory, 20 for the second.
    rows = matrix({"a": [None], "b": [None]}, {"a": verdicts([1, 0]), "b": verdicts([0, 0])})
    assert (rows["a"].on_front, rows["b"].on_front) == (True, False)


def test_conversations_are_drawn_whole() -> None:
    # One conversation all right, one all wrong: a draw of two is 0, a half or 1, so the interval is everything;
    # Wilson's takes the 40 questions as independent.
    row = matrix({"m": [0.02]}, {"m": verdicts([1.0] * 20, [0.0] * 20)})["m"]
    assert row.accuracy is not None
    assert row.accuracy.interval == (0.0, 1.0)
    assert row.accuracy.wilson == pytest.approx((0.352, 0.648), abs=1e-3)
