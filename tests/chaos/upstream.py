"""An OpenAI-compatible server in a process of its own: the same answer to the same request, and a log of its charges.

Run as: python upstream.py LOG LATENCY_S [FAULTS]. Prints its port, and when its input is closed what it served. Every
request that it charges for is a line of the log before its answer goes out. FAULTS is the share of requests that it
spoils instead, each kind in turn.
"""

import asyncio
import hashlib
import itertools
import json
import logging
import os
import random
import sys
from typing import Any

from aiohttp import web

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "juniper", "knoll", "larch",
         "maple", "nettle", "oak", "pine")  # fmt: skip
DIMENSIONS = 16
FAULTS = ("429", "429 later", "500", "503", "hang up", "html", "cut", "empty", "no usage", "impossible usage", "filter",
          "truncated", "other model")  # fmt: skip


class Upstream:
    """Answers, charges and misbehaves."""

    def __init__(self, log: int, latency_s: float, faults: float) -> None:
        self._log = log
        self._latency_s = latency_s
        self._faults = faults
        self._kinds = itertools.cycle(FAULTS)
        self._random = random.Random(7)
        # Requests of any kind, tokens charged for, and those of them that the usage of an answer tells of.
        self.served = {"requests": 0, "read": 0, "written": 0, "read_told": 0, "written_told": 0}

    async def chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        if not body["messages"]:
            return web.json_response({"error": {"message": "messages is empty"}}, status=400)
        self.served["requests"] += 1
        await asyncio.sleep(self._latency_s * self._random.uniform(0.5, 1.5))
        fault = next(self._kinds) if self._random.random() < self._faults else None
        if fault in ("429", "429 later", "500", "503", "hang up"):
            return self._refused(request, fault)
        digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).digest()
        text = "" if fault == "filter" else " ".join(WORDS[byte % 16] for byte in digest[:4])
        prompt = sum(len(json.dumps(message.get("content")).split()) for message in body["messages"])
        usage: dict[str, Any] | None = {
            "prompt_tokens": prompt, "completion_tokens": len(text.split()),
            "prompt_tokens_details": {"cached_tokens": prompt // 3},
        }  # fmt: skip
        if fault == "no usage":
            usage = None
        if fault == "impossible usage":
            usage = {"prompt_tokens": 3, "completion_tokens": -1, "prompt_tokens_details": {"cached_tokens": 9}}
        self._charge("chat", raw, prompt, len(text.split()))
        if fault == "impossible usage":
            self.served["read_told"] += 3
        elif fault not in ("html", "cut", "no usage"):
            self.served["read_told"] += prompt
            self.served["written_told"] += len(text.split())
        if fault == "html":
            return web.Response(text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
        reason = {"filter": "content_filter", "truncated": "length"}.get(fault or "", "stop")
        head = {"id": "c", "created": 0, "model": "stranger-9" if fault == "other model" else "chaos-1"}
        if body.get("stream"):
            return await self._stream(request, head, text, reason, usage, cut=fault == "cut")
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        choices = [] if fault == "empty" else [choice]
        whole = json.dumps({**head, "object": "chat.completion", "choices": choices, "usage": usage}).encode()
        if fault == "cut":
            return await self._half(request, whole)
        return web.Response(body=whole, content_type="application/json")

    async def embed(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        texts = json.loads(raw)["input"]
        await asyncio.sleep(self._latency_s * self._random.uniform(0.5, 1.5))
        read = sum(len(text.split()) for text in texts)
        self.served["requests"] += 1
        self.served["read_told"] += read
        self._charge("embed", raw, read, 0)
        data = []
        for index, text in enumerate(texts):
            digest = hashlib.sha256(text.encode()).digest()
            vector = [byte / 255 for byte in digest[:DIMENSIONS]]
            data.append({"object": "embedding", "index": index, "embedding": vector})
        usage = {"prompt_tokens": read, "total_tokens": read}
        return web.json_response({"object": "list", "data": data, "model": "chaos-embed", "usage": usage})

    async def models(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": "chaos-1"}, {"id": "chaos-embed"}]})

    def _refused(self, request: web.Request, fault: str) -> web.StreamResponse:
        if fault == "hang up":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        status, _, later = fault.partition(" ")
        headers = {"Retry-After": "0.02"} if later else {}
        return web.json_response({"error": {"message": f"chaos {status}"}}, status=int(status), headers=headers)

    async def _stream(
        self, request: web.Request, head: dict[str, Any], text: str, reason: str, usage: Any, *, cut: bool
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        words = text.split(" ")
        deltas = [{"content": word if i == 0 else f" {word}"} for i, word in enumerate(words)]
        chunks = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
        chunks.append([{"index": 0, "delta": {}, "finish_reason": reason}])
        for place, choices in enumerate(chunks):
            if cut and place == 2:
                assert request.transport is not None
                request.transport.abort()
                return response
            chunk = {**head, "object": "chat.completion.chunk", "choices": choices}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        if usage is not None:
            last = {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}
            await response.write(b"data: " + json.dumps(last).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _half(self, request: web.Request, whole: bytes) -> web.StreamResponse:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(whole))}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        await response.write(whole[: len(whole) // 2])
        assert request.transport is not None
        request.transport.abort()
        return response

    def _charge(self, kind: str, raw: bytes, read: int, written: int) -> None:
        self.served["read"] += read
        self.served["written"] += written
        line = {"kind": kind, "request": hashlib.sha256(raw).hexdigest(), "read": read, "written": written}
        os.write(self._log, json.dumps(line).encode() + b"\n")


async def main(log: str, latency_s: float, faults: float) -> None:
    """Serves until its input is closed."""
    logging.disable()  # clients that are killed are what this is for
    upstream = Upstream(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), latency_s, faults)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", upstream.chat)
    app.router.add_post("/v1/embeddings", upstream.embed)
    app.router.add_get("/v1/models", upstream.models)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(upstream.served), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.0))
