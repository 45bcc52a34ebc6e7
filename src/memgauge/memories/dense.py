"""Dense: every turn embedded, the nearest k recalled by exact cosine (paper 2, M1)."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.memories.nearest import Nearest
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
        self._k = k
        self._items: list[Item] = []
        self._nearest = Nearest(embedder)

    async def write(self, turns: Sequence[Turn]) -> None:
        """Embeds the turns in one call."""
        items = [Item.of(turn) for turn in turns]
        await self._nearest.add([item.text for item in items])
        self._items.extend(items)

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """Embeds the query and takes the nearest k turns; equal similarities go to the later turn."""
        best = [hit.place for hit in await self._nearest.nearest(query, self._k)]
        return Recalled(
            tuple(self._items[place] for place in sorted(best)),
            ranked=tuple(self._items[place].turn_ids for place in best),
        )

    async def manage(self) -> None:
        """Nothing to tidy."""

    def footprint(self) -> Footprint:
        """The turns and their float32 vectors."""
        return Footprint.of_text((item.text for item in self._items), self._nearest.bytes)

    async def close(self) -> None:
        """Forgets everything."""
        self._items.clear()
