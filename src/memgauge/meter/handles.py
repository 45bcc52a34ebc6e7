"""What a built-in memory holds of the models: handles bound to its unit, so that no call can go unmetered."""

from collections.abc import Sequence
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


class EmbedderHandle:
    """The embedder of a unit."""

    def __init__(self, unit: UnitMeter) -> None:
        self._unit = unit

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, shape (texts, dimensions)."""
        return (await self._unit.embed(texts)).vectors
