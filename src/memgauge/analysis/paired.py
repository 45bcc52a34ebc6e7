"""Statistics of pairs: the same questions, or conversations, on two sides; every change is B less A."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.analysis.intervals import ENOUGH, Numbers, Resamples

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Change:
    """A change and its 95 % interval; the interval is None where there is too little to draw from."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Paired:
    """A figure on both sides over the ``n`` pairs that have it on both.

    ``relative`` is the change as a share of A, None where A is 0. ``p_value`` is the bootstrap's, two-sided: how
    rarely a resample falls on the other side of no change, counted twice. ``method`` says how it was drawn.
    Where there is too little to draw from, there are no intervals, and ``p_value`` is None.
    """

    n: int
    a: float
    b: float
    change: Change
    relative: Change | None
    p_value: float | None
    method: str


def paired_means(
    a: Numbers, b: Numbers, clusters: Sequence[Hashable], resamples: int = RESAMPLES, seed: int = 0
) -> list[Paired | None]:
    """Compares the mean of every column of ``a`` with that of ``b``: shape (pairs, figures), NaN where a side lacks it.

    All figures are drawn together. None for a figure that no pair has on both sides.
    """
    both = ~(np.isnan(a) | np.isnan(b))
    drawn = Resamples(clusters, resamples, seed)
    left, right = np.hsplit(drawn.means(np.where(np.hstack((both, both)), np.hstack((a, b)), np.nan)), 2)
    found: list[Paired | None] = []
    for column in range(a.shape[1]):
        here = both[:, column]
        means = a[here, column], b[here, column]
        if not here.any():
            found.append(None)
            continue
        mean_a, mean_b = (float(mean.mean()) for mean in means)
        found.append(_paired(int(here.sum()), mean_a, mean_b, left[:, column], right[:, column], drawn.method))
    return found


def paired_ratio(
    a: Numbers, b: Numbers, clusters: Sequence[Hashable], resamples: int = RESAMPLES, seed: int = 0
) -> Paired | None:
    """Compares sum over sum: ``a`` and ``b`` hold a total and a count for each pair, shape (pairs, 2).

    NaN where a side lacks it; None where no pair has both, or counts nothing. Below ENOUGH clusters no interval.
    """
    here = np.flatnonzero(~np.isnan(np.hstack((a, b))).any(axis=1))
    a, b = a[here], b[here]
    if not len(a) or not a[:, 1].sum() or not b[:, 1].sum():
        return None
    ratio_a, ratio_b = (float(side[:, 0].sum() / side[:, 1].sum()) for side in (a, b))
    names = [clusters[place] for place in here.tolist()]
    if len(set(names)) < ENOUGH:
        relative = Change(ratio_b / ratio_a - 1, None, None) if ratio_a else None
        change = Change(ratio_b - ratio_a, None, None)
        return Paired(len(a), ratio_a, ratio_b, change, relative, None, "too few conversations for an interval")
    drawn = Resamples(names, resamples, seed)
    means = drawn.means(np.hstack((a, b)))
    return _paired(len(a), ratio_a, ratio_b, means[:, 0] / means[:, 1], means[:, 2] / means[:, 3], drawn.method)


def mcnemar(better: int, worse: int) -> float:
    """Exact two-sided p-value of McNemar's test: pairs that changed for the better, and for the worse.

    Takes the pairs as independent of each other.
    """
    n, ways, tail = better + worse, 1, 0
    for k in range(min(better, worse) + 1):  # whole numbers all the way: n choose k, summed over the shorter tail
        tail += ways
        ways = ways * (n - k) // (k + 1)
    return min(1.0, 2 * tail / (1 << n))


def _paired(n: int, a: float, b: float, left: Numbers, right: Numbers, method: str) -> Paired:
    here = np.isfinite(left) & np.isfinite(right)  # a resample may hold no pair that has the figure
    left, right = left[here], right[here]
    change = right - left
    # The data as they are count as a resample, so that p is never 0.
    tail = min((change <= 0).sum(), (change >= 0).sum()) + 1
    relative = None
    if a:
        ratios = np.divide(right, left, out=np.full(len(left), np.nan), where=left != 0) - 1
        relative = _change(b / a - 1, ratios)
    return Paired(n, a, b, _change(b - a, change), relative, min(1.0, 2 * float(tail) / (len(change) + 1)), method)


def _change(value: float, draws: Numbers) -> Change:
    """With the middle 95 % of the draws, unless one of them is not a number."""
    if not len(draws) or np.isnan(draws).any():
        return Change(value, None, None)
    low, high = np.quantile(draws, (0.025, 0.975))
    return Change(value, float(low), float(high))
