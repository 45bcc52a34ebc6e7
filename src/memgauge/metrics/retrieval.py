"""Was the evidence recalled? Recall@k (P6) and NDCG@k (P7) of the turns that hold the answer, and LongMemEval's.

A memory recalls a ranking of items, best first, each with the ids of the turns that it came from. A question
without gold evidence, and an answer without a recorded ranking, is not scored (None).
"""

from collections.abc import Callable, Sequence
from math import log2

Ranking = Sequence[Sequence[str]]


def recall(evidence: Sequence[str], recalled: Ranking, k: int | None = None) -> float | None:
    """Share of the evidence turns among the first ``k`` items, or among all that was recalled (0 to 1)."""
    wanted = set(evidence)
    if not wanted:
        return None
    return len(wanted & _found(recalled[:k])) / len(wanted)


def recall_any(evidence: Sequence[str], recalled: Ranking, k: int) -> float | None:
    """1 where the first ``k`` items hold at least one evidence turn, else 0 (LongMemEval)."""
    return float(not _found(recalled[:k]).isdisjoint(evidence)) if evidence else None


def recall_all(evidence: Sequence[str], recalled: Ranking, k: int) -> float | None:
    """1 where the first ``k`` items hold every evidence turn, else 0 (LongMemEval)."""
    return float(_found(recalled[:k]).issuperset(evidence)) if evidence else None


def ndcg(evidence: Sequence[str], recalled: Ranking, k: int) -> float | None:
    """Discounted gain of the first ``k`` items over the best possible ranking's (0 to 1).

    An item gains 1 for each evidence turn that no earlier item brought. The best possible ranking brings one
    evidence turn per item; an item that brings several can beat it, so the ratio is capped at 1. P7 is not
    spelled out in its source: this is our reading.
    """
    return _discounted(evidence, recalled, k, lambda rank: log2(rank + 1))


def longmemeval_ndcg(evidence: Sequence[str], recalled: Ranking, k: int) -> float | None:
    """The same as LongMemEval discounts: by the logarithm of the rank itself, so that ranks 1 and 2 count in full."""
    return _discounted(evidence, recalled, k, lambda rank: log2(max(rank, 2)))


def session_of(turn: str) -> str:
    """The session that a turn id names before its slash: ``s12`` of ``s12/t3``."""
    return turn.partition("/")[0]


def sessions(recalled: Ranking) -> list[list[str]]:
    """The ranking of sessions: each where a turn of it is first recalled, so that k counts sessions, not turns."""
    return [[name] for name in dict.fromkeys(session_of(turn) for item in recalled for turn in item)]


def _discounted(evidence: Sequence[str], recalled: Ranking, k: int, discount: Callable[[int], float]) -> float | None:
    missing = set(evidence)
    if not missing:
        return None
    ideal = sum(1 / discount(rank) for rank in range(1, min(k, len(missing)) + 1))
    gain = 0.0
    for rank, item in enumerate(recalled[:k], 1):
        brought = missing.intersection(item)
        gain += len(brought) / discount(rank)
        missing -= brought
    return min(1.0, gain / ideal)


def _found(recalled: Ranking) -> set[str]:
    return {turn for item in recalled for turn in item}
