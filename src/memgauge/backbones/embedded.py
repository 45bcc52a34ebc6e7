"""Embedded: a real small instruct model on the CPU, from packages alone, without key or network service.

It proves the pipeline with real tokens, a real prompt cache and real latency; with 135 million parameters it is no
basis for a claim about answer quality. Tools are ignored: its chat template has none.
"""

import asyncio
import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import cached_property
from importlib import metadata
from typing import Any

from memgauge import install, tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Emit, Json, UpstreamError, Usage, completion
from memgauge.errors import UserError

_TRAINED_WINDOW = 8192
# What routes a request or asks for another model: the harness's business, and without meaning to llama.cpp.
_NOT_OURS = frozenset({"model", "provider", "reasoning", "reasoning_effort", "stream", "stream_options", "user"})


class Embedded:
    """SmolLM2-135M-Instruct (Q4_1, Apache-2.0) in this process, over llama.cpp.

    The model is loaded at the first call. Calls are answered one at a time, in the order they came. ``threads``
    is for reading and writing alike; without it both follow the number of cores.
    """

    name = "embedded"
    model = "smollm2-135m-instruct-q4_1"
    paid = False

    def __init__(self, window: int = _TRAINED_WINDOW, threads: int | None = None) -> None:
        install.require("xllamacpp")
        if not 0 < window <= _TRAINED_WINDOW:
            raise UserError(f"the embedded model's window is 1 to {_TRAINED_WINDOW} tokens, not {window}")
        self.window: int | None = window
        self.api_key = secrets.token_hex(16)
        self._context = window
        self._threads = threads
        self._weights = install.SMOLLM2.locate()
        self._closed = threading.Event()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="embedded")

    @property
    def base_url(self) -> str:
        """Where the runtime's own OpenAI-compatible server listens, on loopback; loads the model."""
        return f"{self._worker.submit(lambda: self._server).result().listening_address}/v1"

    def provenance(self) -> dict[str, str]:
        """What answered: the runtime's version, the file of weights and its SHA-256 as it is on disk now."""
        with self._weights.open("rb") as weights:
            digest = hashlib.file_digest(weights, "sha256").hexdigest()
        return {
            "runtime": f"xllamacpp {metadata.version('xllamacpp')}",
            "weights": self._weights.name,
            "sha256": digest,
        }

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """Completes ``request``.

        At temperature 0 a request has one reply, whatever went before it; how much of its prompt was cached
        depends on the calls before it, whichever unit made them.
        """
        started, first = time.perf_counter(), None
        body = _body(request)
        reply_id = f"chatcmpl-{hashlib.sha256(body.encode()).hexdigest()[:24]}"
        texts: list[str] = []
        logprobs: list[Json] = []
        finish, usage = None, None
        async with aclosing(self._chunks(body)) as chunks:
            async for chunk in chunks:
                for choice in chunk["choices"]:
                    if content := choice["delta"].get("content"):
                        first = first or time.perf_counter()
                        texts.append(content)
                    logprobs += (choice.get("logprobs") or {}).get("content") or ()
                    finish = choice["finish_reason"] or finish
                usage = chunk.get("usage", usage)
                if emit is not None:
                    await emit(_own_chunk(chunk, reply_id, self.model))
        if finish is None or usage is None:
            raise UpstreamError("the embedded model was stopped", status=503, kind="connection")
        text = "".join(texts)
        raw = completion(reply_id, self.model, {"content": text}, finish, usage)
        if logprobs:
            raw["choices"][0]["logprobs"] = {"content": logprobs}
        ttft_s = first - started if first is not None else None
        return ChatReply(text, Usage.from_wire(usage), self.model, finish, ttft_s=ttft_s, raw=raw)

    async def close(self) -> None:
        """Breaks off what is being written, stops the runtime and lets its thread go."""
        self._closed.set()
        await asyncio.to_thread(self._shut)

    async def _chunks(self, body: str) -> AsyncGenerator[dict[str, Json]]:
        """What the runtime streams for ``body``; leaving the iterator stops the runtime's work on it."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        left = threading.Event()

        def take(chunk: str) -> bool:
            """Runs in the worker; a true answer stops the runtime."""
            if left.is_set() or self._closed.is_set():
                return True
            loop.call_soon_threadsafe(queue.put_nowait, chunk)
            return False

        work = loop.run_in_executor(self._worker, self._complete, body, take)
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (text := await queue.get()) is not None:
                chunk = json.loads(text)
                if "error" in chunk:
                    raise _refusal(chunk["error"])
                if "prompt_progress" not in chunk:
                    yield chunk
            await work
        finally:
            left.set()
            work.cancel()

    def _complete(self, body: str, take: Callable[[str], bool]) -> None:
        try:
            self._server.handle_chat_completions(body, take)
        except ValueError as fault:  # a malformed message, parameter or schema
            raise UpstreamError(str(fault), status=400) from None
        except RuntimeError as fault:
            raise UpstreamError(f"the embedded model failed: {fault}", status=500) from fault

    @cached_property
    def _server(self) -> Any:
        # On cores that others use too, OpenMP's spinning makes two threads slower than one; must be set before
        # the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import xllamacpp

        cores = os.cpu_count() or 1
        params = xllamacpp.CommonParams()
        params.model.path = str(self._weights)
        params.n_parallel = 1
        params.n_ctx = self._context
        # Flash attention rounds differently by batch, so that a reply would depend on what happened to be cached.
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.n_batch = 512  # a call that was given up is noticed between batches
        params.cpuparams.n_threads = self._threads or max(1, min(4, cores // 2))
        params.cpuparams_batch.n_threads = self._threads or min(8, cores)
        params.cache_ram_mib = 256  # the runtime's default lets its prompt cache grow to 8 GiB
        params.api_keys = [self.api_key]
        params.ui = False
        params.warmup = False
        params.verbosity = 0
        return xllamacpp.Server(params)

    def _shut(self) -> None:
        self._worker.shutdown(cancel_futures=True)
        self.__dict__.pop("_server", None)


def _body(request: ChatRequest) -> str:
    """The request as the runtime takes it: always a stream, which can be broken off, even while it reads."""
    ours = {key: value for key, value in request.body().items() if key not in _NOT_OURS}
    stream = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
    return tokens.sanitize(json.dumps(ours | stream, ensure_ascii=False))


def _own_chunk(chunk: Mapping[str, Json], reply_id: str, model: str) -> dict[str, Json]:
    """The chunk without what differs from run to run (times, random id) or names this machine's files."""
    own = {"id": reply_id, "object": "chat.completion.chunk", "created": 0, "model": model}
    return own | {key: chunk[key] for key in ("choices", "usage") if key in chunk}


def _refusal(error: Mapping[str, Json]) -> UpstreamError:
    kind = "context" if error.get("type") == "exceed_context_size_error" else "http"
    return UpstreamError(str(error.get("message")), status=int(error.get("code", 500)), kind=kind)
