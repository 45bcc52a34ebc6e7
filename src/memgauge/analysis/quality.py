"""How well it remembers: each workload's own metrics by memory and category, with intervals, errors and causes.

The one structure that the terminal and the page show. Everything is computed from the ledger.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from memgauge.analysis.agreement import JudgeReliability, reliability_of
from memgauge.analysis.failures import FailureCounts, count, explained
from memgauge.analysis.intervals import Estimate, Numbers, Resamples, estimate
from memgauge.analysis.memory_rows import MOST_ERRORS
from memgauge.ledger.frames import Frames
from memgauge.metrics.judge import decided, main_rubrics
from memgauge.metrics.score import JUDGE, LOCOMO, LONGMEMEVAL, MEMORY_AGENT_BENCH, METRICS, scores_frame_of

Mask = NDArray[np.bool_]

# What each workload is reported by, the leading metric first; a metric that nothing was scored by is left out.
OWN = {
    LOCOMO: (JUDGE, "locomo_f1", "token_f1", "bleu1", "exact_match", "sub_em", "rouge_l"),
    LONGMEMEVAL: (JUDGE, "sub_em", "token_f1", "bleu1", "exact_match", "rouge_l"),
    MEMORY_AGENT_BENCH: ("mab_corrected", "mab_official", JUDGE, "sub_em", "exact_match", "token_f1", "rouge_l"),
}
_ANY = (JUDGE, "token_f1", "sub_em", "exact_match", "bleu1", "rouge_l")
_RETRIEVAL = tuple(name for name in METRICS if name.startswith(("evidence_", "session_", "turn_")))


@dataclass(frozen=True, slots=True)
class Scored:
    """Some questions of one memory. ``scores`` are means over those that could be scored, by metric.

    ``asked`` counts questions over all seeds, ``errors`` those that ended without an answer, ``unjudged`` answers
    to which the judge that was asked gave no verdict. None of the two is right or wrong.
    """

    asked: int
    errors: int
    unjudged: int
    scores: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class MemoryQuality:
    """One memory on one workload.

    ``task_averaged`` is the mean of the categories' means, each category weighing the same (LongMemEval's
    figure); ``unanswerable`` are the questions whose right answer is to abstain, which count in their category
    too, and ``answerable`` all others: both None where there is nothing to tell apart. ``unranked`` says why it
    competes with nobody. Questions that a failed unit never came to are errors of ``whole`` and of no category.
    """

    memory: str
    control: bool
    unranked: str | None
    whole: Scored
    categories: dict[str, Scored]
    task_averaged: dict[str, Estimate]
    unanswerable: Scored | None
    answerable: Scored | None
    failures: FailureCounts


@dataclass(frozen=True, slots=True)
class WorkloadQuality:
    """All memories on one workload under one setting. ``metrics`` is in the order to show, the leading one first.

    ``rubric`` is the one that the judge's scores go by, None where nothing was judged.
    """

    workload: str
    setting: str
    conversations: int
    metrics: tuple[str, ...]
    categories: tuple[str, ...]
    memories: tuple[MemoryQuality, ...]
    rubric: str | None

    @property
    def leading(self) -> str | None:
        """The metric that ranks."""
        return self.metrics[0] if self.metrics else None


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality figures of a run, and how far its judge can be trusted."""

    workloads: tuple[WorkloadQuality, ...]
    judge: JudgeReliability


def quality(frames: Frames) -> Quality:
    """Computes the tables of a ledger, also of a run that is still going on: its finished units count."""
    units, answers, verdicts = frames.units(), frames.answers(), frames.table("verdicts")
    return quality_of(units, answers, verdicts, scores_frame_of(answers, units, verdicts))


def quality_of(units: pl.DataFrame, answers: pl.DataFrame, verdicts: pl.DataFrame, scores: pl.DataFrame) -> Quality:
    """The same, of frames read already."""
    ended = units.filter(pl.col("status").is_in(("done", "failed")) & (pl.col("questions") > 0))
    rubrics = main_rubrics(decided(verdicts), units) if len(verdicts) else {}
    tables = tuple(
        _workload(members, answers.join(members, on="unit", how="semi", maintain_order="left"), scores, rubrics)
        for _, members in ended.group_by("workload", "setting", maintain_order=True)
    )
    return Quality(tables, reliability_of(verdicts, units))


def _workload(
    units: pl.DataFrame, answers: pl.DataFrame, scores: pl.DataFrame, rubrics: Mapping[str, str]
) -> WorkloadQuality:
    first = units.row(0, named=True)
    mine = scores.join(units, on="unit", how="semi", maintain_order="left")
    present = set(mine.drop_nulls("value")["metric"])
    metrics = tuple(name for name in (*OWN.get(first["workload"], _ANY), *_RETRIEVAL) if name in present)
    wide = _wide(units, answers, mine, metrics)
    categories = tuple(sorted(wide["category"].drop_nulls().unique()))
    memories = tuple(
        _memory(members, wide.join(members, on="unit", how="semi", maintain_order="left"), mine, metrics, categories)
        for _, members in units.group_by("memory", maintain_order=True)
    )
    return WorkloadQuality(
        workload=first["workload"],
        setting=first["setting"],
        conversations=units["item"].n_unique(),
        metrics=metrics,
        categories=categories,
        memories=memories,
        rubric=rubrics.get(first["workload"]) if JUDGE in metrics else None,
    )


def _wide(units: pl.DataFrame, answers: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """``answers`` with their conversation, a column for each metric, and whether the judge was asked of each."""
    place = ["unit", "ordinal"]
    seen = scores.filter(pl.col("metric") == JUDGE).select(*place, judged=pl.lit(True))
    wide = answers.join(units.select("unit", "item"), on="unit", maintain_order="left")
    wide = wide.join(seen, on=place, how="left", maintain_order="left").with_columns(pl.col("judged").fill_null(False))
    for name in metrics:
        values = scores.filter(pl.col("metric") == name).select(*place, pl.col("value").alias(name))
        wide = wide.join(values, on=place, how="left", maintain_order="left")
    return wide


def _memory(
    units: pl.DataFrame, answers: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[str], categories: Sequence[str]
) -> MemoryQuality:
    first = units.row(0, named=True)
    of_category = {name: mask for name in categories if (mask := _mask(answers["category"] == name)).any()}
    abstain = _mask(answers["unanswerable"] == 1)
    every = np.ones(len(answers), np.bool_)
    table = _Table.of(answers, metrics, (every, *of_category.values(), abstain, ~abstain))
    whole, *found, unanswerable, answerable = map(table.scored, range(len(table.masks)))
    whole = replace(whole, asked=int(units["questions"].sum()))
    whole = replace(whole, errors=whole.errors + whole.asked - len(answers))
    return MemoryQuality(
        memory=first["memory"],
        control=bool(first["control"]),
        unranked=_unranked(bool(first["control"]), whole),
        whole=whole,
        categories=dict(zip(of_category, found, strict=True)),
        task_averaged=table.averaged(range(1, 1 + len(found))) if len(found) > 1 else {},
        unanswerable=unanswerable if unanswerable.asked else None,
        answerable=answerable if unanswerable.asked and answerable.asked else None,
        failures=count(explained(units, answers, scores)),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The scores of one memory's answers: ``values`` (answers, metrics), for the answers of each mask.

    ``means`` are the same of every resample: (resamples, masks, metrics).
    """

    metrics: Sequence[str]
    masks: Sequence[Mask]
    values: Numbers
    means: Numbers
    method: str
    errors: Mask
    unjudged: Mask

    @classmethod
    def of(cls, answers: pl.DataFrame, metrics: Sequence[str], masks: Sequence[Mask]) -> Self:
        """``answers`` has a column for every metric, its conversation and whether the judge was asked."""
        values = answers.select(metrics).to_numpy().astype(np.float64).reshape(len(answers), len(metrics))
        drawn = Resamples(answers["item"].to_list())
        columns = np.hstack([np.where(mask[:, None], values, np.nan) for mask in masks])
        means = drawn.means(columns)
        means = means.reshape(len(means), len(masks), len(metrics))
        errors = _mask(answers["outcome"] != "ok")
        silent = _mask(answers[JUDGE].is_null() & answers["judged"]) if JUDGE in metrics else np.zeros_like(errors)
        return cls(metrics, masks, values, means, drawn.method, errors, silent & ~errors)

    def scored(self, place: int) -> Scored:
        """The answers of one mask."""
        mask = self.masks[place]
        scores = {
            name: found
            for column, name in enumerate(self.metrics)
            if (
                found := estimate(
                    self.values[mask, column], self.means[:, place, column], self.method, binary=METRICS[name].binary
                )
            )
        }
        return Scored(int(mask.sum()), int((mask & self.errors).sum()), int((mask & self.unjudged).sum()), scores)

    def averaged(self, places: Sequence[int]) -> dict[str, Estimate]:
        """The mean over these masks of their means, by metric; a mask that a metric does not score is left out."""
        found = {}
        for column, name in enumerate(self.metrics):
            known = [self.values[self.masks[place], column] for place in places]
            values = np.array([np.nanmean(part) for part in known if not np.isnan(part).all()])
            drawn = self.means[:, places, column]
            size = (~np.isnan(drawn)).sum(axis=1)
            means = np.divide(np.nansum(drawn, axis=1), size, out=np.full(len(drawn), np.nan), where=size > 0)
            if whole := estimate(values, means, f"{self.method}, mean of {len(values)} categories"):
                found[name] = replace(whole, n=int(sum((~np.isnan(part)).sum() for part in known)))
        return found


def _mask(series: pl.Series) -> Mask:
    return series.fill_null(False).to_numpy().astype(np.bool_)


def _unranked(control: bool, whole: Scored) -> str | None:
    if control:
        return "control: bounds the table, competes with nobody"
    lost = (whole.errors + whole.unjudged) / whole.asked if whole.asked else 0.0
    if lost > MOST_ERRORS:
        return f"{lost * 100:.0f} % ended without a score, more than {MOST_ERRORS * 100:.0f} %"
    return None
