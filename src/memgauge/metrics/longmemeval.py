"""LongMemEval's retrieval figures: recall-any, recall-all and NDCG of evidence sessions and evidence turns.

As its own scorer has them: an abstention question and one without evidence are left out, NDCG discounts by the
rank's own logarithm. A session's rank is that of its first turn recalled, and k counts distinct sessions, as
there. Ours where an item holds turns of several sessions: they stand in the order that the item names them.
"""

from collections.abc import Sequence

from memgauge.metrics import retrieval

CUTS = (5, 10)
LEVELS = ("session", "turn")
MEASURES = {"recall_any": retrieval.recall_any, "recall_all": retrieval.recall_all, "ndcg": retrieval.longmemeval_ndcg}
NAMES = tuple(f"{level}_{name}@{k}" for level in LEVELS for name in MEASURES for k in CUTS)


def retrieved(evidence: Sequence[str], ranking: retrieval.Ranking, unanswerable: bool) -> dict[str, float | None]:
    """Every figure by its name in NAMES, such as ``session_recall_any@5`` (0 to 1); None where it is left out."""
    if unanswerable or not evidence:
        return dict.fromkeys(NAMES)
    held = list(dict.fromkeys(map(retrieval.session_of, evidence)))
    sides = {"session": (held, retrieval.sessions(ranking)), "turn": (evidence, ranking)}
    return {
        f"{level}_{name}@{k}": measure(wanted, ranked, k)
        for level, (wanted, ranked) in sides.items()
        for name, measure in MEASURES.items()
        for k in CUTS
    }
