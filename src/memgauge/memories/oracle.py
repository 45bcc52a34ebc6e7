"""Oracle: recalls exactly the turns that hold the answer (a control: what a perfect retrieval would give)."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from memgauge.conversation import Turn
from memgauge.memories.base import Card, Evidence, Footprint, Recalled


class Oracle:
    """Is told the gold evidence of every question, and recalls it in the order it was said.

    What is no question of the conversation, such as a turn of a served dialogue, recalls nothing.
    """

    card: ClassVar[Card] = Card(
        name="oracle",
        title="Oracle",
        summary="recalls exactly the gold evidence; what a perfect retrieval would give",
        control=True,
        parallel_reads=True,
    )

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._turns: dict[str, Turn] = {}

    async def write(self, turns: Sequence[Turn]) -> None:
        """Keeps the turns by id."""
        self._turns.update((turn.id, turn) for turn in turns)

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The evidence of the question, as far as it was written."""
        wanted = set(self._evidence.of_question.get(query, ()))
        return Recalled.from_turns(turn for turn in self._turns.values() if turn.id in wanted)

    async def manage(self) -> None:
        """Nothing to tidy."""

    def footprint(self) -> Footprint:
        """All turns."""
        return Footprint.of_text(turn.text for turn in self._turns.values())

    async def close(self) -> None:
        """Forgets everything."""
        self._turns.clear()
