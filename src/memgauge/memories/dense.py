"""Dense: every turn embedded, the nearest k recalled by exact cosine (paper 2, M1)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from memgauge.conversation import Turn
from memgauge.embedders.base import Vectors
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.meter.handles import EmbedderHandle


class Dense:
    """One embedding per turn at write, one per query at read; no other model call.

    Recalled turns stand in the order they were said, since a dialogue is read forwards; ``ranked`` keeps the order
    of similarity. Paper 2 leaves k open; ten follows the retrieval settings of paper 1 (appendix A).
    """

    card: ClassVar[Card] = Card(
        name="dense",
        title="Dense retrieval",
        summary="every turn embedded, the nearest k recalled",
        paper_id="M1",
        parallel_reads=True,
    )

    def __init__(self, embedder: EmbedderHandle, k: int = 10) -> None:
        self._embedder = embedder
        self._k = k
        self._items: list[Item] = []
        self._vectors: Vectors | None = None  # capacity doubles; rows beyond len(items) are unused

    async def write(self, turns: Sequence[Turn]) -> None:
        """Embeds the turns in one call."""
        items = [Item.of(turn) for turn in turns]
        vectors = _unit(await self._embedder.embed([item.text for item in items]))
        held, needed = len(self._items), len(self._items) + len(items)
        if self._vectors is None or needed > len(self._vectors):
            grown = np.zeros((max(64, 2 * needed), vectors.shape[1]), np.float32)
            if self._vectors is not None:
                grown[:held] = self._vectors[:held]
            self._vectors = grown
        self._vectors[held:needed] = vectors
        self._items.extend(items)

    async def read(self, query: str) -> Recalled:
        """Embeds the query and takes the nearest k turns; equal similarities go to the later turn."""
        if self._vectors is None:
            return Recalled()
        held = len(self._items)
        similarity = self._vectors[:held] @ _unit(await self._embedder.embed([query]))[0]
        best = np.lexsort((-np.arange(held), -similarity))[: self._k]
        return Recalled(
            tuple(self._items[i] for i in sorted(best)),
            ranked=tuple(self._items[i].turn_ids for i in best),
        )

    async def manage(self) -> None:
        """Nothing to tidy."""

    def footprint(self) -> Footprint:
        """The turns and their float32 vectors."""
        width = 0 if self._vectors is None else self._vectors.shape[1]
        return Footprint.of_text((item.text for item in self._items), 4 * width * len(self._items))

    async def close(self) -> None:
        """Forgets everything."""
        self._items.clear()
        self._vectors = None


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
