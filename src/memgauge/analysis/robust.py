"""Small-sample intervals for a regression on few clusters: CR2 with Bell and McCaffrey's degrees of freedom.

The percentile bootstrap over whole runs is too narrow where the runs are few or unequal: on the paper's grids
a nominal 95 % covers 90 to 94 % (``bench/analysis.py --coverage``). Bell and McCaffrey (2002) inflate each
run's residuals by (I − H)^(-1/2), H being its part of the hat matrix, and read the t distribution at the
degrees of freedom that the design leaves. Both need only the runs' sums, never their rows.
"""

from dataclasses import dataclass

import numpy as np

from memgauge.analysis.moments import Array, Moments

_FULL = 1e-9  # a run whose leverage is this close to 1 fixes a coefficient by itself and says nothing of its error

_BEYOND = 30.0  # with more degrees of freedom than this, less than 1e-20 of t lies beyond the same value


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard errors and degrees of freedom of the coefficients beside the constant, in order."""

    errors: tuple[float, ...]
    freedom: tuple[float, ...]

    def interval(self, place: int, value: float) -> tuple[float, float]:
        """95 % about ``value``, the coefficient at ``place``."""
        half = t_quantile(self.freedom[place]) * self.errors[place]
        return value - half, value + half


def spread(moments: Moments, slopes: Array) -> Spread | None:
    """The spread of a fit of all runs, ``slopes`` of the centred predictors; None with fewer than two
    runs."""
    if len(moments.n) < 2 or not np.isfinite(slopes).all():
        return None
    xx = moments.xx
    bread = np.linalg.inv(xx.sum(axis=0))
    root = _root(bread)
    # (I − H)^(-1/2) = I + X·half·Xᵀ and (I − H)^(-1) = I + X·whole·Xᵀ for a run with rows X.
    leverage, axes = np.linalg.eigh(root @ xx @ root)
    half = _power(leverage, axes, root, -0.5)
    whole = _power(leverage, axes, root, -1.0)
    residual = moments.xy - xx @ slopes
    inflated = residual + np.einsum("gij,gjk,gk->gi", xx, half, residual)
    variance = bread @ (inflated.T @ inflated) @ bread
    once = xx + xx @ half @ xx
    twice = xx + xx @ whole @ xx
    places = range(1, len(slopes))
    return Spread(
        tuple(float(np.sqrt(variance[k, k])) for k in places),
        tuple(_freedom(bread[:, k], bread, once, twice) for k in places),
    )


def t_quantile(freedom: float, share: float = 0.95) -> float:
    """The t below which ``share`` of |T| lies, for any degrees of freedom, also broken ones.

    With t = √ν·tan θ the density becomes cos^(ν−1) θ, which a fine grid integrates well beyond what is
    printed.
    """
    freedom = max(freedom, 1.0)
    furthest = np.arctan(_BEYOND / np.sqrt(freedom)) if freedom > _BEYOND else np.pi / 2
    angles = np.linspace(0, furthest, 20001)
    density = np.cos(angles) ** (freedom - 1)
    mass = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    return float(np.sqrt(freedom) * np.tan(np.interp(share, mass / mass[-1], angles)))


def _root(matrix: Array) -> Array:
    values, axes = np.linalg.eigh(matrix)
    return np.asarray((axes * np.sqrt(values)) @ axes.T)


def _power(leverage: Array, axes: Array, root: Array, exponent: float) -> Array:
    kept = np.clip(1 - leverage, 0, 1)
    used = (leverage > _FULL) & (kept > _FULL)
    safe = np.where(used, leverage, 1.0)
    scale = np.where(used, (np.where(used, kept, 1.0) ** exponent - 1) / safe, 0.0)
    return np.asarray(root @ (axes * scale[:, None, :]) @ axes.transpose(0, 2, 1) @ root)


def _freedom(column: Array, bread: Array, once: Array, twice: Array) -> float:
    """Satterthwaite: 2·mean²/variance of the variance estimate, were all rows independent and alike."""
    seen = once @ column
    products = np.diag(np.einsum("i,gij,j->g", column, twice, column)) - seen @ bread @ seen.T
    return float(np.trace(products) ** 2 / np.sum(products**2))
