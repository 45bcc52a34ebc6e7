"""Hashing: vectors without a model, from hashed words and letter trigrams; for tests and cost mechanics only."""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memgauge import tokens
from memgauge.backbones.base import Usage
from memgauge.embedders.base import EmbedReply, Vectors

_WORD = re.compile(r"\w+")


class Hashing:
    """Feature hashing (Weinberger et al. 2009): texts that share words, or parts of words, lie close.

    No real model: it knows no synonym, and figures got with it say nothing about retrieval quality. Vectors are
    of length 1; a text without any word is the zero vector.
    """

    name = "hashing"
    paid = False

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions: int | None = dimensions
        self.model = f"hashing-{dimensions}"
        self._size = dimensions

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Embeds ``texts``; ``usage.embedding`` is their o200k tokens."""
        vectors = np.zeros((len(texts), self._size), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            self._fill(vector, text)
        usage = Usage(embedding=tokens.count_all(texts), source="tokenizer")
        return EmbedReply(vectors, usage, self.model)

    async def close(self) -> None:
        """Nothing is held."""

    def _fill(self, vector: Vectors, text: str) -> None:
        for word in _WORD.findall(text.lower()):
            for code, weight in _features(word):
                vector[code % self._size] += weight if code >> 31 else -weight
        length = float(np.linalg.norm(vector))
        if length:
            vector /= length


@lru_cache(maxsize=1 << 14)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Hash and weight of the word and of its letter trigrams, which add up to a vector as long as the word's."""
    framed = f"<{word}>"
    trigrams = [framed[i : i + 3] for i in range(len(framed) - 2)]
    parts = [(word, 1.0), *((trigram, len(trigrams) ** -0.5) for trigram in trigrams)]
    return tuple((zlib.crc32(tokens.sanitize(part).encode()), weight) for part, weight in parts)
