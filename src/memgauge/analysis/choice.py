"""Which memory is the cheapest that still knows?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.analysis.intervals import Estimate, cluster_mean
from memgauge.analysis.memory_rows import MemoryRow

# A memory still knows where its accuracy reaches this share of the best one's.
STILL_KNOWS = 0.9

# Accuracy by what was asked: (conversation, seed, question). The first part is the cluster.
Known = Mapping[tuple[str, int, str], float]


@dataclass(frozen=True, slots=True)
class Choice:
    """The cheapest ranked memory whose accuracy reaches STILL_KNOWS of the best ranked one's.

    ``cost_ratio`` is its cost over the best one's, None where that is 0. ``rival`` is the best or, where it is the
    best itself, the next best; ``difference`` its accuracy less the rival's over the questions that both answered,
    with a paired bootstrap. Both are None where nothing else is ranked.
    """

    memory: str
    best: str
    accuracy: float
    best_accuracy: float
    cost: float
    cost_ratio: float | None
    rival: str | None
    difference: Estimate | None

    @property
    def certain(self) -> bool:
        """Whether the questions suffice to tell the two apart from a difference of nothing."""
        return self.difference is None or self.difference.high < 0 or self.difference.low > 0


def choose(rows: Sequence[MemoryRow], known: Mapping[str, Known]) -> Choice | None:
    """Chooses among ``rows``; ``known`` holds accuracy by memory. None where nothing is ranked or known."""
    ranked = [
        (row.memory, row.accuracy.value, row.cost)
        for row in rows
        if row.unranked is None and row.accuracy is not None and row.cost is not None
    ]
    best, most, best_cost = max(ranked, key=lambda row: (row[1], -row[2]), default=("", 0.0, 0.0))
    if not most:
        return None
    able = [row for row in ranked if row[1] >= STILL_KNOWS * most - 1e-9]
    memory, accuracy, cost = min(able, key=lambda row: (row[2], -row[1]))
    ratio = cost / best_cost if best_cost else None
    others = [row for row in ranked if row[0] != memory]
    rival = max(others, key=lambda row: row[1])[0] if others else None
    difference = None if rival is None else paired_difference(known[memory], known[rival])
    return Choice(memory, best, accuracy, most, cost, ratio, rival, difference)


def paired_difference(one: Known, other: Known) -> Estimate | None:
    """Mean of ``one`` less ``other`` over what both were asked, bootstrapped over conversations."""
    shared = [asked for asked in one if asked in other]
    return cluster_mean([one[asked] - other[asked] for asked in shared], [asked[0] for asked in shared])
