"""The cost model on costs whose plane is known."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memgauge.analysis.cost_model import CostModel, cost_model, cost_models
from memgauge.analysis.runs import Group, Run

Cell = tuple[int, int]
CELLS: tuple[Cell, ...] = ((15, 50), (15, 200), (100, 100), (400, 50), (400, 200))
EIGHT: tuple[Cell, ...] = (*CELLS, (40, 250), (200, 50), (400, 25))
Plane = Callable[[float, np.ndarray], np.ndarray]


def played(
    cells: Sequence[Cell], cost: Plane, seeds: int = 1, memory: str = "m"
) -> tuple[list[Run], dict[int, np.ndarray]]:
    runs = [
        Run(0, memory, "s", "model", None, False, Group("synthetic", turns, size), float(size), turns, turns)
        for turns, size in cells
        for _ in range(seeds)
    ]
    numbered = [
        Run(place, run.memory, run.setting, run.model, None, False, run.group, run.message_tokens, run.turns, run.turns)
        for place, run in enumerate(runs, 1)
    ]
    costs = {run.unit: cost(run.message_tokens, np.arange(1.0, run.turns + 1)) for run in numbered}
    return numbered, costs


def fitted(cells: Sequence[Cell], cost: Plane, seeds: int = 1) -> CostModel:
    return cost_model(*played(cells, cost, seeds))


def plane(size: float, turns: np.ndarray) -> np.ndarray:
    return np.exp(2.0) * (size + 1) ** 0.5 * (turns + 1) ** 0.3 - 1


def test_a_cost_that_follows_the_model_gives_its_exponents_back_and_no_held_out_error() -> None:
    found = fitted(CELLS, plane, seeds=2)
    assert found.fit is not None
    assert (found.fit.a, found.fit.p.value, found.fit.q.value) == pytest.approx((2.0, 0.5, 0.3))
    assert found.fit.r2 == pytest.approx(1.0)
    assert found.loocv_mape == pytest.approx(0.0, abs=1e-9)
    assert [cell.cell for cell in found.held_out] == ["15 × 50", "15 × 200", "100 × 100", "400 × 50", "400 × 200"]
    assert found.fit.predict(100.0, np.array([7.0])) == pytest.approx(plane(100.0, np.array([7.0])))


def test_full_history_is_cumulative_content_and_a_window_is_flat_in_depth() -> None:
    # On the paper's eight cells, with an answer prompt of 90 tokens; its ranges are 0.95-0.97 and 0.85-0.92,
    # 0.10-0.12 (table 1).
    full = fitted(EIGHT, lambda size, turns: size * turns + 90)
    window = fitted(EIGHT, lambda size, turns: size * np.minimum(turns, 10) + 90)
    assert full.fit is not None
    assert window.fit is not None
    assert 0.93 <= full.fit.p.value <= 0.99
    assert 0.93 <= full.fit.q.value <= 0.99
    assert full.fit.r2 >= 0.99
    assert 0.83 <= window.fit.p.value <= 0.94
    assert 0.08 <= window.fit.q.value <= 0.14


def test_a_held_out_cell_is_judged_by_its_mean_cost_per_turn() -> None:
    # Three cells on a plane and one that costs twice as much as the plane says: leaving it out predicts half.
    odd = (10, 80)
    cells = ((10, 40), (20, 40), (20, 160), odd)
    found = fitted(cells, lambda size, turns: plane(size, turns) * (2 if (len(turns), size) == odd else 1))
    (judged,) = [cell for cell in found.held_out if cell.cell == "10 × 80"]
    expected = plane(80.0, np.arange(1.0, 11)).mean()
    assert (judged.actual, judged.predicted, judged.ape) == pytest.approx((2 * expected, expected, 0.5))
    assert found.max_ape == max(cell.ape for cell in found.held_out)
    assert found.loocv_mape == pytest.approx(np.mean([cell.ape for cell in found.held_out]))


def test_intervals_hold_the_estimate_and_the_bootstrap_is_repeatable() -> None:
    def noisy(size: float, turns: np.ndarray) -> np.ndarray:
        rng = np.random.default_rng(int(size * 1000 + len(turns)))
        return plane(size, turns) * rng.lognormal(0, 0.2, len(turns))

    found, again = fitted(CELLS, noisy, seeds=3), fitted(CELLS, noisy, seeds=3)
    assert found == again
    assert found.fit is not None
    for exponent in (found.fit.p, found.fit.q):
        for interval in (exponent.interval, exponent.bootstrap):
            assert interval is not None
            assert interval[0] <= exponent.value <= interval[1]
    assert found.fit.resamples > 990


def test_fewer_than_three_cells_give_a_fit_but_no_held_out_error() -> None:
    found = fitted(CELLS[1:3], plane)
    assert found.fit is not None
    assert found.loocv_mape is None
    assert "no held-out error: it needs at least 3 cells, the ledger has 2" in found.notes


def test_one_message_size_gives_no_fit_and_says_what_to_add() -> None:
    found = fitted(((10, 50), (20, 50), (40, 50)), plane)
    assert found.fit is None
    assert any("add cells of another L" in note for note in found.notes)


def test_a_single_run_has_exponents_of_nothing() -> None:
    found = fitted(((30, 50),), plane)
    assert found.fit is None


def test_turns_that_cost_nothing_enter_as_zero_and_are_counted() -> None:
    found = fitted(CELLS, lambda size, turns: np.where(turns == 3, 0.0, plane(size, turns)))
    assert found.zero_turns == 5
    assert any(note.startswith("5 of 930 turns cost nothing and enter as log(0 + 1)") for note in found.notes)


def test_a_cell_that_cost_nothing_at_all_is_not_held_out() -> None:
    found = fitted(CELLS, lambda size, turns: np.zeros_like(turns) if len(turns) == 100 else plane(size, turns))
    assert len(found.held_out) == 4
    assert any(note.startswith("cell 100 × 100 not held out: it cost nothing") for note in found.notes)


def test_turns_of_unknown_cost_are_left_out_and_counted() -> None:
    found = fitted(CELLS, lambda size, turns: np.where(turns == 2, np.nan, plane(size, turns)))
    assert (found.turns, found.unknown_turns) == (925, 5)
    assert found.fit is not None
    assert found.fit.p.value == pytest.approx(0.5)


def test_every_memory_and_setting_is_fitted_apart() -> None:
    first, costs = played(CELLS, plane, memory="a")
    models = cost_models(first, costs)
    assert [(entry.memory, entry.setting, entry.runs, entry.cells) for entry in models] == [("a", "s", 5, 5)]
