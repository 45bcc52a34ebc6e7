"""Scores every answer of a ledger: by the metrics that need no model, and by the verdicts that a judge has given."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.metrics import answers, locomo, longmemeval, memory_agent_bench, overlap, retrieval
from memgauge.metrics.judge import judged

Score = tuple[int, int, str, float | None]  # unit, ordinal of the answer, metric, value

_strings = msgspec.json.Decoder(list[str]).decode
_lists = msgspec.json.Decoder(list[list[str]]).decode


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of one answer. ``binary`` ones are 0 or 1; ``id`` is the papers' name, where they have one.

    ``workload`` is the only one whose answers it scores; None where it scores those of all.
    """

    name: str
    title: str
    id: str | None
    higher_is_better: bool = True
    binary: bool = False
    workload: str | None = None


LOCOMO, LONGMEMEVAL, MEMORY_AGENT_BENCH = "locomo", "longmemeval", "memoryagentbench"
JUDGE, TOKEN_F1 = "judge", "token_f1"

_WORDS = {"recall_any": "any evidence", "recall_all": "all evidence", "ndcg": "NDCG"}

METRICS = {
    metric.name: metric
    for metric in (
        Metric(JUDGE, "judge accuracy", "P4", binary=True),
        Metric("exact_match", "exact match", "P1", binary=True),
        Metric(TOKEN_F1, "token F1", "P2"),
        Metric("bleu1", "BLEU-1", "P3"),
        Metric("sub_em", "SubEM", "P12", binary=True),
        Metric("rouge_l", "ROUGE-L", None),
        Metric("locomo_f1", "LoCoMo F1", None, workload=LOCOMO),
        Metric("mab_official", "MemoryAgentBench, official", None, binary=True, workload=MEMORY_AGENT_BENCH),
        Metric("mab_corrected", "MemoryAgentBench, corrected", None, binary=True, workload=MEMORY_AGENT_BENCH),
        Metric("evidence_recall", "evidence recalled", None),
        Metric("evidence_recall@5", "evidence recall@5", "P6"),
        Metric("evidence_recall@10", "evidence recall@10", "P6"),
        Metric("evidence_ndcg@10", "evidence NDCG@10", "P7"),
        *(
            Metric(f"{level}_{name}@{k}", f"{level}s: {words}@{k}", None, binary=name != "ndcg", workload=LONGMEMEVAL)
            for level in longmemeval.LEVELS
            for name, words in _WORDS.items()
            for k in longmemeval.CUTS
        ),
    )
}  # fmt: skip

# By what each answer is told: the answer itself, its golds, whether it is unanswerable, its category.
_Answered = Callable[[str, Sequence[str], bool, str | None], float | None]
_Recalled = Callable[[Sequence[str], retrieval.Ranking], float | None]


def _plain(measure: Callable[[str, Sequence[str], bool], float | None]) -> _Answered:
    return lambda said, golds, unanswerable, category: measure(said, golds, unanswerable)


def _by_category(measure: Callable[[str, Sequence[str], str], float | None]) -> _Answered:
    return lambda said, golds, unanswerable, category: measure(said, golds, category or "")


_ANSWERED: dict[str, _Answered] = {
    "exact_match": _plain(answers.exact_match),
    "token_f1": _plain(answers.token_f1),
    "bleu1": _plain(overlap.bleu1),
    "sub_em": _plain(answers.sub_em),
    "rouge_l": _plain(overlap.rouge_l),
    "locomo_f1": _by_category(locomo.locomo_f1),
    "mab_official": _by_category(memory_agent_bench.official),
    "mab_corrected": _by_category(memory_agent_bench.corrected),
}
_RECALLED: dict[str, _Recalled] = {
    "evidence_recall": retrieval.recall,
    "evidence_recall@5": partial(retrieval.recall, k=5),
    "evidence_recall@10": partial(retrieval.recall, k=10),
    "evidence_ndcg@10": partial(retrieval.ndcg, k=10),
}
_SCHEMA = {"unit": pl.Int64, "ordinal": pl.Int64, "metric": pl.String, "value": pl.Float64}


def score(frames: Frames) -> list[Score]:
    """Every answer by every metric that its workload has; ``judge`` only where a judge was asked.

    The value is None where it could not be scored: an answer that ended in an error (neither right nor wrong),
    a question without gold or evidence, a verdict that the judge could not give. What was recalled before an
    answer failed still counts for retrieval.
    """
    return score_answers(frames.answers(), frames.units(), frames.table("verdicts"))


def score_answers(
    answered: pl.DataFrame, units: pl.DataFrame | None = None, verdicts: pl.DataFrame | None = None
) -> list[Score]:
    """The same, of frames read already; without ``units`` only by the metrics that every workload has."""
    rows: list[Score] = []
    workloads = {} if units is None else dict(units.select("unit", "workload").iter_rows())
    columns = ("unit", "ordinal", "category", "golds", "unanswerable", "answer", "outcome", "evidence", "recalled")
    for row in answered.select(columns).iter_rows(named=True):
        for name, value in _figures(row, workloads.get(row["unit"])):
            rows.append((row["unit"], row["ordinal"], name, value))
    if units is not None and verdicts is not None and len(verdicts):
        said = judged(verdicts, units)
        rows.extend((unit, ordinal, JUDGE, value) for unit, ordinal, value in said.iter_rows())
    return rows


def scores_frame(frames: Frames) -> pl.DataFrame:
    """``score`` as a frame with the columns of the ledger's ``scores`` table."""
    return pl.DataFrame(score(frames), schema=_SCHEMA, orient="row")


def scores_frame_of(
    answered: pl.DataFrame, units: pl.DataFrame | None = None, verdicts: pl.DataFrame | None = None
) -> pl.DataFrame:
    """``score_answers`` as such a frame."""
    return pl.DataFrame(score_answers(answered, units, verdicts), schema=_SCHEMA, orient="row")


def score_run(path: Path) -> int:
    """Scores the ledger at ``path`` (a file or a run's directory) and writes the scores into it; returns how many."""
    frames = Frames(path)
    rows = score(frames)
    with Ledger.open(frames.path) as ledger:
        ledger.add_scores(rows)
    return len(rows)


def _figures(row: Mapping[str, Any], workload: str | None) -> Iterator[tuple[str, float | None]]:
    said = row["answer"] if row["outcome"] == "ok" else None
    golds, evidence, unanswerable = _strings(row["golds"]), _strings(row["evidence"]), bool(row["unanswerable"])
    for name, measure in _ANSWERED.items():
        if METRICS[name].workload in (None, workload):
            yield name, None if said is None else measure(said, golds, unanswerable, row["category"])
    ranking = None if row["recalled"] is None else _lists(row["recalled"])
    for name, found in _RECALLED.items():
        yield name, None if ranking is None else found(evidence, ranking)
    if workload == LONGMEMEVAL:
        unscored = dict.fromkeys(longmemeval.NAMES)
        yield from (unscored if ranking is None else longmemeval.retrieved(evidence, ranking, unanswerable)).items()
