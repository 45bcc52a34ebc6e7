"""Cluster bootstrap: whole runs are drawn with replacement, as turns of one run are not independent (paper 1
§3.3)."""

import numpy as np

from memgauge.analysis.moments import Array, Fits, Moments

RESAMPLES = 1000  # the paper's B


def draws(runs: int, resamples: int = RESAMPLES, seed: int = 0) -> Array:
    """How often each run is taken in each resample: shape (resamples, runs), whole numbers, rows sum to
    runs."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(runs, np.full(runs, 1 / runs), resamples).astype(np.float64)


def resample(moments: Moments, resamples: int = RESAMPLES, seed: int = 0) -> Fits:
    """The fit of every resample."""
    return moments.fit(draws(len(moments.n), resamples, seed))


def percentile_interval(values: Array) -> tuple[float, float] | None:
    """The middle 95 % of ``values``, NaN left out; None where fewer than half are known."""
    known = values[np.isfinite(values)]
    if len(known) * 2 < len(values) or not len(known):
        return None
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)
