"""OpenAI's API on loopback: what an outside product takes for its model server, with every call metered.

The API key that a product was given is its unit; with ``~manage`` behind it (``~write``, ``~read``) it also names
the stage, for what a product does by itself at any time. Decisions of ours are 4xx (401 key, 402 budget, 400 and 413
request, 404 route); faults of the upstream keep their status and body.
"""

import asyncio
import base64
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Any

import numpy as np
from aiohttp import web

from memgauge.backbones.base import ChatRequest, Json, Message, UpstreamError
from memgauge.backbones.wire import decode, encode
from memgauge.embedders.base import EmbedReply, Vectors
from memgauge.meter.meter import UnitMeter
from memgauge.meter.stops import Stop

_log = logging.getLogger(__name__)
_JSON = "application/json"
_FORMATS = ("float", "base64")

STAGE_MARK = "~"  # between a unit's key and a stage
STAGES = ("write", "manage", "read")  # those a memory works in; answering and judging are the harness's own


class Refusal(Exception):  # noqa: N818 - a decision of ours, not a fault
    """A request that is not carried out, as OpenAI's API would say it."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": None, "code": kind}}


class Gateway:
    """Serves the calls of all registered units on one port of 127.0.0.1."""

    def __init__(self, *, max_body_bytes: int = 64 << 20, grace_s: float = 5.0) -> None:
        """``grace_s`` is how long ``close`` waits for calls that are under way."""
        self._max_body_bytes = max_body_bytes
        self._grace_s = grace_s
        self._units: dict[bytes, UnitMeter] = {}
        self._runner: web.ServerRunner | None = None
        self._port: int | None = None
        self._requests = count(1)
        self._at_work: set[asyncio.Task[Any]] = set()
        self._routes: dict[tuple[str, str], Callable[[UnitMeter, web.BaseRequest], Awaitable[_Answer]]] = {
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/embeddings"): self._embed,
            ("GET", "/v1/models"): self._models,
        }

    @property
    def base_url(self) -> str:
        """What a product is given as the base URL of OpenAI's API."""
        if self._port is None:
            raise RuntimeError("the gateway has not been started")
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> None:
        """Begins to listen, on a port that the system chooses."""
        loop = asyncio.get_running_loop()
        request = partial(web.BaseRequest, loop=loop, client_max_size=self._max_body_bytes)
        # The bare server: three routes need neither aiohttp's router nor its middlewares.
        server = web.Server(self._handle, request_factory=request, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=self._grace_s)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]

    def register(self, unit: UnitMeter) -> None:
        """Lets the calls in that carry ``unit.key``."""
        self._units[_digest(unit.key)] = unit

    def unregister(self, unit: UnitMeter) -> None:
        """Shuts the calls out that carry ``unit.key``; those under way are finished."""
        self._units.pop(_digest(unit.key), None)

    async def close(self) -> None:
        """Stops listening and ends every connection; every call that was under way is recorded."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = self._port = None
        if self._at_work:  # for clients that are gone: the server knows nothing of them any more
            await asyncio.wait(self._at_work, timeout=self._grace_s)
            for late in self._at_work:
                late.cancel()
            await asyncio.gather(*self._at_work, return_exceptions=True)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        self._at_work.add(task)
        try:
            return await self._answered(request)
        finally:
            self._at_work.discard(task)

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            unit, stage = self._unit_of(request)
            route = self._routes.get((request.method, request.rel_url.raw_path.rstrip("/")))
            if route is None:
                raise Refusal(404, f"no such route: {request.method} {request.path}", "not_found")
            with unit.staged(stage) if stage else nullcontext():
                answer = await route(unit, request)
        except Exception as fault:
            answer = _failed(fault)
        if isinstance(answer, web.StreamResponse):
            return answer
        status, body = answer
        return web.Response(body=encode(body), status=status, content_type=_JSON, headers=self._mark())

    def _unit_of(self, request: web.BaseRequest) -> tuple[UnitMeter, str]:
        """The unit that the key belongs to, and the stage behind it, empty where there is none."""
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        key, mark, stage = given.partition(STAGE_MARK)
        unit = self._units.get(_digest(key))
        known = unit is not None and hmac.compare_digest(unit.key.encode(), key.encode(errors="replace"))
        if unit is None or not known or scheme.lower() != "bearer":
            raise Refusal(401, "the API key belongs to no open unit of this run", "invalid_api_key")
        if mark and stage not in STAGES:
            raise Refusal(401, f"the stage behind the API key must be one of {', '.join(STAGES)}", "invalid_api_key")
        return unit, stage

    async def _chat(self, unit: UnitMeter, request: web.BaseRequest) -> "_Answer":
        params = await _body(request)
        chat = ChatRequest(_messages(params.pop("messages", None)), params)
        options = params.pop("stream_options", None)
        if not params.pop("stream", False):
            return 200, (await unit.chat(chat)).raw
        wants_usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
        stream = _Stream(request, wants_usage, self._mark())
        try:
            await unit.chat(chat, stream.emit)
        except Exception as fault:
            if not stream.begun:
                raise
            return await stream.broken(_failed(fault)[1])
        return await stream.completed()

    async def _embed(self, unit: UnitMeter, request: web.BaseRequest) -> "_Answer":
        asked = await _body(request)
        texts = _texts(asked.pop("input", None))
        form = asked.pop("encoding_format", "float")
        if form not in _FORMATS:
            raise Refusal(400, f"encoding_format must be one of {', '.join(_FORMATS)}, not {form!r}")
        reply = await unit.embed(texts, asked)
        return 200, _embeddings(reply, asked.get("dimensions"), form)

    async def _models(self, unit: UnitMeter, request: web.BaseRequest) -> "_Answer":
        names = dict.fromkeys((unit.model, unit.embedding_model))
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "memgauge"} for name in names]
        return 200, {"object": "list", "data": data}

    def _mark(self) -> dict[str, str]:
        return {"x-request-id": f"mg-{next(self._requests)}"}


_Answer = tuple[int, Json] | web.StreamResponse


class _Stream:
    """A streamed reply on its way to the client.

    What completes it (finish reasons, usage, the end mark) is held back until the call is recorded. A client
    that goes away is written to no more; its call goes on, since it is charged for.
    """

    def __init__(self, request: web.BaseRequest, wants_usage: bool, headers: dict[str, str]) -> None:
        self._request = request
        self._wants_usage = wants_usage
        self._held: list[bytes] = []
        self._gone = False
        self._response = web.StreamResponse(headers={**headers, "Cache-Control": "no-cache"})
        self._response.content_type = "text/event-stream"

    @property
    def begun(self) -> bool:
        """Whether the client has been told that the call succeeds."""
        return self._response.prepared or self._gone

    async def emit(self, chunk: Mapping[str, Json]) -> None:
        """Takes one chunk from the meter."""
        choices = chunk.get("choices")
        if not choices and chunk.get("usage") is not None:
            if self._wants_usage:
                self._held.append(_event(encode(chunk)))
        elif any(choice.get("finish_reason") for choice in choices or ()):
            self._held.append(_event(encode(chunk)))
        else:
            await self._write(_event(encode(chunk)))

    async def completed(self) -> web.StreamResponse:
        """Hands on what was held back: the call is recorded."""
        await self._write(b"".join(self._held) + _event(b"[DONE]"))
        return self._response

    async def broken(self, body: Json) -> web.StreamResponse:
        """Ends the stream with an error, since its status is long gone out."""
        await self._write(_event(encode(body)))
        return self._response

    async def _write(self, data: bytes) -> None:
        if self._gone:
            return
        try:
            if not self._response.prepared:
                await self._response.prepare(self._request)
            await self._response.write(data)
        except ConnectionError:
            self._gone = True


def _failed(fault: Exception) -> tuple[int, Json]:
    """The status and body that tell a client of ``fault``, never more than it needs to know."""
    match fault:
        case UpstreamError() | Refusal():
            return fault.status, fault.body
        case Stop():
            return fault.status, Refusal(fault.status, str(fault), fault.kind).body
        case web.HTTPRequestEntityTooLarge():
            return 413, Refusal(413, "the request is larger than the gateway takes", "request_too_large").body
        case ConnectionError():  # the client went away before it had sent all
            return 400, Refusal(400, "the request is incomplete").body
        case _:
            _log.error("a call failed inside the gateway", exc_info=fault)
            return 500, Refusal(500, "memgauge failed on this call; see its log", "internal_error").body


async def _body(request: web.BaseRequest) -> dict[str, Any]:
    try:
        body = decode(await request.read())
    except ValueError as fault:
        raise Refusal(400, f"the request body is no JSON: {fault}") from None
    if not isinstance(body, dict):
        raise Refusal(400, "the request body must be a JSON object")
    return body


def _messages(raw: Json) -> tuple[Message, ...]:
    if not isinstance(raw, list) or not raw:
        raise Refusal(400, "messages must be a list of at least one message")
    for index, message in enumerate(raw):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Refusal(400, f"messages[{index}] must be an object with a role")
        content = message.get("content")
        if content is not None and not isinstance(content, (str, list)):
            raise Refusal(400, f"messages[{index}].content must be a string, a list of parts or null")
    return tuple(map(Message.from_wire, raw))


def _texts(raw: Json) -> list[str]:
    texts = [raw] if isinstance(raw, str) else raw
    if not isinstance(texts, list) or not texts:
        raise Refusal(400, "input must be a string or a list of at least one string")
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(
            400,
            "input must be text: token ids mean nothing to the run's embedding model"
            " (LangChain sends text with check_embedding_ctx_length=False)",
        )
    return texts


def _embeddings(reply: EmbedReply, dimensions: Json, form: str) -> Json:
    vectors = np.ascontiguousarray(_cut(reply.vectors, dimensions), "<f4")
    if form == "base64":
        served: list[Any] = [base64.b64encode(vector.tobytes()).decode() for vector in vectors]
    else:
        served = vectors.tolist()
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(served)]
    usage = {"prompt_tokens": reply.usage.embedding, "total_tokens": reply.usage.embedding}
    return {"object": "list", "data": data, "model": reply.model, "usage": usage}


def _cut(vectors: Vectors, dimensions: Json) -> Vectors:
    """Shortens vectors as OpenAI does: cut, and brought back to length one."""
    served = vectors.shape[1]
    if dimensions is None or dimensions == served:
        return vectors
    if not isinstance(dimensions, int) or not 0 < dimensions < served:
        raise Refusal(400, f"dimensions is {dimensions!r}, but the run's embedding model has {served}; ask for that")
    cut = vectors[:, :dimensions]
    norms = np.linalg.norm(cut, axis=1, keepdims=True)
    return (cut / np.where(norms == 0, 1, norms)).astype(np.float32)


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


def _digest(key: str) -> bytes:
    return sha256(key.encode(errors="replace")).digest()
