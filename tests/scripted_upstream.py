"""An OpenAI-compatible server that does what a test tells it to, and keeps its own log of what it served.

Its tokens are words, counted here and nowhere else, so that a ledger can be held against an independent log.
"""

import asyncio
import base64
import json
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

MODEL = "scripted-1"
EMBEDDING_MODEL = "scripted-embed"
KEY = "sk-upstream"


@dataclass(frozen=True)
class Tokens:
    """What the upstream charges for one request, each class as OpenAI counts it."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    embedding: int = 0


@dataclass(frozen=True)
class Say:
    """Answers with ``text``, one word a chunk where it is streamed."""

    text: str = "Bello is a dog"
    tool_calls: Sequence[Mapping[str, Any]] = ()
    finish_reason: str = "stop"
    reasoning: int = 0
    wait_s: float = 0.0  # before the first byte
    pace_s: float = 0.0  # before every chunk but the first
    cut_after: int | None = None  # chunks, after which the connection is dropped
    choices: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)  # further fields of the body
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fail:
    """Answers with a status and an error body; with ``charged``, it reports that this cost tokens."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    charged: Tokens | None = None


@dataclass(frozen=True)
class Send:
    """Answers with these very bytes."""

    body: bytes
    content_type: str = "text/html"
    status: int = 200


@dataclass(frozen=True)
class HangUp:
    """Drops the connection before the first byte."""


Step = Say | Fail | Send | HangUp


@dataclass(frozen=True)
class Served:
    """One request as the upstream saw it, and what it charged."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    tokens: Tokens


class ScriptedUpstream:
    """Follows its script, one step a request; without one it answers everything."""

    def __init__(self, *, models: Sequence[str] | None = (MODEL, EMBEDDING_MODEL), dimensions: int = 4) -> None:
        self.log: list[Served] = []
        self.models = models
        self.dimensions = dimensions
        self.connections: set[Any] = set()  # the client's address of every connection
        self._steps: deque[Step] = deque()
        self._runner: web.AppRunner | None = None
        self.base_url = ""

    def script(self, *steps: Step) -> None:
        """Appends steps for the requests to come."""
        self._steps.extend(steps)

    def charged(self, name: str) -> int:
        """The sum of one class of tokens over everything served."""
        return sum(getattr(served.tokens, name) for served in self.log)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_get("/v1/models", self._list)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return _error(401, "Incorrect API key provided")
        if not body["messages"]:
            return _error(400, "messages is empty")
        step = self._steps.popleft() if self._steps else Say()
        words = sum(len(json.dumps(message.get("content")).split()) for message in body["messages"])
        spoken = len(step.text.split()) + 3 * len(step.tool_calls) if isinstance(step, Say) else 0
        reasoning = step.reasoning if isinstance(step, Say) else 0
        tokens = Tokens(words + 3, (words + 3) // 4, spoken + reasoning, reasoning)
        if not isinstance(step, Say):
            return await self._misbehave(request, body, step)
        await asyncio.sleep(step.wait_s)
        self._note(request, body, tokens)
        usage = _usage(tokens)
        head = {"id": "chatcmpl-1", "created": 1_790_000_000, "model": MODEL, **step.extra}
        if not body.get("stream"):
            message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
            if step.tool_calls:
                message["tool_calls"] = list(step.tool_calls)
            choice = {"index": 0, "message": message, "finish_reason": step.finish_reason}
            whole = {**head, "object": "chat.completion", "choices": [choice] if step.choices else []}
            return web.json_response({**whole, "usage": usage}, headers=step.headers)
        return await self._stream(request, step, head, usage if "stream_options" in body else None)

    async def _stream(
        self, request: web.Request, step: Say, head: Mapping[str, Any], usage: Mapping[str, Any] | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **step.headers})
        await response.prepare(request)
        await response.write(b": still thinking\n\n")
        words = step.text.split(" ") if step.text else []
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": word if i == 0 else f" {word}"} for i, word in enumerate(words)]
        for index, call in enumerate(step.tool_calls):
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            begin = {"id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
            deltas.append({"tool_calls": [{"index": index, **begin}]})
            for half in (arguments[:5], arguments[5:]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": half}}]})
        chunks = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
        chunks.append([{"index": 0, "delta": {}, "finish_reason": step.finish_reason}])
        for sent, choices in enumerate(chunks):
            if sent == step.cut_after:
                _drop(request)
                return response
            if sent:
                await asyncio.sleep(step.pace_s)
            chunk = {**head, "object": "chat.completion.chunk", "choices": choices}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        if usage is not None:
            chunk = {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        if step.cut_after == len(chunks):
            _drop(request)
            return response
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        step = self._steps.popleft() if self._steps else Say()
        if not isinstance(step, Say):
            return await self._misbehave(request, body, step)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        tokens = Tokens(embedding=sum(len(text.split()) for text in texts))
        self._note(request, body, tokens)
        served = []
        for index, text in enumerate(texts):
            vector = [float(len(text)), *(0.5 for _ in range(self.dimensions - 1))]
            packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            embedding = packed if body.get("encoding_format") == "base64" else vector
            served.append({"object": "embedding", "index": index, "embedding": embedding})
        usage = {"prompt_tokens": tokens.embedding, "total_tokens": tokens.embedding}
        reply = {"object": "list", "data": served[::-1], "model": EMBEDDING_MODEL, "usage": usage}
        return web.json_response({**reply, **step.extra})

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if self.models is None:
            return web.Response(status=404, text="not found")
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.models]})

    async def _misbehave(self, request: web.Request, body: Any, step: Fail | Send | HangUp) -> web.Response:
        charged = step.charged if isinstance(step, Fail) else None
        self._note(request, body, charged or Tokens())
        if isinstance(step, HangUp):
            _drop(request)
            return web.Response()
        if isinstance(step, Send):
            return web.Response(body=step.body, content_type=step.content_type, status=step.status)
        told = step.body or {"error": {"message": f"scripted {step.status}", "type": "scripted"}}
        if charged is not None:
            told = {**told, "usage": _usage(charged)}
        return web.json_response(told, status=step.status, headers=step.headers)

    def _note(self, request: web.Request, body: Mapping[str, Any], tokens: Tokens) -> None:
        assert request.transport is not None
        self.connections.add(request.transport.get_extra_info("peername"))
        self.log.append(Served(request.path, body, dict(request.headers), tokens))


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)


def _drop(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()
