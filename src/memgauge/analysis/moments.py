"""Least squares from sums: what a run contributes to a regression, and fits of any selection of runs.

A run's rows enter an ordinary least-squares fit only through XᵀX, Xᵀy, yᵀy, Σy and n. Any resample of runs,
and any fit that leaves some out, is then a weighted sum of these, whatever the number of turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Below this share of what two unrelated predictors would span, they cannot be told apart.
_COLLINEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over the rows of each run, of k predictors (the first is the constant 1) and the response.

    Shapes: ``xx`` (runs, k, k), ``xy`` (runs, k), ``yy``, ``y`` and ``n`` (runs,). Predictors and response
    are taken about ``centre`` (k,) and ``height``, the means over all rows, so that nothing cancels.
    """

    xx: Array
    xy: Array
    yy: Array
    y: Array
    n: Array
    centre: Array
    height: float

    @classmethod
    def of(cls, predictors: Array, response: Array, lengths: Sequence[int]) -> "Moments":
        """``predictors`` (rows, k) without the constant, rows of run after run; ``lengths`` rows per run, >
        0."""
        centre = np.concatenate(([0.0], predictors.mean(axis=0)))
        height = float(response.mean())
        x = np.column_stack((np.ones(len(response)), predictors - centre[1:]))
        y = response - height
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        k = x.shape[1]
        products = (x[:, :, None] * x[:, None, :]).reshape(len(x), k * k)
        return cls(
            np.add.reduceat(products, starts).reshape(-1, k, k),
            np.add.reduceat(x * y[:, None], starts),
            np.add.reduceat(y * y, starts),
            np.add.reduceat(y, starts),
            np.asarray(lengths, dtype=np.float64),
            centre,
            height,
        )

    def fit(self, weights: Array) -> "Fits":
        """One least-squares fit per row of ``weights`` (fits, runs): how often each run is taken."""
        fits, k = len(weights), self.xy.shape[1]
        xx = np.tensordot(weights, self.xx, axes=1)
        xy, yy, y, n = weights @ self.xy, weights @ self.yy, weights @ self.y, weights @ self.n
        solvable = _independent(xx)
        slopes = np.full((fits, k), np.nan)
        if solvable.any():
            slopes[solvable] = np.linalg.solve(xx[solvable], xy[solvable][..., None])[..., 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            unexplained = yy - np.einsum("fk,fk->f", slopes, xy)
            spread = yy - y**2 / n
            r2 = np.where(spread > 0, 1 - unexplained / spread, np.nan)
        coefficients = slopes.copy()
        coefficients[:, 0] += self.height - slopes[:, 1:] @ self.centre[1:]
        return Fits(coefficients, slopes, r2, solvable)


@dataclass(frozen=True, slots=True)
class Fits:
    """Least-squares fits; NaN where the selected runs cannot tell the predictors apart (``solvable`` is
    false).

    ``coefficients`` (fits, k) are of the predictors as given, ``slopes`` of the centred ones.
    """

    coefficients: Array
    slopes: Array
    r2: Array
    solvable: NDArray[np.bool_]


def _independent(xx: Array) -> NDArray[np.bool_]:
    """Whether the predictors beside the constant vary, and not in step."""
    n = xx[:, 0, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        within = xx[:, 1:, 1:] - xx[:, 1:, :1] * xx[:, :1, 1:] / n[:, None, None]
        own = np.diagonal(within, axis1=1, axis2=2)
        varied = (own > _COLLINEAR * n[:, None]).all(axis=1)
        spanned = np.linalg.det(np.where(np.isfinite(within), within, 0.0)) / own.prod(axis=1)
    return np.asarray((n > 0) & varied & (spanned > _COLLINEAR))
