"""The tasks of MemoryAgentBench: to which of its four splits a source belongs, and how its questions are put.

The rows hold bare questions; what kind of answer is wanted stands in the benchmark's prompts. It is said here in
words of our own, behind the question, so that a memory searches for the question first.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memgauge.errors import UserError

Split = Literal["AR", "TTL", "LRU", "CR"]

# Their scorers need more than an answer and a gold: a catalogue of films, and key points for a judge.
NOT_SCORED = ("recsys_redial", "infbench_sum")

_MARKER = re.compile(r"\bnow answer the question:", re.IGNORECASE)
_OUTPUT = re.compile(r"\boutput:\s*$", re.IGNORECASE)
_DATED = re.compile(r"current date:\s*(\d{4})/(\d{2})/(\d{2}) \(\w{3}\) (\d{2}):(\d{2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is put; ``time`` where the source dates it."""

    text: str
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """The sources whose names begin with ``prefix``."""

    prefix: str
    split: Split
    ask: Callable[[str], Asked]


def of(source: str) -> Task | None:
    """The task of a source; ``None`` for one that memgauge does not know or cannot score."""
    return next((task for task in TASKS if source.startswith(task.prefix)), None)


def _with(wanted: str) -> Callable[[str], Asked]:
    return lambda question: Asked(f"{question.strip()}\n{wanted}".strip())


def _as_it_is(question: str) -> Asked:
    return Asked(question.strip())


def _detective(question: str) -> Asked:
    """Only the question and its options: the source puts a worked example about another story before them."""
    own = _OUTPUT.sub("", _MARKER.split(question)[-1]).strip()
    return Asked(f"{own}\nGive the right option in full, with its letter.")


def _dated(question: str) -> Asked:
    """The source writes the date into the question."""
    match = _DATED.search(question)
    try:
        time = datetime(*map(int, match.groups())) if match else None  # type: ignore[arg-type]
    except ValueError:
        time = None
    return Asked(_MARKER.split(question)[-1].strip() if time else question.strip(), time)


TASKS = (
    Task("longmemeval", "AR", _dated),
    Task("eventqa", "AR", _with("Give the event that comes next, in the words in which it is offered.")),
    Task("ruler", "AR", _as_it_is),
    Task("detective_qa", "LRU", _detective),
    Task("icl_", "TTL", _with("Which label do the labelled examples give to such a text? Give its number alone.")),
    Task(
        "factconsolidation",
        "CR",
        _with("Go by the numbered facts alone, even where they are odd; where two clash, the higher number holds."),
    ),
)


def check_scored(source: str) -> None:
    """Raises UserError for a source that was asked for and cannot be scored."""
    if source.startswith(NOT_SCORED):
        raise UserError(f"workload 'memoryagentbench': {source!r} needs a scorer of its own, which memgauge lacks")
