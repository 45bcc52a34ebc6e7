"""Which few dialogues stand best for all: the subset nearest to the whole in what is asked (paper 1, appendix B).

Every subset of a size is scored by the Jensen–Shannon divergence, in nats, between its questions and those of the
whole on three axes: category, number of evidence turns, and number of sessions that the evidence spans. The
lowest total wins. The paper does not say how it binned; with one or several turns, and one or several sessions,
four of LoCoMo's ten dialogues come out with the divergences it states.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import comb, log

import numpy as np
import numpy.typing as npt

from memgauge.conversation import Conversation
from memgauge.errors import UserError

ONE_OR_SEVERAL = (1, 2)

_MOST_SUBSETS = 20_000_000
_AT_ONCE = 1 << 16

_Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Facets:
    """What a question is counted by: its category, its evidence turns, and the sessions that these span."""

    category: str | None
    evidence: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Subset:
    """The dialogues chosen, in the order of the whole, and their divergence from it on each axis, in nats."""

    items: tuple[str, ...]
    category: float
    evidence: float
    span: float

    @property
    def total(self) -> float:
        """The sum over the axes, by which subsets are ranked."""
        return self.category + self.evidence + self.span


def facets(conversation: Conversation) -> tuple[Facets, ...]:
    """The facets of every question of ``conversation``."""
    session = {turn.id: turn.session for turn in conversation.turns}
    return tuple(
        Facets(question.category, len(question.evidence), len({session[turn_id] for turn_id in question.evidence}))
        for question in conversation.questions
    )


def nearest(
    of_item: Mapping[str, Sequence[Facets]],
    size: int,
    evidence_bins: Sequence[int] = ONE_OR_SEVERAL,
    span_bins: Sequence[int] = ONE_OR_SEVERAL,
) -> Subset:
    """The subset of ``size`` items that is nearest to all of ``of_item``; of equals, the first.

    Bins are given by their lowest number, in rising order; what lies below the first, such as a question without
    evidence, is not counted on that axis. Raises UserError for a size or bins that make no sense.
    """
    items = tuple(of_item)
    if not 1 <= size <= len(items):
        raise UserError(f"a subset of {size} out of {len(items)} dialogues; expected 1 to {len(items)}")
    if comb(len(items), size) > _MOST_SUBSETS:
        raise UserError(f"{len(items)} dialogues have {comb(len(items), size):,} subsets of {size}: too many to score")
    for bins in (evidence_bins, span_bins):
        if not bins or list(bins) != sorted(set(bins)):
            raise UserError(f"bins {list(bins)}: expected rising lowest numbers, such as [1, 2]")
    categories = sorted({facet.category or "" for each in of_item.values() for facet in each})
    axes = (
        _counted(of_item, len(categories), lambda facet: categories.index(facet.category or "")),
        _counted(of_item, len(evidence_bins), lambda facet: _bin(facet.evidence, evidence_bins)),
        _counted(of_item, len(span_bins), lambda facet: _bin(facet.sessions, span_bins)),
    )
    best: tuple[float, tuple[int, ...], list[float]] | None = None
    for chosen in _batches(len(items), size):
        scores = np.stack([_divergence(axis[chosen].sum(axis=1), axis.sum(axis=0)) for axis in axes])
        totals = scores.sum(axis=0)
        lowest = int(totals.argmin())
        if best is None or totals[lowest] < best[0]:
            best = float(totals[lowest]), tuple(chosen[lowest].tolist()), scores[:, lowest].tolist()
    assert best is not None  # size is at least 1, so there is a subset
    return Subset(tuple(items[index] for index in best[1]), *best[2])


def _counted(of_item: Mapping[str, Sequence[Facets]], bins: int, place: Callable[[Facets], int]) -> _Counts:
    """Questions per item and bin; ``place`` is -1 for a question that is not counted."""
    counts = np.zeros((len(of_item), bins + 1))
    for row, each in enumerate(of_item.values()):
        for facet in each:
            counts[row, place(facet)] += 1
    return counts[:, :bins]


def _bin(number: int, bins: Sequence[int]) -> int:
    return bisect_right(bins, number) - 1


def _batches(items: int, size: int) -> Iterator[npt.NDArray[np.intp]]:
    every = combinations(range(items), size)
    while batch := list(islice(every, _AT_ONCE)):
        yield np.fromiter(chain.from_iterable(batch), dtype=np.intp, count=len(batch) * size).reshape(-1, size)


def _divergence(some: _Counts, whole: _Counts) -> _Counts:
    """Jensen–Shannon divergence of each row of ``some`` from ``whole``; ln 2, the greatest, where a row is empty."""
    rows = some.sum(axis=1, keepdims=True)
    p = some / np.maximum(rows, 1)
    q = np.broadcast_to(whole / max(whole.sum(), 1), p.shape)
    middle = (p + q) / 2
    result: _Counts = (_relative(p, middle) + _relative(q, middle)) / 2
    return np.where(rows[:, 0] > 0, result, log(2) if whole.sum() else 0.0)


def _relative(p: _Counts, q: _Counts) -> _Counts:
    """Kullback–Leibler divergence of each row; a bin that is empty in ``p`` adds nothing."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    result: _Counts = (p * np.log(ratio)).sum(axis=1)
    return result
