"""What a built-in memory holds of the models: handles bound to its unit, so that no call can go unmetered."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from memgauge.backbones.base import ChatReply, ChatRequest
from memgauge.embedders.base import Vectors
from memgauge.meter.meter import UnitMeter


class BackboneHandle:
    """The backbone of a unit."""

    def __init__(self, unit: UnitMeter) -> None:
        self._unit = unit

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Completes ``request``; the setting decides the model, effort, temperature and limits."""
        return await self._unit.chat(request)

    async def ask(self, system: str, *user: str, **params: Any) -> str:
        """The text that answers a system text and a user message made of ``user`` parts."""
        return (await self._unit.chat(ChatRequest.of(system, *user, **params))).text

    def detour(self, stage: str) -> AbstractContextManager[None]:
        """Charges what is done inside, calls and time, to ``stage`` of the turn at hand: work put off until now."""
        return self._unit.detour(stage)

    def fault(self, what: str, reply: str | None = None) -> None:
        """Enters what went wrong, such as a reply that the memory could not use; the memory goes on without it."""
        self._unit.fault(what, reply)


class EmbedderHandle:
    """The embedder of a unit."""

    def __init__(self, unit: UnitMeter) -> None:
        self._unit = unit

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, shape (texts, dimensions).

        Raises UpstreamError, of kind ``malformed`` where the vectors are not of the width that others have.
        """
        return (await self._unit.embed(texts)).vectors

    def fault(self, what: str) -> None:
        """Enters what went wrong; the memory goes on without it."""
        self._unit.fault(what)
