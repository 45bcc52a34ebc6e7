"""What a workload is: a named source of conversations, and the block of facts that says where they come from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge import tokens
from memgauge.backbones.base import Backbone
from memgauge.conversation import Cell, Conversation


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that a workload downloads: its name on disk, pinned address, SHA-256 in hex, and size.

    An ``optional`` file is needed by some options only, and is downloaded when it is asked for by name.
    """

    name: str
    url: str
    sha256: str
    bytes: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """What a workload says of itself: where it comes from, under which licence, and how it can be played.

    ``source`` is the page a reader would look at, ``revision`` the pinned version. ``protocols`` are the ways to
    play it, out of ``serve`` and ``recall``. ``files`` are what ``memgauge data fetch`` downloads; ``by_hand``
    says what the user has to bring where there is no pinned file.
    """

    name: str
    title: str
    summary: str
    source: str
    revision: str
    licence: str
    citation: str
    protocols: tuple[str, ...]
    files: tuple[DataFile, ...] = ()
    by_hand: str | None = None

    @property
    def required(self) -> tuple[DataFile, ...]:
        """The files without which it cannot be played."""
        return tuple(file for file in self.files if not file.optional)


@dataclass(frozen=True, slots=True)
class Outline:
    """The size of a conversation, which a plan needs before anything is spent.

    ``mean_turn_tokens`` counts the o200k tokens of the text alone, without speaker and time.
    """

    turns: int
    mean_turn_tokens: float
    questions: int
    cell: Cell | None = None

    @classmethod
    def of(cls, conversation: Conversation) -> "Outline":
        """The size of ``conversation``, counted."""
        turns = len(conversation.turns)
        total = tokens.count_all(turn.text for turn in conversation.turns)
        mean = total / turns if turns else 0.0
        return cls(turns, mean, len(conversation.questions), conversation.cell)


class Workload(ABC):
    """A source of conversations. The keyword parameters of a constructor are the options that a spec may set."""

    card: ClassVar[Card]

    @abstractmethod
    def items(self) -> Sequence[str]:
        """The ids of the conversations, in the order in which they are planned."""

    @abstractmethod
    def conversation(self, item: str) -> Conversation:
        """The conversation called ``item``; the same one at every call."""

    def outline(self, item: str) -> Outline:
        """The size of ``item``. A workload that knows it without making the conversation overrides this."""
        return Outline.of(self.conversation(item))

    async def prepare(self, writer: Backbone | None) -> None:  # noqa: B027
        """Makes ready what ``conversation`` needs; called once before a run. ``writer`` may be asked to write."""
