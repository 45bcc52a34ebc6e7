"""Was the evidence recalled? Recall@k (P6) and NDCG@k (P7) of the turns that hold the answer.

A memory recalls a ranking of items, best first, each with the ids of the turns that it came from. A question
without gold evidence, and an answer without a recorded ranking, is not scored (None).
"""

from collections.abc import Sequence
from math import log2


def recall(evidence: Sequence[str], recalled: Sequence[Sequence[str]], k: int | None = None) -> float | None:
    """Share of the evidence turns among the first ``k`` items, or among all that was recalled (0 to 1)."""
    wanted = set(evidence)
    if not wanted:
        return None
    found = {turn for item in recalled[:k] for turn in item}
    return len(wanted & found) / len(wanted)


def ndcg(evidence: Sequence[str], recalled: Sequence[Sequence[str]], k: int) -> float | None:
    """Discounted gain of the first ``k`` items over the best possible ranking's (0 to 1).

    An item gains 1 for each evidence turn that no earlier item brought. The best possible ranking brings one
    evidence turn per item; an item that brings several can beat it, so the ratio is capped at 1. P7 is not
    spelled out in its source: this is our reading.
    """
    missing = set(evidence)
    if not missing:
        return None
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(k, len(missing)) + 1))
    gain = 0.0
    for rank, item in enumerate(recalled[:k], 1):
        brought = missing.intersection(item)
        gain += len(brought) / log2(rank + 1)
        missing -= brought
    return min(1.0, gain / ideal)
