"""Nearest: texts found by the cosine of their embeddings, exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.backbones.base import UpstreamError
from memgauge.embedders.base import Vectors
from memgauge.meter.handles import EmbedderHandle


@dataclass(frozen=True, slots=True)
class Hit:
    """The ``place`` of a text, counted from 0 in the order they were added, and its cosine with the query."""

    place: int
    similarity: float


class Nearest:
    """An index that only grows. Rows are vectors of length 1.

    A text whose embedding came back unusable (of another width, not a number) has a row of zeros, with a fault in the
    ledger: it is held, and not found.
    """

    def __init__(self, embedder: EmbedderHandle) -> None:
        self._embedder = embedder
        self._rows: Vectors | None = None  # capacity doubles; rows beyond the held ones are unused
        self._held = 0

    def __len__(self) -> int:
        return self._held

    @property
    def vectors(self) -> Vectors:
        """Shape (texts, dimensions); (texts, 0) where no text was ever embedded."""
        return np.zeros((self._held, 0), np.float32) if self._rows is None else self._rows[: self._held]

    @property
    def bytes(self) -> int:
        """What the vectors take."""
        return self.vectors.nbytes

    async def add(self, texts: Sequence[str]) -> None:
        """Embeds the texts in one call, and appends them."""
        if texts:
            self._place(range(self._held, self._held + len(texts)), await self._rows_of(texts))

    async def replace(self, texts: Mapping[int, str]) -> None:
        """Embeds the texts in one call, and puts each in its place."""
        if texts:
            self._place(tuple(texts), await self._rows_of(tuple(texts.values())))

    async def nearest(self, query: str, k: int) -> list[Hit]:
        """Embeds the query; the best ``k``, best first, equal similarities to the later text.

        Raises UpstreamError where the query could not be embedded; makes no call where nothing is held.
        """
        if not self._held or self._rows is None:
            return []
        return self.nearest_to(unit_rows(await self._embedder.embed([query]))[0], k)

    def nearest_to(self, vector: Vectors, k: int) -> list[Hit]:
        """The same for a vector of length 1, without a call."""
        similarity = self.vectors @ vector
        best = np.lexsort((-np.arange(self._held), -similarity))[:k]
        return [Hit(int(place), float(similarity[place])) for place in best]

    async def _rows_of(self, texts: Sequence[str]) -> Vectors | None:
        return await usable_rows(self._embedder, texts, f"{len(texts)} texts were not embedded and cannot be found")

    def _place(self, places: Sequence[int], vectors: Vectors | None) -> None:
        needed = max(self._held, max(places) + 1)
        width = None if vectors is None else vectors.shape[1]
        if self._rows is None and width is not None:
            self._rows = np.zeros((max(64, 2 * needed), width), np.float32)
        if self._rows is not None and needed > len(self._rows):
            grown = np.zeros((2 * needed, self._rows.shape[1]), np.float32)
            grown[: self._held] = self._rows[: self._held]
            self._rows = grown
        self._held = needed
        if self._rows is not None:
            self._rows[list(places)] = 0 if vectors is None else vectors


async def usable_rows(embedder: EmbedderHandle, texts: Sequence[str], otherwise: str) -> Vectors | None:
    """The texts' vectors at length 1; None, with a fault that says ``otherwise`` and why, where they are unusable."""
    try:
        return unit_rows(await embedder.embed(texts))
    except UpstreamError as fault:
        if fault.kind != "malformed":
            raise
        embedder.fault(f"{otherwise}: {fault}")
        return None


def unit_rows(vectors: Vectors) -> Vectors:
    """The rows at length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
