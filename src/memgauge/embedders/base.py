"""What an embedding model is to memgauge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memgauge.backbones.base import Usage

Vectors = NDArray[np.float32]  # shape (texts, dimensions)


@dataclass(frozen=True, slots=True)
class EmbedReply:
    """One vector per text, in order, as served; ``usage.embedding`` is the tokens read."""

    vectors: Vectors
    usage: Usage
    model: str
    provider: str | None = None
    attempts: int = 1
    latency_s: float | None = None


class Embedder(Protocol):
    """An embedding model. ``paid`` says whether a call may cost money."""

    name: str
    model: str
    paid: bool
    dimensions: int | None

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Embeds ``texts``. Raises memgauge.backbones.base.UpstreamError where no vectors could be had."""
        ...

    async def close(self) -> None:
        """Releases connections, threads and processes."""
        ...
