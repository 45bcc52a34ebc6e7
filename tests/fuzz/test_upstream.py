"""Whatever an upstream answers: a reply or an error, at once, and one row for every call."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgauge.backbones.base import ChatReply, ChatRequest, UpstreamError
from memgauge.backbones.endpoint import Endpoint
from memgauge.backbones.stream import Sum, events
from memgauge.embedders.endpoint import EndpointEmbedder
from memgauge.ledger.frames import Frames
from memgauge.ledger.verify import verify
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import new_ledger

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
COUNT = st.integers(-3, 1 << 66) | st.floats() | JSON
DETAILS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("cached_tokens", "cache_write_tokens", "reasoning_tokens"), COUNT)
)
VECTOR = st.fixed_dictionaries({}, optional={"index": COUNT, "embedding": JSON})
USAGE = JSON | st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": COUNT, "completion_tokens": COUNT,
        "prompt_tokens_details": JSON | DETAILS, "completion_tokens_details": JSON | DETAILS,
    },
)  # fmt: skip
TOOL_CALLS = st.lists(
    JSON | st.fixed_dictionaries({}, optional={"index": COUNT, "id": JSON, "function": JSON, "type": JSON}), max_size=3
)
TEXTS = st.fixed_dictionaries({}, optional={"role": JSON, "content": st.text() | JSON, "tool_calls": TOOL_CALLS | JSON})
CHOICE = JSON | st.fixed_dictionaries(
    {}, optional={"index": COUNT, "message": TEXTS | JSON, "delta": TEXTS | JSON, "finish_reason": st.text() | JSON,
                  "logprobs": JSON, "error": JSON},
)  # fmt: skip
ANSWER = JSON | st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(CHOICE, max_size=3) | JSON, "usage": USAGE, "model": JSON, "provider": JSON, "id": JSON,
        "error": JSON | st.fixed_dictionaries({}, optional={"message": JSON, "code": COUNT, "metadata": JSON}),
        "data": st.lists(JSON | VECTOR, max_size=3) | JSON,
    },
)  # fmt: skip
BODY = st.binary(max_size=100) | ANSWER.map(lambda value: json.dumps(value).encode())
STREAM = st.lists(ANSWER.map(json.dumps) | st.text(max_size=20) | st.just("[DONE]"), max_size=5).map(
    lambda lines: b"".join(f"data: {line}\n\n".encode(errors="replace") for line in lines)
)
STATUS = st.sampled_from([200, 200, 200, 201, 204, 301, 400, 401, 402, 403, 404, 413, 418, 500, 501, 599])


@asynccontextmanager
async def answering(head: bytes, body: bytes, *, cut: bool) -> AsyncIterator[str]:
    """A server that answers every request with these very bytes, and closes; its base URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in request.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            writer.write((head + body)[: -(len(body) // 2 + 1)] if cut else head + body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def _called(directory: Any, url: str, stream: bool) -> None:
    """A chat call and an embedding call to ``url``; each must end in a reply or an error, and in a row."""

    async def emit(chunk: Any) -> None:
        json.dumps(chunk)

    broke: list[str] = []
    endpoint = Endpoint(url, "m", first_wait_s=0.0001, max_attempts=2, max_wait_s=0.1)
    embedder = EndpointEmbedder(url, "e", first_wait_s=0.0001, max_attempts=2, max_wait_s=0.1)
    with new_ledger(directory / "ledger.sqlite") as ledger:
        unit = Meter(ledger, Setting(), endpoint, embedder).open(1, attempt=ledger.start_unit(1, 0.0))
        async with asyncio.timeout(20):
            for call in (unit.chat(ChatRequest.of("s", "u"), emit if stream else None), unit.embed(["a", "b"])):
                try:
                    reply = await call
                except UpstreamError as fault:
                    broke.append(str(fault))
                else:
                    assert isinstance(getattr(reply, "text", ""), str)
        assert not [words for words in broke if "the model failed" in words]
        again = Meter(ledger, Setting(), endpoint, embedder).open(1, attempt=ledger.start_unit(1, 0.0))
        for row in ledger.recorded_calls(1):  # what was taken for an answer can be replayed
            if row.kind == "chat":
                replayed = await again.chat(ChatRequest.of("s", "u"), emit)
                assert isinstance(replayed, ChatReply)
            else:
                await again.embed(["a", "b"])
    await endpoint.close()
    await embedder.close()
    calls = Frames(directory).table("calls")
    assert calls.height == 2
    assert not [finding for finding in verify(directory) if finding.wrong]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(STATUS, BODY, st.booleans(), st.booleans())
async def test_any_answer_is_a_reply_or_an_error(tmp_path_factory, status, body, stream, cut) -> None:  # type: ignore[no-untyped-def]
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with answering(head, body, cut=cut) as url:
        await _called(tmp_path_factory.mktemp("fuzz"), url, stream)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(STREAM | st.binary(max_size=100), st.booleans())
async def test_any_stream_is_a_reply_or_an_error(tmp_path_factory, body: bytes, cut: bool) -> None:  # type: ignore[no-untyped-def]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    async with answering(head, body, cut=cut) as url:
        await _called(tmp_path_factory.mktemp("fuzz"), url, True)


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200)
    | st.text(max_size=60).map(lambda text: f"HTTP/1.1 200 {text}\r\n{text}: {text}\r\n".encode())
)
async def test_what_is_no_http_is_an_error(tmp_path_factory, noise: bytes) -> None:  # type: ignore[no-untyped-def]
    async with answering(noise, b"\r\n", cut=False) as url:
        await _called(tmp_path_factory.mktemp("fuzz"), url, False)


@given(st.lists(JSON, max_size=6))
def test_any_chunk_is_added_or_refused(chunks: list[Any]) -> None:
    whole = Sum()
    for chunk in chunks:
        if isinstance(chunk, dict):
            try:
                whole.add(chunk)
            except (AttributeError, LookupError, TypeError, ValueError):
                break
    whole.completion()


@given(st.lists(st.binary(max_size=30), max_size=8))
async def test_events_are_the_same_wherever_the_bytes_are_cut(pieces: list[bytes]) -> None:
    async def as_they_are() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def at_once() -> AsyncIterator[bytes]:
        yield b"".join(pieces)

    assert [event async for event in events(as_they_are())] == [event async for event in events(at_once())]


async def test_an_endless_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from memgauge.backbones import connection

    monkeypatch.setattr(connection, "_LONGEST_ANSWER", 1 << 20)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    async with answering(head, b"x" * (4 << 20), cut=False) as url:
        with pytest.raises(UpstreamError, match="more than 1 MiB"):
            await Endpoint(url, "m").chat(ChatRequest.of("s", "u"))
