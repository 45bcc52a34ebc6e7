"""The small-sample interval, against its definition over full matrices."""

import numpy as np
import pytest

from memgauge.analysis.moments import Moments
from memgauge.analysis.robust import spread, t_quantile


def power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, axes = np.linalg.eigh(matrix)
    return (axes * values**exponent) @ axes.T


def by_definition(x: np.ndarray, y: np.ndarray, lengths: list[int], place: int) -> tuple[float, float]:
    """CR2 standard error and Bell and McCaffrey's degrees of freedom, row by row."""
    full = np.column_stack((np.ones(len(y)), x))
    bread = np.linalg.inv(full.T @ full)
    hat = full @ bread @ full.T
    residual = y - hat @ y
    variance, vectors = np.zeros((3, 3)), []
    for rows in np.split(np.arange(len(y)), np.cumsum(lengths)[:-1]):
        keep = np.eye(len(rows)) - hat[np.ix_(rows, rows)]
        score = full[rows].T @ power(keep, -0.5) @ residual[rows]
        variance += np.outer(score, score)
        vectors.append((np.eye(len(y)) - hat)[:, rows] @ power(keep, -0.5) @ full[rows] @ bread[:, place])
    g = np.column_stack(vectors)
    omega = g.T @ g
    return float(np.sqrt((bread @ variance @ bread)[place, place])), float(
        np.trace(omega) ** 2 / np.trace(omega @ omega)
    )


def test_error_and_freedom_from_sums_are_those_over_all_rows() -> None:
    rng = np.random.default_rng(5)
    lengths = [4, 9, 6, 12, 5, 7]
    x = np.column_stack((np.repeat(rng.normal(5, 1, 6), lengths), rng.normal(3, 2, sum(lengths))))
    y = x @ [0.4, 0.1] + np.repeat(rng.normal(0, 0.3, 6), lengths) + rng.normal(0, 0.2, len(x))
    moments = Moments.of(x, y, lengths)
    found = spread(moments, moments.fit(np.ones((1, 6))).slopes[0])
    assert found is not None
    for place in (1, 2):
        error, freedom = by_definition(x, y, lengths, place)
        assert found.errors[place - 1] == pytest.approx(error, rel=1e-9)
        assert found.freedom[place - 1] == pytest.approx(freedom, rel=1e-9)


def test_a_single_run_has_no_spread() -> None:
    x = np.column_stack((np.arange(9.0), np.arange(9.0) ** 2))
    moments = Moments.of(x, x[:, 0], [9])
    assert spread(moments, moments.fit(np.ones((1, 1))).slopes[0]) is None


@pytest.mark.parametrize(("freedom", "tabled"), [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (1e6, 1.960)])
def test_t_is_that_of_the_tables(freedom: float, tabled: float) -> None:
    assert t_quantile(freedom) == pytest.approx(tabled, abs=5e-4)
