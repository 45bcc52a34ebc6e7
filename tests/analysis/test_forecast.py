"""Break-even by the fitted models, on fits whose costs are plain to see."""

from math import log

import pytest

from memgauge.analysis.cost_model import Exponent, Fit
from memgauge.analysis.forecast import crossings, forecasts


def fit(a: float, p: float, q: float) -> Fit:
    return Fit(a, Exponent(p, None, None), Exponent(q, None, None), 1.0, None, None, 0)


# C + 1 = (L + 1)·(t + 1): with L = 99, C = 100·(t + 1) − 1 and cumulative 50·n·(n + 3) − n.
FULL = fit(0.0, 1.0, 1.0)
# C = 1,000 whatever L and t.
FLAT = fit(log(1001), 0.0, 0.0)


def test_a_flat_cost_pays_from_the_turn_at_which_the_sums_say() -> None:
    # 1,000·n < 50·n·(n + 3) − n ⇔ 1,001 < 50·(n + 3) ⇔ n > 17.02.
    short, at, long = forecasts(FLAT, FULL, (17, 18, 400), (99.0,))
    assert (short.turn, at.turn, long.turn) == (None, 18, 18)
    assert short.ratio == pytest.approx(1000 * 17 / (50 * 17 * 20 - 17))
    assert long.ratio == pytest.approx(1000 * 400 / (50 * 400 * 403 - 400))


def test_forecasts_come_size_by_size() -> None:
    found = forecasts(FLAT, FULL, (10, 20), (9.0, 99.0))
    assert [(entry.turns, entry.tokens) for entry in found] == [(10, 9.0), (20, 9.0), (10, 99.0), (20, 99.0)]


def test_what_is_cheaper_from_the_first_turn_pays_from_the_start() -> None:
    assert [entry.turn for entry in forecasts(fit(0.0, 0.9, 0.9), FULL, (5, 50), (99.0,))] == [0, 0]


def test_the_lines_cross_where_the_sums_are_equal() -> None:
    (turn,) = crossings(FLAT, FULL, 400, 99.0)
    assert turn == pytest.approx(17.02, abs=0.01)
    assert crossings(FLAT, FULL, 10, 99.0) == ()


def test_a_memory_whose_cost_grows_faster_stops_paying() -> None:
    # Half of full history's first turn and a steeper rise: cheaper early, dearer later.
    steep = fit(-0.7, 1.0, 1.4)
    early, late = forecasts(steep, FULL, (3, 400), (99.0,))
    assert (early.turn, late.turn) == (0, None)
    assert len(crossings(steep, FULL, 400, 99.0)) == 1


def test_a_cost_that_a_fit_puts_below_zero_counts_as_nothing() -> None:
    (found,) = forecasts(fit(-9.0, 0.0, 0.0), FULL, (3,), (99.0,))
    assert (found.turn, found.ratio) == (0, 0.0)
