"""Scores every answer of a ledger by every metric that needs no model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import polars as pl

from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.metrics import answers, retrieval

Score = tuple[int, int, str, float | None]  # unit, ordinal of the answer, metric, value

_strings = msgspec.json.Decoder(list[str]).decode
_lists = msgspec.json.Decoder(list[list[str]]).decode


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of one answer. ``binary`` ones are 0 or 1; ``id`` is the papers' name, where they have one."""

    name: str
    title: str
    id: str | None
    higher_is_better: bool = True
    binary: bool = False


METRICS = {
    metric.name: metric
    for metric in (
        Metric("exact_match", "exact match", "P1", binary=True),
        Metric("token_f1", "token F1", "P2"),
        Metric("sub_em", "SubEM", "P12", binary=True),
        Metric("evidence_recall", "evidence recalled", None),
        Metric("evidence_recall@5", "evidence recall@5", "P6"),
        Metric("evidence_recall@10", "evidence recall@10", "P6"),
        Metric("evidence_ndcg@10", "evidence NDCG@10", "P7"),
    )
}

_ANSWERED: dict[str, Callable[[str, Sequence[str], bool], float | None]] = {
    "exact_match": answers.exact_match,
    "token_f1": answers.token_f1,
    "sub_em": answers.sub_em,
}
_RECALLED: dict[str, Callable[[Sequence[str], Sequence[Sequence[str]]], float | None]] = {
    "evidence_recall": retrieval.recall,
    "evidence_recall@5": partial(retrieval.recall, k=5),
    "evidence_recall@10": partial(retrieval.recall, k=10),
    "evidence_ndcg@10": partial(retrieval.ndcg, k=10),
}
_SCHEMA = {"unit": pl.Int64, "ordinal": pl.Int64, "metric": pl.String, "value": pl.Float64}


def score(frames: Frames) -> list[Score]:
    """Every answer by every metric.

    The value is None where it could not be scored: an answer that ended in an error (neither right nor wrong),
    a question without gold or evidence. What was recalled before an answer failed still counts for retrieval.
    """
    return score_answers(frames.answers())


def score_answers(answered: pl.DataFrame) -> list[Score]:
    """The same, of an ``answers`` frame read already."""
    rows: list[Score] = []
    columns = ("unit", "ordinal", "golds", "unanswerable", "answer", "outcome", "evidence", "recalled")
    for row in answered.select(columns).iter_rows(named=True):
        unit, ordinal = row["unit"], row["ordinal"]
        said = row["answer"] if row["outcome"] == "ok" else None
        golds = _strings(row["golds"])
        for name, judge in _ANSWERED.items():
            value = None if said is None else judge(said, golds, bool(row["unanswerable"]))
            rows.append((unit, ordinal, name, value))
        evidence = _strings(row["evidence"])
        ranking = None if row["recalled"] is None else _lists(row["recalled"])
        for name, measure in _RECALLED.items():
            value = None if ranking is None else measure(evidence, ranking)
            rows.append((unit, ordinal, name, value))
    return rows


def scores_frame(frames: Frames) -> pl.DataFrame:
    """``score`` as a frame with the columns of the ledger's ``scores`` table."""
    return scores_frame_of(frames.answers())


def scores_frame_of(answered: pl.DataFrame) -> pl.DataFrame:
    """``score_answers`` as such a frame."""
    return pl.DataFrame(score_answers(answered), schema=_SCHEMA, orient="row")


def score_run(path: Path) -> int:
    """Scores the ledger at ``path`` (a file or a run's directory) and writes the scores into it; returns how many."""
    frames = Frames(path)
    rows = score(frames)
    with Ledger.open(frames.path) as ledger:
        ledger.add_scores(rows)
    return len(rows)
