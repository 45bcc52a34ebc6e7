"""95 % intervals: Wilson's for a share, a bootstrap over conversations for any mean.

Questions about one conversation are not independent, so whole conversations are drawn, not questions. A handful of
conversations is too few to draw from: the interval would span no more than their means. Then the questions of each
drawn conversation are drawn as well, and with a single conversation nothing else; the method says which it was.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
ENOUGH = 5  # conversations from which on drawing them is enough
_Z = 1.959963984540054  # the normal's 97.5 % point


Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``n`` questions with its 95 % interval, and how that was drawn."""

    value: float
    low: float
    high: float
    n: int
    method: str


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    scale = 1 + _Z**2 / n
    middle = (share + _Z**2 / (2 * n)) / scale
    half = _Z / scale * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def share(outcomes: Sequence[float]) -> Estimate | None:
    """The mean of zeros and ones with Wilson's interval; None where there are none."""
    if not outcomes:
        return None
    successes = round(sum(outcomes))
    return Estimate(successes / len(outcomes), *wilson(successes, len(outcomes)), len(outcomes), "Wilson 95 %")


def cluster_mean(values: Sequence[float], clusters: Sequence[Hashable], seed: int = 0) -> Estimate | None:
    """The mean of ``values`` with a percentile bootstrap over whole ``clusters`` (one label per value).

    A cluster weighs as many questions as it has. Below ENOUGH clusters their questions are drawn as well. Give
    differences of pairs to compare two memories. None where there are no values.
    """
    if not len(values):
        return None
    labels = {label: place for place, label in enumerate(dict.fromkeys(clusters))}
    places = np.fromiter((labels[label] for label in clusters), np.intp, len(values))
    numbers = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(seed)
    if len(labels) >= ENOUGH:
        means = _drawn_clusters(numbers, places, random)
        method = f"cluster bootstrap 95 % over {len(labels)} conversations"
    else:
        means = _drawn_twice([numbers[places == place] for place in range(len(labels))], random)
        method = f"bootstrap 95 % over {len(labels)} conversations and their questions"
        if len(labels) == 1:
            method = "bootstrap 95 % over the questions of one conversation"
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(numbers.mean()), float(low), float(high), len(numbers), method)


def _drawn_clusters(values: Numbers, places: NDArray[np.intp], random: np.random.Generator) -> Numbers:
    """Means of RESAMPLES draws of whole clusters."""
    sums = np.bincount(places, values)
    sizes = np.bincount(places).astype(np.float64)
    # How often each cluster is drawn in each resample: one multinomial per row.
    drawn = random.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), RESAMPLES)
    means: Numbers = drawn @ sums / (drawn @ sizes)
    return means


def _drawn_twice(clusters: Sequence[Numbers], random: np.random.Generator) -> Numbers:
    """Means of RESAMPLES draws of clusters, and of values within each drawn one."""
    total, size = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for _ in clusters:
        drawn = random.integers(0, len(clusters), RESAMPLES)
        for place, values in enumerate(clusters):
            here = np.flatnonzero(drawn == place)
            total[here] += values[random.integers(0, len(values), (len(here), len(values)))].sum(axis=1)
            size[here] += len(values)
    return total / size
