"""Full history: the whole transcript, resent every turn (paper 1 §3.1, the ceiling of the cost surface; M10)."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Item, Recalled


class FullHistory:
    """Keeps every turn verbatim and recalls all of them, oldest first.

    No model call in any stage. Cost per turn grows with all that was said: p ≈ q ≈ 1 in the cost model. Where
    the transcript outgrows the backbone's window, whole oldest turns are left out and counted.
    """

    card: ClassVar[Card] = Card(
        name="full-history",
        title="Full history",
        summary="the whole transcript, resent every turn",
        paper_id="M10",
        parallel_reads=True,
    )

    def __init__(self, context_tokens: int | None = None) -> None:
        self._window = context_tokens
        self._items: list[Item] = []
        self._sizes: list[int] = []
        self._first = 0  # oldest turn that still fits
        self._tokens = 0  # of the turns from there on

    async def write(self, turns: Sequence[Turn]) -> None:
        """Appends, and moves the start of what fits."""
        for turn in turns:
            item = Item.of(turn)
            self._items.append(item)
            self._sizes.append(tokens.count(item.text))
            self._tokens += self._sizes[-1]
        while self._window is not None and self._tokens > self._window:
            self._tokens -= self._sizes[self._first]
            self._first += 1

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """Everything that fits the window."""
        return Recalled(tuple(self._items[self._first :]), dropped_turns=self._first)

    async def manage(self) -> None:
        """Nothing to tidy: truncation happens as turns arrive."""

    def footprint(self) -> Footprint:
        """All turns, those that no longer fit included."""
        return Footprint.of_text(item.text for item in self._items)

    async def close(self) -> None:
        """Forgets everything."""
        self._items.clear()
