"""Question by question: what each memory answered, and whether that was right."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import polars as pl

from memgauge.analysis.memory_rows import Played

MOST_QUESTIONS = 200

_strings = msgspec.json.Decoder(list[str]).decode


@dataclass(frozen=True, slots=True)
class Answered:
    """One memory's answer. ``verdict`` is right | partly | wrong | error | unscored.

    Right: an exact match, or the gold stands in the answer; partly: some of its words do.
    """

    text: str
    verdict: str
    f1: float | None
    evidence: float | None


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question with every memory's answer to it, by memory."""

    item: str
    question: str
    text: str
    category: str | None
    golds: tuple[str, ...]
    unanswerable: bool
    answers: dict[str, Answered]


def question_rows(played: Played, limit: int = MOST_QUESTIONS) -> tuple[QuestionRow, ...]:
    """At most ``limit`` questions, spread evenly over all that were asked, of each item's first seed."""
    if not len(played.answers):
        return ()
    units = played.units.filter(pl.col("questions") > 0)
    first = units.filter(pl.col("seed") == pl.col("seed").min().over("item"))
    values = played.scores.pivot("metric", index=["unit", "ordinal"], values="value")
    if not len(values) or not len(first):
        return ()
    asked = played.answers.join(first.select("unit", "item", "memory"), on="unit", maintain_order="left").join(
        values, on=["unit", "ordinal"], maintain_order="left"
    )
    places = asked.select("item", "question").unique(maintain_order=True)
    step = max(1.0, len(places) / limit)
    chosen = places[[int(place * step) for place in range(min(limit, len(places)))]]
    rows = asked.join(chosen, on=["item", "question"], how="semi", maintain_order="left")
    return tuple(_rows(rows))


def _rows(asked: pl.DataFrame) -> Iterator[QuestionRow]:
    for (item, question), answers in asked.group_by("item", "question", maintain_order=True):
        first = answers.row(0, named=True)
        yield QuestionRow(
            item=str(item),
            question=str(question),
            text=first["text"],
            category=first["category"],
            golds=tuple(_strings(first["golds"])),
            unanswerable=bool(first["unanswerable"]),
            answers={
                row["memory"]: Answered(
                    row["error"] or "error" if row["outcome"] != "ok" else row["answer"] or "",
                    _verdict(row),
                    row["token_f1"],
                    row["evidence_recall"],
                )
                for row in answers.iter_rows(named=True)
            },
        )


def _verdict(row: dict[str, float | str | None]) -> str:
    if row["outcome"] != "ok":
        return "error"
    if row["token_f1"] is None:
        return "unscored"
    if row["exact_match"] or row["sub_em"]:
        return "right"
    return "partly" if row["token_f1"] else "wrong"
