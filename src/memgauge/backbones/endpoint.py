"""Any OpenAI-compatible server as a backbone: OpenRouter, vLLM, llama.cpp, Ollama, LM Studio."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from memgauge.backbones.base import ChatReply, ChatRequest, Emit, Json, Usage, emit_whole, text_of
from memgauge.backbones.check import check
from memgauge.backbones.connection import BrokenOff, Connection
from memgauge.backbones.faults import Fault, error_in, malformed, opened, together
from memgauge.backbones.http import Server
from memgauge.backbones.stream import DONE, Sum, events
from memgauge.backbones.wire import decode, encode

_PATH = "/chat/completions"
_LINGER_S = 0.1  # for the end of a stream after its [DONE]


class Endpoint:
    """A chat model behind ``base_url`` (which ends in ``/v1`` at most servers).

    A call is repeated where the server is overloaded, at fault or unreachable: when its own headers say, else
    after ``first_wait_s``, doubled each time, but never past ``max_wait_s`` of waiting in all. ``timeout_s``
    bounds one attempt. At most ``max_connections`` calls are under way at a time.
    """

    name = "endpoint"

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        paid: bool = True,
        window: int | None = None,
        timeout_s: float = 600,
        max_attempts: int = 5,
        max_connections: int = 64,
        first_wait_s: float = 0.5,
        max_wait_s: float = 300,
    ) -> None:
        self.model = model
        self.paid = paid
        self.window = window
        self._server = Server(
            base_url,
            api_key,
            timeout_s=timeout_s,
            max_attempts=max_attempts,
            max_connections=max_connections,
            first_wait_s=first_wait_s,
            max_wait_s=max_wait_s,
        )

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """Completes ``request``; streams where ``emit`` is given. Raises UpstreamError."""
        body = {"model": self.model, **request.body()}
        if emit is None:
            attempt = partial(self._whole, encode(body))
        else:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
            attempt = partial(self._streamed, encode(body), emit)
        reply, attempts, used = await self._server.persist(attempt)
        if attempts == 1:
            return reply
        return replace(reply, attempts=attempts, usage=together(used, reply.usage) or Usage())

    async def check(self) -> None:
        """Raises UserError, in one line, unless the server is there, takes the key and has the model."""
        await check(self._server, self.model, self._probe)

    async def close(self) -> None:
        """Closes all connections."""
        await self._server.close()

    async def _probe(self) -> None:
        request = ChatRequest.of("Say yes.", "Yes?", model=self.model, max_tokens=1)
        await self._whole(encode(request.body()))

    async def _whole(self, payload: bytes) -> ChatReply:
        started = time.perf_counter()
        raw, provider = await self._server.json("POST", _PATH, payload)
        return self._reply(raw, provider, time.perf_counter() - started)

    async def _streamed(self, payload: bytes, emit: Emit) -> ChatReply:
        started = time.perf_counter()
        async with self._server.request("POST", _PATH, payload) as answer:
            provider = answer.headers.get("x-provider")
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                raw, ttft_s = await _summed(answer, self._server.concealed, emit, started)
                return self._reply(raw, provider, time.perf_counter() - started, ttft_s)
            # A server, or a proxy before it, that cannot stream.
            raw = opened(self._server.concealed(await answer.read()), answer.headers)
            reply = self._reply(raw, provider, time.perf_counter() - started)
        await emit_whole(reply.raw, emit)
        return reply

    def _reply(
        self, raw: Mapping[str, Json], provider: str | None, latency_s: float, ttft_s: float | None = None
    ) -> ChatReply:
        """Reads a completion; raises a Fault where it has no message, or nothing but a filter's verdict."""
        usage = Usage.from_wire(raw.get("usage"))
        choices = raw.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise malformed("the server answered 200 with a completion that has no choices", usage)
        if choice.get("error"):  # OpenRouter: the provider failed half-way
            raise error_in({"error": choice["error"], "usage": raw.get("usage")}, {})
        text = text_of(message.get("content"))
        if choice.get("finish_reason") == "content_filter" and not text and not message.get("tool_calls"):
            reason = "the server's content filter kept the answer back"
            raise Fault(reason, status=400, kind="refused", usage=usage)
        return ChatReply(
            text=text,
            usage=usage,
            model=_word(raw.get("model")) or self.model,
            finish_reason=_word(choice.get("finish_reason")),
            provider=_word(raw.get("provider")) or provider,
            latency_s=latency_s,
            ttft_s=ttft_s,
            raw=raw,
        )


async def _summed(
    answer: Connection, concealed: Callable[[bytes], bytes], emit: Emit, started: float
) -> tuple[dict[str, Json], float | None]:
    """Emits a stream's chunks as they come; returns their sum and the time to the first token.

    A fault is worth another attempt only while nothing was emitted.
    """
    whole = Sum()
    ttft_s: float | None = None
    try:
        async for data in events(_pieces(answer)):
            if data == DONE:
                await _finished(answer)
                return whole.completion(), ttft_s
            chunk = _chunk(concealed(data))
            if chunk.get("error"):
                raise error_in(chunk, answer.headers)
            if _added(whole, chunk) and ttft_s is None:
                ttft_s = time.perf_counter() - started
            await emit(chunk)
        if not whole.finished:  # some servers leave [DONE] out; none leaves out why an answer ended
            raise malformed("the stream ended before the answer did")
    except Fault as fault:
        fault.again = fault.again and not whole.chunks
        if whole.usage is not None and fault.usage == Usage():
            fault.usage = Usage.from_wire(whole.usage)
        raise
    return whole.completion(), ttft_s


async def _finished(answer: Connection) -> None:
    """Reads the end of the body, so that the connection can be used again."""
    with suppress(TimeoutError, BrokenOff):
        async with asyncio.timeout(_LINGER_S):
            await answer.read()


async def _pieces(answer: Connection) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.pieces():
            yield piece
    except BrokenOff as fault:
        raise malformed(f"the stream broke off ({fault})") from fault


def _chunk(data: bytes) -> dict[str, Json]:
    try:
        chunk = decode(data)
    except ValueError:
        chunk = None
    if not isinstance(chunk, dict):
        raise malformed("the stream holds a chunk that is no JSON object")
    return chunk


def _added(whole: Sum, chunk: Mapping[str, Json]) -> bool:
    try:
        return whole.add(chunk)
    except (AttributeError, LookupError, TypeError, ValueError):
        raise malformed("the stream holds a chunk that is none of a completion") from None


def _word(value: Json) -> str | None:
    return value if isinstance(value, str) else None
