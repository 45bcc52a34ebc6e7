"""Puts two runs side by side: which memory against which, and the questions and conversations of both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import polars as pl

from memgauge.analysis.money import card_of
from memgauge.analysis.unit_costs import CALL_COLUMNS, unit_costs
from memgauge.errors import UnknownNameError, UserError
from memgauge.ledger.frames import Frames
from memgauge.metrics.right import BY_RULE, right
from memgauge.metrics.score import JUDGE, scores_frame_of

OK, ERROR, ABSENT = "ok", "error", "absent"  # a question was answered, failed, was not asked
_UNFINISHED = "its unit was never finished"
_ANSWER = ["unit", "ordinal"]
_QUESTION = ["item", "seed", "question", "nth"]
_CONVERSATION = ["item", "protocol", "seed", "cell_turns", "cell_tokens"]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a memory of a run, under a setting."""

    run: str
    memory: str
    setting: str


@dataclass(frozen=True, slots=True)
class Run:
    """The frames of a run that a comparison needs."""

    name: str
    units: pl.DataFrame
    answers: pl.DataFrame
    scores: pl.DataFrame
    costs: pl.DataFrame

    @classmethod
    def read(cls, frames: Frames, name: str) -> Self:
        """Reads and scores a ledger."""
        units, answers = frames.units(), frames.answers()
        scores = scores_frame_of(answers, units, frames.table("verdicts"))
        return cls(name, units, answers, scores, unit_costs(units, frames.calls(CALL_COLUMNS), card_of(frames.meta())))

    def of(self, side: Side, workload: str | None = None) -> pl.DataFrame:
        """The units of one side."""
        here = (pl.col("memory") == side.memory) & (pl.col("setting") == side.setting)
        return self.units.filter(here if workload is None else here & (pl.col("workload") == workload))

    def settings(self, memory: str) -> list[str]:
        """Those that ``memory`` ran under; raises UnknownNameError where the run has no such memory."""
        if memory not in set(self.units["memory"]):
            raise UnknownNameError(f"memory of {self.name}", memory, self.units["memory"])
        return self.units.filter(pl.col("memory") == memory)["setting"].unique(maintain_order=True).to_list()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides on one workload."""

    left: Run
    right: Run
    a: Side
    b: Side
    workload: str

    @property
    def decided_by(self) -> str:
        """What makes an answer right: the judge where both sides were judged, else the workload's rule."""
        judged = [
            run.scores.filter(pl.col("metric") == JUDGE).join(run.of(side, self.workload), on="unit", how="semi")
            for run, side in ((self.left, self.a), (self.right, self.b))
        ]
        return JUDGE if all(len(rows) for rows in judged) else BY_RULE

    def questions(self) -> pl.DataFrame:
        """One row per question that a side was asked, with both sides' columns under ``_a`` and ``_b``.

        ``state`` is ok, error or absent; a question that the side's unfinished unit never came to is an error. Then
        ``answer``, ``error``, ``right`` (1, 0 or null) and every metric; ``text`` and ``golds`` are those of either.
        """
        judge = self.decided_by == JUDGE
        a = _asked(self.left, self.left.of(self.a, self.workload), judge, "a")
        b = _asked(self.right, self.right.of(self.b, self.workload), judge, "b")
        joined = a.join(b, on=_QUESTION, how="full", coalesce=True, nulls_equal=True, maintain_order="left_right")
        for run, side, name in ((self.left, self.a, "a"), (self.right, self.b, "b")):
            asking = run.of(side, self.workload).filter((pl.col("status") != "done") & (pl.col("questions") > 0))
            fates = asking.select("item", "seed", fate=pl.col("error").fill_null(_UNFINISHED)).unique(
                ["item", "seed"], maintain_order=True
            )
            never = pl.when(pl.col("fate").is_not_null()).then(pl.lit(ERROR)).otherwise(pl.lit(ABSENT))
            joined = joined.join(fates, on=["item", "seed"], how="left", maintain_order="left").with_columns(
                pl.coalesce(f"state_{name}", never).alias(f"state_{name}"),
                pl.coalesce(f"error_{name}", "fate").alias(f"error_{name}"),
            ).drop("fate")  # fmt: skip
        return joined.with_columns(text=pl.coalesce("text_a", "text_b"), golds=pl.coalesce("golds_a", "golds_b"))

    def units(self) -> pl.DataFrame:
        """One row per conversation that both sides finished, with both sides' costs under ``_a`` and ``_b``."""
        a, b = (
            run.of(side, self.workload)
            .filter(pl.col("status") == "done")
            .select("unit", *_CONVERSATION, "turns", "questions")
            .join(run.costs, on="unit", maintain_order="left")
            .drop("unit")
            .unique(_CONVERSATION, keep="first", maintain_order=True)
            for run, side in ((self.left, self.a), (self.right, self.b))
        )
        a, b = (
            frame.rename({column: f"{column}_{name}" for column in frame.columns if column not in _CONVERSATION})
            for frame, name in ((a, "a"), (b, "b"))
        )
        return a.join(b, on=_CONVERSATION, how="inner", nulls_equal=True, maintain_order="left")

    def lost(self) -> float:
        """The share of the conversations that A finished which B set out to play and did not finish."""
        a, b = self.left.of(self.a, self.workload), self.right.of(self.b, self.workload)
        played = a.filter(pl.col("status") == "done").select(_CONVERSATION)
        fates = played.join(b, on=_CONVERSATION, nulls_equal=True)["status"]
        return int((fates != "done").sum()) / len(fates) if len(fates) else 0.0


def matched(
    left: Run, right: Run, memories: Sequence[tuple[str, str]], settings: tuple[str, str] | None
) -> Iterator[Pair]:
    """What is to be compared with what; see compare.compare. Raises UserError where that is not clear."""
    for one, other in memories or _shared(left, right):
        for setting_a, setting_b in _settings(left.settings(one), right.settings(other), settings, other):
            a, b = Side(left.name, one, setting_a), Side(right.name, other, setting_b)
            theirs = set(right.of(b)["workload"])
            for workload in left.of(a)["workload"].unique(maintain_order=True):
                if workload in theirs:
                    yield Pair(left, right, a, b, workload)


def _shared(left: Run, right: Run) -> list[tuple[str, str]]:
    theirs = set(right.units["memory"])
    competing = left.units.filter(pl.col("control") == 0)["memory"].unique(maintain_order=True)
    shared = [(memory, memory) for memory in competing if memory in theirs]
    if not shared:
        raise UserError(
            f"{left.name} and {right.name} have no memory in common; name one of each:"
            f" {', '.join(competing)} and {', '.join(right.units['memory'].unique(maintain_order=True))}"
        )
    return shared


def _settings(
    mine: Sequence[str], theirs: Sequence[str], named: tuple[str, str] | None, memory: str
) -> list[tuple[str, str]]:
    if named is not None:
        for setting, there in zip(named, (mine, theirs), strict=True):
            if setting not in there:
                raise UnknownNameError(f"setting of {memory}", setting, there)
        return [named]
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])]
    if common := [(setting, setting) for setting in mine if setting in theirs]:
        return common
    raise UserError(f"{memory} has no setting in common; name one of each: {', '.join(mine)} and {', '.join(theirs)}")


def _asked(run: Run, units: pl.DataFrame, judge: bool, name: str) -> pl.DataFrame:
    """Every recorded answer of these units, its scores and whether it is right, with ``name`` on every column."""
    answers = run.answers.join(units.select("unit", "item", "seed"), on="unit", maintain_order="left")
    scores = run.scores.join(units, on="unit", how="semi")
    wide = (
        answers.with_columns(nth=pl.int_range(pl.len()).over("item", "seed", "question"))
        .join(right(answers, units, scores, judge=judge), on=_ANSWER, maintain_order="left")
        .select(*_ANSWER, *_QUESTION, "text", "golds", "answer", "error", "right", state="outcome")
    )
    known = scores.drop_nulls("value")
    if len(known):
        values = known.pivot("metric", index=_ANSWER, values="value")
        wide = wide.join(values, on=_ANSWER, how="left", maintain_order="left")
    return wide.drop(_ANSWER).rename(lambda column: column if column in _QUESTION else f"{column}_{name}")
