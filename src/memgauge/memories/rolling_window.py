"""Rolling window: the last k turns, nothing stored (paper 1 §3.1, the floor of the cost surface)."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Item, Recalled


class RollingWindow:
    """Keeps the last ``k`` turns verbatim and recalls all of them.

    No model call in any stage. Cost per turn is bounded by the window: q ≈ 0 in the cost model.
    """

    card: ClassVar[Card] = Card(
        name="rolling-window",
        title="Rolling window",
        summary="the last k turns, nothing else",
        paper_id="floor",
        parallel_reads=True,
    )

    def __init__(self, k: int = 10) -> None:
        self._items: deque[Item] = deque(maxlen=k)

    async def write(self, turns: Sequence[Turn]) -> None:
        """Appends; the oldest turn falls out."""
        self._items.extend(map(Item.of, turns))

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The window."""
        return Recalled(tuple(self._items))

    async def manage(self) -> None:
        """Nothing to tidy: the window forgets by itself."""

    def footprint(self) -> Footprint:
        """The window."""
        return Footprint.of_text(item.text for item in self._items)

    async def close(self) -> None:
        """Forgets everything."""
        self._items.clear()
