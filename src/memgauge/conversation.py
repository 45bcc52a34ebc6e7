"""What is replayed: turns, questions about them, and the conversation that holds both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

# The answer to a question that the conversation does not answer, in the words LoCoMo's scorer looks for.
ABSTENTION = "No information available."

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a dialogue.

    ``id`` is unique in its conversation, ``time`` is when it was said (``None`` where the source has no dates),
    ``session`` names the sitting it belongs to (``None`` where the source knows no sessions).
    """

    id: str
    speaker: str
    text: str
    time: datetime | None = None
    session: str | None = None

    def line(self) -> str:
        """The turn as one block of a prompt, ending in a line break: ``[8 May 2023, 13:56] Ann: Hello\\n``."""
        stamp = f"[{spoken(self.time)}] " if self.time else ""
        return f"{stamp}{self.speaker}: {self.text}\n"


@dataclass(frozen=True, slots=True)
class Question:
    """Something asked about a conversation after it was written.

    ``answers`` are the accepted golds, any of which is right. ``evidence`` holds the ids of the turns that
    contain the answer (empty where the source names none). ``unanswerable`` marks a question whose right answer
    is that the conversation does not say; ``trap`` is then the wrong answer that the source invites.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    category: str | None = None
    evidence: tuple[str, ...] = ()
    time: datetime | None = None
    unanswerable: bool = False
    trap: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A point of the cost grid: ``turns`` messages (N) of ``tokens`` o200k tokens each (L)."""

    turns: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in the order they were said, and the questions asked about them.

    ``cell`` is set where the conversation was made for a point of the cost grid. ``anomalies`` counts, by kind,
    what the loader found wrong in the source and how often it mended or dropped it.
    """

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...] = ()
    cell: Cell | None = None
    anomalies: Mapping[str, int] = field(default_factory=dict)


def spoken(time: datetime) -> str:
    """A date and time as a person writes it, whatever the locale: ``8 May 2023, 13:56``; at midnight the date alone."""
    date = f"{time.day} {_MONTHS[time.month - 1]} {time.year}"
    return f"{date}, {time:%H:%M}" if time.hour or time.minute else date
