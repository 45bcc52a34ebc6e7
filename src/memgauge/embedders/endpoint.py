"""Any OpenAI-compatible server as an embedder."""

import base64
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from memgauge.backbones.base import Json, Usage
from memgauge.backbones.check import check
from memgauge.backbones.faults import malformed, together
from memgauge.backbones.http import Server
from memgauge.backbones.wire import encode
from memgauge.embedders.base import EmbedReply, Vectors


class EndpointEmbedder:
    """An embedding model behind ``base_url``.

    ``dimensions`` is asked of the server where it is given, and learnt from the first reply where it is not.
    For the waits see memgauge.backbones.endpoint.Endpoint.
    """

    name = "endpoint"

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dimensions: int | None = None,
        *,
        paid: bool = True,
        timeout_s: float = 600,
        max_attempts: int = 5,
        max_connections: int = 64,
        first_wait_s: float = 0.5,
        max_wait_s: float = 300,
    ) -> None:
        self.model = model
        self.paid = paid
        self.dimensions = dimensions
        self._asked = {} if dimensions is None else {"dimensions": dimensions}
        self._server = Server(
            base_url,
            api_key,
            timeout_s=timeout_s,
            max_attempts=max_attempts,
            max_connections=max_connections,
            first_wait_s=first_wait_s,
            max_wait_s=max_wait_s,
        )

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Embeds ``texts`` in one request. Raises UpstreamError."""
        body = {"model": self.model, "input": list(texts), "encoding_format": "float", **self._asked}
        attempt = partial(self._once, encode(body), len(texts))
        reply, attempts, used = await self._server.persist(attempt)
        self.dimensions = self.dimensions or reply.vectors.shape[1]
        if attempts == 1:
            return reply
        return replace(reply, attempts=attempts, usage=together(used, reply.usage) or Usage())

    async def check(self) -> None:
        """Raises UserError, in one line, unless the server is there, takes the key and has the model."""
        await check(self._server, self.model, partial(self.embed, ["yes"]))

    async def close(self) -> None:
        """Closes all connections."""
        await self._server.close()

    async def _once(self, payload: bytes, texts: int) -> EmbedReply:
        started = time.perf_counter()
        raw, provider = await self._server.json("POST", "/embeddings", payload)
        latency_s = time.perf_counter() - started
        usage = raw.get("usage")
        read = Usage.from_wire(usage).input if isinstance(usage, dict) else None
        used = Usage(embedding=read)
        return EmbedReply(
            vectors=_vectors(raw.get("data"), texts, used),
            usage=used,
            model=_word(raw.get("model")) or self.model,
            provider=_word(raw.get("provider")) or provider,
            latency_s=latency_s,
        )


def _vectors(data: Json, texts: int, used: Usage) -> Vectors:
    """Reads the vectors in the order of their texts, as numbers or as base64 of float32, little endian."""
    try:
        ordered = sorted(data, key=lambda entry: entry["index"])
        vectors = np.stack([_vector(entry["embedding"]) for entry in ordered])
    except (LookupError, TypeError, ValueError) as fault:
        raise malformed("the server answered 200 with embeddings that cannot be read", used) from fault
    if [entry["index"] for entry in ordered] != list(range(texts)) or not np.isfinite(vectors).all():
        raise malformed(f"the server answered 200 with {len(ordered)} embeddings for {texts} texts", used)
    return vectors


def _word(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _vector(embedding: Json) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), "<f4").astype(np.float32)
    vector = np.asarray(embedding, np.float32)
    if vector.ndim != 1 or not len(vector):
        raise ValueError("no vector")
    return vector
