"""The memories that the skills have written: found by meaning, changed by edits, each with the turns behind it."""

from collections.abc import Iterable
from dataclasses import dataclass

from memgauge.embedders.base import Vectors
from memgauge.memories.nearest import Hit, Nearest
from memgauge.meter.handles import EmbedderHandle


@dataclass(frozen=True, slots=True)
class Remembered:
    """One memory. ``number`` is never given twice; ``skill`` is the name of the one that wrote it last."""

    number: int
    text: str
    turn_ids: tuple[str, ...]
    skill: str

    @property
    def line(self) -> str:
        """As it is shown to be edited."""
        return f"{self.number}. {self.text}\n"


class MemoryBank:
    """What is remembered now, oldest first. Changes are found by meaning from the next ``embed`` on."""

    def __init__(self, embedder: EmbedderHandle) -> None:
        self._nearest = Nearest(embedder)
        self._held: dict[int, Remembered] = {}
        self._last = 0  # numbers are places in the index, counted from 1
        self._changed: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def held(self) -> tuple[Remembered, ...]:
        """All of them."""
        return tuple(self._held.values())

    @property
    def vector_bytes(self) -> int:
        """What the vectors of what is held take; rows of what was deleted are no longer needed."""
        return len(self._held) * 4 * int(self._nearest.vectors.shape[1])

    def get(self, number: int) -> Remembered | None:
        """The memory of that number, unless it was deleted."""
        return self._held.get(number)

    def insert(self, text: str, turn_ids: Iterable[str], skill: str) -> Remembered:
        """A memory behind the others."""
        self._last += 1
        return self._put(Remembered(self._last, text, tuple(dict.fromkeys(turn_ids)), skill))

    def update(self, old: Remembered, text: str, turn_ids: Iterable[str], skill: str) -> Remembered:
        """The memory with another text, which is owed to further turns."""
        return self._put(Remembered(old.number, text, tuple(dict.fromkeys((*old.turn_ids, *turn_ids))), skill))

    def delete(self, old: Remembered) -> None:
        """Takes the memory out."""
        del self._held[old.number]

    async def embed(self) -> None:
        """Embeds what was changed in one call; where that gave nothing usable it is tried again with the next."""
        changed = [number for number in self._changed if number in self._held]
        await self._nearest.replace({number - 1: self._held[number].text for number in changed})
        embedded = self._nearest.vectors[[number - 1 for number in changed]].any()
        self._changed = {} if embedded else dict.fromkeys(changed)

    async def search(self, query: str, k: int) -> list[Remembered]:
        """The best ``k`` for a query, best first; one embedding call, none where nothing is held."""
        return self._of(await self._nearest.nearest(query, k + self._hidden), k) if self._held else []

    def nearest(self, vector: Vectors, k: int) -> list[Remembered]:
        """The same for a vector of length 1."""
        embedded = self._nearest.vectors.size > 0
        return self._of(self._nearest.nearest_to(vector, k + self._hidden) if embedded else (), k)

    @property
    def _hidden(self) -> int:
        """Rows of the index that stand for nothing: what was deleted, and what has no vector."""
        return self._last - len(self._held) + len(self._changed)

    def _put(self, memory: Remembered) -> Remembered:
        self._held[memory.number] = memory
        self._changed[memory.number] = None
        return memory

    def _of(self, hits: Iterable[Hit], k: int) -> list[Remembered]:
        """What is held of the hits; then, where room is left, what has no vector, newest first."""
        found = [hit.place + 1 for hit in hits if hit.place + 1 in self._held and hit.place + 1 not in self._changed]
        unfound = [number for number in reversed(self._changed) if number in self._held]
        return [self._held[number] for number in (*found, *unfound)[:k]]
