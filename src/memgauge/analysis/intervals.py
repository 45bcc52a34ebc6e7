"""95 % intervals: Wilson's for a share, a bootstrap over conversations for any mean.

Questions about one conversation are not independent, so whole conversations are drawn, not questions. A handful of
conversations is too few to draw from: the interval would span no more than their means. Then the questions of each
drawn conversation are drawn as well, and with a single conversation nothing else; the method says which it was.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
ENOUGH = 5  # conversations from which on drawing them is enough
_Z = 1.959963984540054  # the normal's 97.5 % point
_ROWS = 1024  # resamples whose drawn questions are held at a time


Numbers = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``n`` questions with its 95 % interval, and how that was drawn.

    ``wilson`` is Wilson's interval beside the bootstrap's, where the mean is a share and both were asked for.
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    wilson: tuple[float, float] | None = None


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
    numbers = np.asarray(values, dtype=np.float64)
    drawn = Resamples(clusters, seed=seed)
    return estimate(numbers, drawn.means(numbers[:, None])[:, 0], drawn.method)


def estimate(values: Numbers, means: Numbers, method: str, *, binary: bool = False) -> Estimate | None:
    """The mean of ``values`` (NaN: missing) with the middle 95 % of the ``means`` that resampling gave.

    None where no value is known.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.nanquantile(means, (0.025, 0.975))
    found = Estimate(float(known.mean()), float(low), float(high), len(known), method)
    return replace(found, wilson=wilson(round(float(known.sum())), len(known))) if binary else found


class Resamples:
    """Draws of conversations, or of their questions too where there are few; made once for any number of figures.

    Every figure is computed on the same draws, so figures of the same questions can be subtracted draw by draw.
    """

    def __init__(self, clusters: Sequence[Hashable], resamples: int = RESAMPLES, seed: int = 0) -> None:
        """``clusters`` names the conversation of each question."""
        labels = {label: place for place, label in enumerate(dict.fromkeys(clusters))}
        self._places = np.fromiter((labels[label] for label in clusters), np.intp, len(clusters))
        self._resamples, self._seed, self._count = resamples, seed, len(labels)

    @property
    def method(self) -> str:
        """How the interval of a mean is drawn, in words."""
        if self._count >= ENOUGH:
            return f"cluster bootstrap 95 % over {self._count} conversations"
        if self._count > 1:
            return f"bootstrap 95 % over {self._count} conversations and their questions"
        return "bootstrap 95 % over the questions of one conversation"

    def means(self, values: Numbers) -> Numbers:
        """The mean of every column in every resample: shape (resamples, columns).

        ``values`` has one row per question; NaN is missing and takes no part. A mean of nothing is NaN.
        """
        known = ~np.isnan(values)
        parts = np.hstack((np.where(known, values, 0.0), known.astype(np.float64)))
        sums = self._of_clusters(parts) if self._count >= ENOUGH else self._of_questions(parts)
        totals, sizes = np.hsplit(sums, 2)
        return np.asarray(np.divide(totals, sizes, out=np.full(totals.shape, np.nan), where=sizes > 0))

    def _of_clusters(self, parts: Numbers) -> Numbers:
        sums = np.zeros((self._count, parts.shape[1]))
        np.add.at(sums, self._places, parts)
        return np.asarray(_multiples(self._count, self._resamples, self._seed) @ sums)

    def _of_questions(self, parts: Numbers) -> Numbers:
        random = np.random.default_rng(self._seed)
        sums = np.zeros((self._resamples, parts.shape[1]))
        members = [parts[self._places == place] for place in range(self._count)]
        for _ in members:
            drawn = random.integers(0, self._count, self._resamples)
            for place, questions in enumerate(members):
                here = np.flatnonzero(drawn == place)
                for rows, multiples in _drawn_questions(here, len(questions), random):
                    sums[rows] += multiples @ questions
        return sums


@lru_cache(maxsize=4)
def _multiples(count: int, resamples: int, seed: int) -> Numbers:
    """How often each of ``count`` clusters is drawn in each resample: one multinomial per row."""
    random = np.random.default_rng(seed)
    return random.multinomial(count, np.full(count, 1 / count), resamples).astype(np.float64)


def _drawn_questions(resamples: Places, size: int, random: np.random.Generator) -> Iterator[tuple[Places, Numbers]]:
    """How often each of ``size`` questions is drawn in these resamples, some resamples at a time."""
    for start in range(0, len(resamples), _ROWS):
        rows = resamples[start : start + _ROWS]
        drawn = random.integers(0, size, (len(rows), size)) + np.arange(len(rows))[:, None] * size
        yield rows, np.bincount(drawn.ravel(), minlength=len(rows) * size).reshape(len(rows), size).astype(np.float64)
