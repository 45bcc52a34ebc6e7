"""Least squares from sums of runs is least squares over their rows."""

import numpy as np
import pytest

from memgauge.analysis.bootstrap import draws, percentile_interval
from memgauge.analysis.moments import Moments


def rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[int]]:
    rng = np.random.default_rng(seed)
    lengths = [7, 3, 12, 5, 9]
    x = np.column_stack((np.repeat(rng.normal(5, 1, 5), lengths), rng.normal(3, 2, sum(lengths))))
    return x, 4 + x @ [0.5, -0.2] + rng.normal(0, 0.3, len(x)), lengths


def least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    full = np.column_stack((np.ones(len(y)), x))
    found = np.linalg.lstsq(full, y, rcond=None)[0]
    r2 = 1 - ((y - full @ found) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    return np.array([*found, r2])


def test_a_resample_of_runs_gives_the_fit_of_its_rows() -> None:
    x, y, lengths = rows()
    weights = draws(5, resamples=50, seed=3)
    fits = Moments.of(x, y, lengths).fit(weights)
    parts = np.split(np.arange(len(y)), np.cumsum(lengths)[:-1])
    for place in np.flatnonzero(fits.solvable):
        taken = np.concatenate([parts[run] for run in np.repeat(np.arange(5), weights[place].astype(int))])
        got = [*fits.coefficients[place], fits.r2[place]]
        assert got == pytest.approx(least_squares(x[taken], y[taken]), abs=1e-9)
    assert fits.solvable.sum() > 40


def test_runs_of_one_size_only_cannot_be_told_apart_and_give_no_fit() -> None:
    x, y, lengths = rows()
    fits = Moments.of(x, y, lengths).fit(np.array([[1.0, 0, 0, 0, 0], [1, 1, 0, 0, 0]]))
    assert fits.solvable.tolist() == [False, True]
    assert np.isnan(fits.coefficients[0]).all()


def test_predictors_in_step_give_no_fit() -> None:
    line = np.arange(10.0)
    moments = Moments.of(np.column_stack((line, 2 * line)), line, [5, 5])
    assert not moments.fit(np.ones((1, 2))).solvable[0]


def test_every_resample_draws_as_many_runs_as_there_are() -> None:
    weights = draws(6, resamples=100, seed=1)
    assert weights.shape == (100, 6)
    assert (weights.sum(axis=1) == 6).all()
    assert (draws(6, resamples=100, seed=1) == weights).all()


def test_a_percentile_interval_leaves_out_what_is_unknown_unless_that_is_most() -> None:
    known = np.arange(0.0, 101.0)
    assert percentile_interval(np.append(known, np.nan)) == (2.5, 97.5)
    assert percentile_interval(np.full(10, np.nan)) is None
