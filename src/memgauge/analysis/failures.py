"""Why was an answer wrong? The first link of the chain that broke: stored, retrieved, used, judged.

Told from the ledger and the questions' evidence ids alone, so it needs no access to a memory's store:

- An evidence turn is *retrieved* where its id is among what was recalled for the question. All evidence turns
  are asked for: half of a multi-hop question's evidence is not its answer.
- An evidence turn is *stored* where some read of the same unit brought it up, for whatever question, or where the
  store holds at least as many tokens as were written, so that nothing can have been left out.
- Else it counts as *not stored*. For a memory that forgets (a window) that is exact. For one that rewrites what
  it is given the turn may sit in the store in fewer words and never have been brought up: there *not stored* is
  an upper bound, *stored but not retrieved* a lower one.

Where a memory recalls something that names no turn, missing evidence may be in it: that is a class of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec
import polars as pl

from memgauge.ledger.frames import Frames
from memgauge.metrics.answers import abstains
from memgauge.metrics.right import right
from memgauge.metrics.score import JUDGE, scores_frame_of

_strings = msgspec.json.Decoder(list[str]).decode
_lists = msgspec.json.Decoder(list[list[str]]).decode


class Cause(StrEnum):
    """Where the chain broke. NO_ANSWER and NO_VERDICT are neither right nor wrong, all others are wrong answers."""

    NOT_STORED = "evidence not stored"
    NOT_RETRIEVED = "stored but not retrieved"
    NOT_USED = "retrieved but not used"
    ANSWERED_ANYWAY = "unanswerable, answered anyway"
    JUDGE_ERROR = "judged wrong, though it is the gold"
    NO_EVIDENCE = "the question names no evidence"
    UNTRACED = "the memory does not say what it recalled"
    NO_VERDICT = "the judge gave no verdict"
    NO_ANSWER = "no answer: an error"


UNDECIDED = (Cause.NO_ANSWER, Cause.NO_VERDICT)


@dataclass(frozen=True, slots=True)
class Failed:
    """An answer that is not right, and why.

    ``abstained``: it said that the conversation does not tell, though it does. ``missing`` names the evidence
    turns that were not stored or not retrieved, whichever the cause is.
    """

    unit: int
    ordinal: int
    question: str
    category: str | None
    cause: Cause
    abstained: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """How many answers of one memory are right, wrong or undecided; ``causes`` has those that occur, by its words.

    ``abstained`` counts wrong answers to answerable questions that gave up instead of guessing, and
    ``abstained_with_evidence`` those of them that had all the evidence in their context. ``unscored`` questions
    have no gold.
    """

    right: int
    wrong: int
    undecided: int
    unscored: int
    causes: dict[str, int]
    abstained: int
    abstained_with_evidence: int


def failures(frames: Frames) -> tuple[Failed, ...]:
    """Every answer of a ledger that is not right, in the ledger's order."""
    units, answers = frames.units(), frames.answers()
    scores = scores_frame_of(answers, units, frames.table("verdicts"))
    return tuple(found for found in explained(units, answers, scores) if isinstance(found, Failed))


def explained(units: pl.DataFrame, answers: pl.DataFrame, scores: pl.DataFrame) -> Iterator[Failed | bool]:
    """For each answer why it is not right; True where it is, False where nothing says so (it has no gold)."""
    place = ["unit", "ordinal"]
    exact = scores.filter(pl.col("metric") == "exact_match").select(*place, exact="value")
    told = answers.join(right(answers, units, scores), on=place, maintain_order="left")
    told = told.join(exact, on=place, how="left", maintain_order="left")
    stores = {
        unit: _Store(whole=held is not None and written is not None and held >= written)
        for unit, held, written in units.select("unit", "store_tokens", "written_tokens").iter_rows()
    }
    rows = [_with_ids(row) for row in told.iter_rows(named=True)]
    for row in rows:
        stores[row["unit"]].brought_up |= row["recalled"]
    for row in rows:
        yield True if row["right"] else _why(row, stores[row["unit"]])


def count(found: Iterable[Failed | bool]) -> FailureCounts:
    """Adds up what ``explained`` found."""
    every = list(found)
    failed = [entry for entry in every if isinstance(entry, Failed)]
    causes = {cause.value: sum(entry.cause is cause for entry in failed) for cause in Cause}
    undecided = sum(causes[cause] for cause in UNDECIDED)
    return FailureCounts(
        right=sum(entry is True for entry in every),
        wrong=len(failed) - undecided,
        undecided=undecided,
        unscored=sum(entry is False for entry in every),
        causes={cause: number for cause, number in causes.items() if number},
        abstained=sum(entry.abstained for entry in failed),
        abstained_with_evidence=sum(entry.abstained and entry.cause is Cause.NOT_USED for entry in failed),
    )


@dataclass(slots=True)
class _Store:
    """What is known of a unit's store: whether it holds everything, and what its reads brought up."""

    whole: bool
    brought_up: set[str] = field(default_factory=set)


def _with_ids(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its ids read; ``untraced`` where something was recalled that names no turn, or nothing is known."""
    items = None if row["recalled"] is None else _lists(row["recalled"])
    return {
        **row,
        "evidence": _strings(row["evidence"]),
        "recalled": {turn for item in items or () for turn in item},
        "untraced": items is None or not all(items),
    }


def _why(row: Mapping[str, Any], store: _Store) -> Failed | bool:
    def failed(cause: Cause, missing: Iterable[str] = ()) -> Failed:
        gave_up = cause not in UNDECIDED and not row["unanswerable"] and abstains(row["answer"])
        return Failed(
            row["unit"], row["ordinal"], row["question"], row["category"], cause, gave_up, tuple(sorted(missing))
        )

    evidence, recalled = set(row["evidence"]), row["recalled"]
    if row["outcome"] != "ok":
        return failed(Cause.NO_ANSWER)
    if row["right"] is None:
        return failed(Cause.NO_VERDICT) if row["by"] == JUDGE else False
    if row["by"] == JUDGE and row["exact"]:
        return failed(Cause.JUDGE_ERROR)
    if row["unanswerable"]:
        return failed(Cause.ANSWERED_ANYWAY)
    if not evidence:
        return failed(Cause.NO_EVIDENCE)
    if evidence <= recalled:
        return failed(Cause.NOT_USED)
    if row["untraced"]:
        return failed(Cause.UNTRACED)
    lost = set() if store.whole else evidence - store.brought_up
    return failed(Cause.NOT_STORED, lost) if lost else failed(Cause.NOT_RETRIEVED, evidence - recalled)
