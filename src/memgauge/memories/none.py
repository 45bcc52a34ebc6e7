"""No memory: the model answers from the turn alone (a control: what chance and world knowledge give)."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Recalled


class NoMemory:
    """Keeps nothing and recalls nothing."""

    card: ClassVar[Card] = Card(
        name="none",
        title="No memory",
        summary="keeps nothing; what chance and world knowledge give",
        control=True,
        parallel_reads=True,
    )

    async def write(self, turns: Sequence[Turn]) -> None:
        """Forgets the turns at once."""

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """Nothing."""
        return Recalled()

    async def manage(self) -> None:
        """Nothing to tidy."""

    def footprint(self) -> Footprint:
        """Zero."""
        return Footprint()

    async def close(self) -> None:
        """Nothing to release."""
