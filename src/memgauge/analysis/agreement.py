"""How far can the judge be trusted? Agreement of its repeats, and what its prompt alone does to the figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from memgauge.analysis.intervals import Estimate, Numbers, Resamples, estimate
from memgauge.ledger.frames import Frames
from memgauge.metrics.judge import decided, main_rubrics

_PLACE = ["unit", "ordinal"]


@dataclass(frozen=True, slots=True)
class RepeatAgreement:
    """How well repeated verdicts under one rubric agree, over the answers that have at least two.

    ``agreement`` is the share of pairs of verdicts on one answer that are equal, ``alpha`` Krippendorff's for
    nominal data: 1 is perfect, 0 what chance gives; None where only one label ever occurs, so that chance alone
    would agree. ``split`` counts answers on which verdicts differ, ``errors`` verdicts that could not be given.
    """

    workload: str
    rubric: str
    answers: int
    verdicts: int
    errors: int
    agreement: float | None
    alpha: float | None
    split: int


@dataclass(frozen=True, slots=True)
class RubricRow:
    """One rubric's verdicts on the answers that every rubric of the table judged.

    ``accuracy`` is over the answers that every rubric decided, ``by_memory`` likewise; ``errors`` counts answers
    this rubric could not decide. ``best`` names the memories at its top, controls left out.
    """

    rubric: str
    accuracy: Estimate | None
    by_memory: dict[str, Estimate]
    errors: int
    best: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptSensitivity:
    """What the judge's prompt alone changes, on the same ``answers``.

    ``spread`` is the highest accuracy less the lowest, ``flips`` counts answers that some rubric finds right and
    another wrong. ``same_best`` says whether some memory is at the top by every rubric. The first row is the rubric
    that the scores use.
    """

    workload: str
    setting: str
    answers: int
    rows: tuple[RubricRow, ...]
    spread: float | None
    flips: int
    alpha: float | None
    same_best: bool


@dataclass(frozen=True, slots=True)
class JudgeReliability:
    """Both, for every workload that was judged; empty where none was."""

    repeats: tuple[RepeatAgreement, ...]
    prompts: tuple[PromptSensitivity, ...]


def judge_reliability(frames: Frames) -> JudgeReliability:
    """Reads the verdicts of a ledger and tells how far they can be trusted."""
    return reliability_of(frames.table("verdicts"), frames.units())


def reliability_of(verdicts: pl.DataFrame, units: pl.DataFrame) -> JudgeReliability:
    """The same, of frames read already."""
    told = verdicts.join(units.select("unit", "workload"), on="unit", maintain_order="left")
    repeats = tuple(
        agreement
        for (workload, rubric), rows in told.group_by("workload", "rubric", maintain_order=True)
        if (agreement := _repeat_agreement(str(workload), str(rubric), rows))
    )
    return JudgeReliability(repeats, tuple(_prompts(verdicts, units)))


def krippendorff_alpha(counts: Numbers) -> float | None:
    """Krippendorff's alpha for nominal labels; missing ratings are simply not counted.

    ``counts`` says how often each label was given to each rated thing: shape (things, labels). None where nothing
    was rated twice, or only one label occurs.
    """
    rated = counts.sum(axis=1)
    paired, sizes = counts[rated >= 2], rated[rated >= 2]
    total = sizes.sum()
    if not total:
        return None
    labels = paired.sum(axis=0)
    by_chance = total**2 - (labels**2).sum()
    if not by_chance:
        return None
    observed = ((sizes**2 - (paired**2).sum(axis=1)) / (sizes - 1)).sum()
    return float(1 - (total - 1) * observed / by_chance)


def raw_agreement(counts: Numbers) -> float | None:
    """The share of pairs of ratings of one thing that are equal; None where nothing was rated twice."""
    rated = counts.sum(axis=1)
    pairs = (rated * (rated - 1)).sum()
    return float((counts * (counts - 1)).sum() / pairs) if pairs else None


def _repeat_agreement(workload: str, rubric: str, verdicts: pl.DataFrame) -> RepeatAgreement | None:
    if verdicts["repeat"].n_unique() < 2:
        return None
    heard = verdicts.filter(pl.col("outcome") == "ok")
    votes = heard.group_by(_PLACE).agg(
        correct=(pl.col("verdict") == "correct").sum(), wrong=(pl.col("verdict") == "wrong").sum()
    )
    counts = votes.select("correct", "wrong").to_numpy().astype(np.float64).reshape(-1, 2)
    twice = counts.sum(axis=1) >= 2
    return RepeatAgreement(
        workload,
        rubric,
        answers=int(twice.sum()),
        verdicts=len(heard),
        errors=len(verdicts) - len(heard),
        agreement=raw_agreement(counts),
        alpha=krippendorff_alpha(counts),
        split=int((counts > 0).all(axis=1).sum()),
    )


def _prompts(verdicts: pl.DataFrame, units: pl.DataFrame) -> Iterator[PromptSensitivity]:
    settled = decided(verdicts)
    mains = main_rubrics(settled, units)
    columns = ("unit", "workload", "setting", "memory", "control", "item")
    told = settled.join(units.select(columns), on="unit").sort("unit", "ordinal", "rubric")
    for (workload, setting), rows in told.group_by("workload", "setting", maintain_order=True):
        main = mains[str(workload)]
        others = rows.filter(pl.col("rubric") != main)["rubric"].unique().sort()
        if len(others) and (rows["rubric"] == main).any():
            yield _sensitivity(str(workload), str(setting), rows, (main, *others))


def _sensitivity(workload: str, setting: str, verdicts: pl.DataFrame, rubrics: Sequence[str]) -> PromptSensitivity:
    of_rubric = [pl.col("rubric") == rubric for rubric in rubrics]
    answers = (
        verdicts.group_by(*_PLACE, "memory", "control", "item", maintain_order=True)
        .agg(
            *(pl.col("value").filter(here).first().alias(f"value {place}") for place, here in enumerate(of_rubric)),
            *(here.any().alias(f"asked {place}") for place, here in enumerate(of_rubric)),
        )
        .filter(pl.all_horizontal(r"^asked \d+$"))
    )
    values = answers.select(r"^value \d+$").to_numpy().astype(np.float64).reshape(-1, len(rubrics))
    sure: NDArray[np.bool_] = np.asarray(~np.isnan(values).any(axis=1))
    counts = np.stack((np.nansum(values == 1, axis=1), np.nansum(values == 0, axis=1)), axis=1).astype(np.float64)
    whole = _shares(values[sure], answers.filter(sure))
    of_memory = {
        str(memory): _shares(values[sure & mask], answers.filter(sure & mask))
        for memory in answers["memory"].unique(maintain_order=True)
        if (mask := (answers["memory"] == memory).to_numpy()).any()
    }
    controls = set(answers.filter(pl.col("control") == 1)["memory"])
    rows = []
    for place, rubric in enumerate(rubrics):
        by_memory = {memory: found for memory, shares in of_memory.items() if (found := shares[place])}
        errors = int(np.isnan(values[:, place]).sum())
        rows.append(RubricRow(rubric, whole[place], by_memory, errors, _best(by_memory, controls)))
    accuracies = [row.accuracy.value for row in rows if row.accuracy]
    return PromptSensitivity(
        workload,
        setting,
        answers=len(answers),
        rows=tuple(rows),
        spread=max(accuracies) - min(accuracies) if accuracies else None,
        flips=int((counts > 0).all(axis=1).sum()),
        alpha=krippendorff_alpha(counts),
        same_best=bool(set.intersection(*(set(row.best) for row in rows))),
    )


def _shares(values: Numbers, answers: pl.DataFrame) -> list[Estimate | None]:
    """The accuracy of every column."""
    if not len(values):
        return [None] * values.shape[1]
    drawn = Resamples(answers["item"].to_list())
    means = drawn.means(values)
    return [estimate(values[:, place], means[:, place], drawn.method, binary=True) for place in range(values.shape[1])]


def _best(by_memory: Mapping[str, Estimate], controls: set[str]) -> tuple[str, ...]:
    ranked = {memory: found.value for memory, found in by_memory.items() if memory not in controls}
    top = max(ranked.values(), default=None)
    return tuple(memory for memory, value in ranked.items() if value == top)
