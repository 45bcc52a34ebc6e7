"""The protocol that every memory speaks, and what a memory says of itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol, runtime_checkable

from memgauge import tokens
from memgauge.conversation import Turn


@dataclass(frozen=True, slots=True)
class Card:
    """What a memory says of itself.

    ``paper_id`` is its name in the papers (``M1`` … ``M11``, ``floor``, ``ceiling``), ``write_every`` its ingest
    trigger in turns. A ``control`` bounds the table and competes with nobody. ``parallel_reads`` says that questions
    may be asked side by side: a read changes nothing that another read sees. ``version`` goes up with whatever
    changes what it costs or recalls: its prompts, its mechanism.
    """

    name: str
    title: str
    summary: str
    paper_id: str | None = None
    write_every: int = 1
    control: bool = False
    parallel_reads: bool = False
    version: int = 1


@dataclass(frozen=True, slots=True)
class Item:
    """One thing recalled: a block of text, and the ids of the turns that it came from.

    The text always ends in a line break (one is added), so that the blocks of a prompt stay apart.
    """

    text: str
    turn_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.text.endswith("\n"):
            object.__setattr__(self, "text", f"{self.text}\n")

    @classmethod
    def of(cls, turn: Turn) -> "Item":
        """The turn verbatim, as one line of the prompt."""
        return cls(turn.line(), (turn.id,))


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a read gives the generator: blocks of text in reading order.

    ``ranked`` orders the items' turn ids by the memory's own ranking, best first, for Recall@k and NDCG@k; where
    a memory ranks nothing it is the order of the items. ``dropped_turns`` counts the turns that a memory held but
    had to leave out because the backbone's window was full.
    """

    items: tuple[Item, ...] = ()
    ranked: tuple[tuple[str, ...], ...] | None = None
    dropped_turns: int = 0

    @classmethod
    def from_turns(cls, turns: Iterable[Turn], dropped_turns: int = 0) -> "Recalled":
        """The turns verbatim, one item each."""
        return cls(tuple(map(Item.of, turns)), dropped_turns=dropped_turns)


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a store holds: ``bytes`` needed to answer from another process, model ``tokens`` of its text."""

    bytes: int = 0
    tokens: int = 0

    @classmethod
    def of_text(cls, texts: Iterable[str], vector_bytes: int = 0) -> "Footprint":
        """The UTF-8 bytes and o200k tokens of ``texts``, plus the bytes of their vectors."""
        held = [tokens.sanitize(text) for text in texts]
        return cls(sum(len(text.encode()) for text in held) + vector_bytes, tokens.count_all(held))


@dataclass(frozen=True, slots=True)
class GatewayAccess:
    """For memories outside this process: where they find their models, and the key that is their unit.

    ``model`` and ``embedding_model`` are what answers whatever they ask for; ``embedding_dimensions`` is None
    where it shows only in the first vector. A call made with ``api_key`` and ``~manage`` (``~write``, ``~read``)
    behind it is charged to that stage, whatever the unit is at.
    """

    base_url: str
    api_key: str
    model: str
    embedding_model: str
    embedding_dimensions: int | None = None


@runtime_checkable
class Started(Protocol):
    """A memory with a process or a server of its own, which is started before anything is timed."""

    async def start(self) -> None:
        """Returns when the memory can be written to and read from."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong inside a memory that went on, in one line, and the model's ``reply`` behind it.

    ``turn_ids`` are the turns of which the memory holds nothing on that account.
    """

    what: str
    turn_ids: tuple[str, ...] = ()
    reply: str | None = None


@runtime_checkable
class Faulty(Protocol):
    """A memory outside this process that tells of its faults; ours note them where they happen (BackboneHandle)."""

    def faults(self) -> Sequence[Fault]:
        """Those since it was last asked, oldest first; asked for after every write, manage and read."""
        ...


@runtime_checkable
class Lossy(Protocol):
    """A memory that can lose what it is given without raising, as products do with a reply they cannot read."""

    def lost(self) -> str | None:
        """What was lost of what was written, and why, in one line; None where nothing was."""
        ...

    def all_lost(self) -> str | None:
        """Why nothing that was written is held; None where something is, or nothing was written."""
        ...


@runtime_checkable
class Stateful(Protocol):
    """A memory that can tell what drives its cost: stored facts, buffered tokens, generation, …"""

    def state(self) -> Mapping[str, float]:
        """The figures now; asked for after every write."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """For controls only: the turn ids that answer each question text of the unit's conversation."""

    of_question: Mapping[str, tuple[str, ...]]


class Memory(Protocol):
    """A system under test.

    A constructor asks for what it needs by parameter name: ``backbone`` (meter.handles.BackboneHandle),
    ``embedder`` (meter.handles.EmbedderHandle), ``context_tokens`` (tokens of recalled text that fit the
    backbone's window beside the answer prompt, or None where the window is not known), ``gateway``
    (GatewayAccess), ``directory`` (a Path of the unit's own, empty, removed when the unit is done) and, for
    controls only, ``evidence`` (Evidence). Every other parameter is an option that a spec may set.

    A memory whose requests hold what no two attempts have in common (the clock, random ids) may have a static method
    ``alike``, which gives a ChatRequest without it: requests that are alike are replayed for each other when a unit
    that died is played again. What is sent and recorded is the request as it is.
    """

    card: ClassVar[Card]

    async def write(self, turns: Sequence[Turn]) -> None:
        """Takes in turns, oldest first."""
        ...

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """Recalls what helps to answer ``query``, asked ``at`` that time where the source says when."""
        ...

    async def manage(self) -> None:
        """Tidies up (summarise, evolve, evict); called after every write."""
        ...

    def footprint(self) -> Footprint:
        """Size of the store now."""
        ...

    async def close(self) -> None:
        """Releases everything; the memory is not used afterwards."""
        ...
