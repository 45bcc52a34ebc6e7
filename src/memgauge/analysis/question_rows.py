"""Question by question: what each memory recalled, answered and spent, what the judge said, and why it was wrong."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from memgauge.analysis.contexts import Context, contexts, texts_of
from memgauge.analysis.failures import Cause, Failed, explained
from memgauge.analysis.read import Read
from memgauge.analysis.turn_costs import billed_input
from memgauge.metrics.judge import decided, main_rubrics

MOST_QUESTIONS = 2_000

RIGHT, WRONG, NO_ANSWER, NO_VERDICT, NOT_SCORED = "right", "wrong", "no answer", "no verdict", "not scored"
VERDICTS = (RIGHT, WRONG, NO_ANSWER, NO_VERDICT, NOT_SCORED)

_UNDECIDED = {Cause.NO_ANSWER: NO_ANSWER, Cause.NO_VERDICT: NO_VERDICT}
_STAGES = ("read", "answer", "write", "manage", "judge")
_PLACE = ["unit", "ordinal"]
_GROUP = ["workload", "setting", "cell_turns", "cell_tokens"]
_ASKED = [*_GROUP, "item", "question", "nth"]

_strings = msgspec.json.Decoder(tuple[str, ...]).decode


@dataclass(frozen=True, slots=True)
class Votes:
    """What the repeats under one rubric said of an answer, and the reason that the first of the majority gave.

    ``counts`` marks the rubric that the scores go by.
    """

    rubric: str
    correct: int
    wrong: int
    errors: int
    why: str
    counts: bool


@dataclass(frozen=True, slots=True)
class Spent:
    """The calls of one stage for one question. Tokens and dollars are None where a call did not tell them, or has
    no price; ``failed`` counts calls that gave no reply.
    """

    stage: str
    calls: int
    input_tokens: int | None
    cached_tokens: int
    output_tokens: int | None
    embedding_tokens: int
    usd: float | None
    seconds: float
    failed: int


@dataclass(frozen=True, slots=True)
class Answered:
    """One memory's answer, or the error in its place.

    ``verdict`` is one of VERDICTS and ``cause`` one of failures.Cause, with the evidence turns that are
    ``missing``; ``recalled`` is the share of the evidence that was recalled. ``spent`` is empty where a
    conversation asks one question twice: their calls cannot be told apart.
    """

    text: str
    verdict: str
    cause: str | None
    missing: tuple[str, ...]
    f1: float | None
    recalled: float | None
    context_tokens: int | None
    context: Context | None
    votes: tuple[Votes, ...]
    spent: tuple[Spent, ...]


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question with every memory's answer to it, by memory."""

    workload: str
    setting: str
    cell: tuple[int, int] | None
    item: str
    question: str
    text: str
    category: str | None
    golds: tuple[str, ...]
    evidence: tuple[str, ...]
    unanswerable: bool
    answers: dict[str, Answered]


@dataclass(frozen=True, slots=True)
class Questions:
    """Those of the ``asked`` questions that are shown, and the texts that their contexts name by id."""

    rows: tuple[QuestionRow, ...]
    asked: int
    texts: dict[int, str]


def question_rows(found: Read, limit: int = MOST_QUESTIONS) -> Questions:
    """At most ``limit`` questions, spread evenly over all that were asked, of each conversation's first seed."""
    units = found.played.units.filter(pl.col("questions") > 0)
    units = units.filter(pl.col("seed") == pl.col("seed").min().over("workload", "item"))
    answers = found.played.answers.join(units, on="unit", how="semi", maintain_order="left")
    if answers.is_empty():
        return Questions((), 0, {})
    named = answers.join(units.select("unit", "memory", "item", *_GROUP), on="unit", maintain_order="left")
    named = named.with_columns(nth=pl.int_range(pl.len()).over("unit", "question"))
    places = named.select(_ASKED).unique(maintain_order=True)
    step = max(1.0, len(places) / limit)
    chosen = places[[int(place * step) for place in range(min(limit, len(places)))]]
    shown = named.join(chosen, on=_ASKED, how="semi", nulls_equal=True, maintain_order="left")
    told = _Told(
        failures=_failures(units, answers, found.played.scores, shown),
        contexts=contexts(found.frames, shown.select(answers.columns), units),
        votes=_votes(found.verdicts, found.played.units, shown),
        spent=_spent(found.played.calls, answers, shown),
    )
    scored = _with_scores(shown, found.played.scores)
    rows = tuple(_rows(scored, told))
    texts = {item.text for context in told.contexts.values() for item in context.items}
    return Questions(rows, len(places), texts_of(found.frames, texts))


@dataclass(frozen=True, slots=True)
class _Told:
    """What is known of each answer besides its row; ``spent`` goes by unit and question."""

    failures: Mapping[tuple[int, int], Failed | bool]
    contexts: Mapping[tuple[int, int], Context]
    votes: Mapping[tuple[int, int], list[Votes]]
    spent: Mapping[tuple[int, str], list[Spent]]


def _rows(asked: pl.DataFrame, told: _Told) -> Iterator[QuestionRow]:
    for _, answers in asked.group_by(_ASKED, maintain_order=True):
        rows = list(answers.iter_rows(named=True))
        first = rows[0]
        yield QuestionRow(
            workload=first["workload"],
            setting=first["setting"],
            cell=None if first["cell_turns"] is None else (first["cell_turns"], first["cell_tokens"]),
            item=first["item"],
            question=first["question"],
            text=first["text"],
            category=first["category"],
            golds=_strings(first["golds"]),
            evidence=_strings(first["evidence"]),
            unanswerable=bool(first["unanswerable"]),
            answers={row["memory"]: _answered(row, told) for row in rows},
        )


def _answered(row: Mapping[str, Any], told: _Told) -> Answered:
    place = (row["unit"], row["ordinal"])
    failed = told.failures[place]
    if isinstance(failed, Failed):
        verdict, cause, missing = _UNDECIDED.get(failed.cause, WRONG), failed.cause.value, failed.missing
    else:
        verdict, cause, missing = RIGHT if failed else NOT_SCORED, None, ()
    return Answered(
        text=row["answer"] or "" if row["outcome"] == "ok" else row["error"] or "error",
        verdict=verdict,
        cause=cause,
        missing=missing,
        f1=row["token_f1"],
        recalled=row["evidence_recall"],
        context_tokens=row["context_tokens"],
        context=told.contexts.get(place),
        votes=tuple(told.votes.get(place, ())),
        spent=tuple(told.spent.get((row["unit"], row["question"]), ())),
    )


def _failures(
    units: pl.DataFrame, answers: pl.DataFrame, scores: pl.DataFrame, shown: pl.DataFrame
) -> dict[tuple[int, int], Failed | bool]:
    """Asked of all answers: what is stored shows in what any question brought up."""
    wanted = set(shown.select(_PLACE).iter_rows())
    every = zip(answers.select(_PLACE).iter_rows(), explained(units, answers, scores), strict=True)
    return {place: why for place, why in every if place in wanted}


def _with_scores(shown: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    for name in ("token_f1", "evidence_recall"):
        values = scores.filter(pl.col("metric") == name).select(*_PLACE, pl.col("value").alias(name))
        shown = shown.join(values, on=_PLACE, how="left", maintain_order="left")
    return shown


def _votes(verdicts: pl.DataFrame, units: pl.DataFrame, shown: pl.DataFrame) -> dict[tuple[int, int], list[Votes]]:
    main = main_rubrics(decided(verdicts), units) if len(verdicts) else {}
    correct, wrong = pl.col("verdict") == "correct", pl.col("verdict") == "wrong"
    counted = (
        verdicts.join(shown.select(*_PLACE, "workload"), on=_PLACE)
        .sort(*_PLACE, "rubric", "repeat")
        .group_by(*_PLACE, "workload", "rubric", maintain_order=True)
        .agg(
            correct.sum().alias("correct"),
            wrong.sum().alias("wrong"),
            (pl.col("outcome") != "ok").sum().alias("errors"),
            pl.col("why").filter(correct).first().alias("praise"),
            pl.col("why").filter(wrong).first().alias("blame"),
            pl.col("why").first(),
        )
    )
    found: dict[tuple[int, int], list[Votes]] = defaultdict(list)
    for unit, ordinal, workload, rubric, right, against, errors, praise, blame, why in counted.iter_rows():
        reason = praise if right > against else blame if against > right else why
        counts = main.get(workload) == rubric
        found[unit, ordinal].append(Votes(rubric, right, against, errors, reason or "", counts))
    for votes in found.values():
        votes.sort(key=lambda vote: not vote.counts)
    return found


def _spent(calls: pl.DataFrame, answers: pl.DataFrame, shown: pl.DataFrame) -> dict[tuple[int, str], list[Spent]]:
    once = answers.group_by("unit", "question").len().filter(pl.col("len") == 1)
    mine = calls.drop_nulls("question").join(shown, on=["unit", "question"], how="semi")
    chat = pl.col("kind") == "chat"
    output = pl.col("output_tokens") + pl.col("reasoning_tokens").fill_null(0)
    sums = (
        mine.join(once, on=["unit", "question"], how="semi")
        .with_columns(input=billed_input(), output=pl.when(chat).then(output).otherwise(0))
        .group_by("unit", "question", "stage")
        .agg(
            pl.len().alias("calls"),
            _sum("input"),
            pl.col("cached_tokens").sum(),
            _sum("output"),
            pl.col("embedding_tokens").sum(),
            _sum("cost_usd"),
            pl.col("latency_s").sum(),
            (pl.col("outcome") != "ok").sum().alias("failed"),
        )
    )
    found: dict[tuple[int, str], list[Spent]] = defaultdict(list)
    for unit, question, *figures in sums.iter_rows():
        found[unit, question].append(Spent(*figures))
    for spent in found.values():
        spent.sort(key=lambda entry: _STAGES.index(entry.stage))
    return found


def _sum(name: str) -> pl.Expr:
    return pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name)
