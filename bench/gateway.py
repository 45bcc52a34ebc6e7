"""What the gateway adds to a call: latency and calls per second against rivals on the same upstream.

Every part runs in a process of its own: an upstream that answers at once, a bare aiohttp pass-through (which parses,
meters and records nothing), memgauge (which records everything), and, unless left out, the LiteLLM proxy, installed
into an environment of its own. One light client loads them in turn with chat calls of 2 kB.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

LITELLM = "litellm[proxy]==1.108.7"
MODEL = "bench-model"
BODY_BYTES = 2048
RULES = (
    "You keep the long-term memory of a personal assistant. Read the message below and write down what it says.\n"
    "- Keep facts about people, places, dates, plans, tastes, work, health and belongings.\n"
    "- Write every fact as one short sentence that can be understood by itself, with names instead of pronouns.\n"
    "- Turn relative dates into absolute ones, seen from the day on which the message was sent.\n"
    "- Leave out greetings, thanks, jokes and everything that will not matter next week.\n"
    "- Where a fact contradicts one that is known already, say that the old one no longer holds.\n"
    "- Do not add anything that was not said, and do not draw conclusions that the speaker did not draw.\n"
    "- Where the message holds nothing worth keeping, answer with an empty list.\n"
    "Answer with a JSON object of the form {'facts': ['...', '...']} and with nothing else.\n"
    "Example: 'Hi! My sister Clara moved to Lisbon in May, so I fly there every other month now.'\n"
    "Answer: {'facts': ['The sister of the speaker is Clara.', 'Clara moved to Lisbon in May.']}\n"
)
VOCABULARY = (
    "walk market apples sister dog morning coffee train summer letter garden window river friend music kitchen"
    " dinner village mountain winter doctor teacher weekend birthday concert holiday library museum painting"
)
REPLY = json.dumps({
    "id": "chatcmpl-00000000", "object": "chat.completion", "created": 1_790_000_000, "model": MODEL,
    "choices": [{
        "index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "You bought apples at the market for your sister Clara."},
    }],
    "usage": {"prompt_tokens": 420, "completion_tokens": 12, "total_tokens": 432,
              "prompt_tokens_details": {"cached_tokens": 128}},
}).encode()  # fmt: skip


@dataclass
class Target:
    """Something that is loaded: its address and key, and what was measured, one entry a round."""

    name: str
    url: str
    key: str
    calls: int
    latencies: dict[int, list[list[float]]] = field(default_factory=dict)  # by clients, a list a round, in ms
    rates: dict[int, list[float]] = field(default_factory=dict)

    def p(self, percent: float, clients: int) -> float:
        """The median over the rounds of a percentile of latency, in ms."""
        return statistics.median(
            sorted(round_)[min(len(round_) - 1, int(len(round_) * percent / 100))] for round_ in self.latencies[clients]
        )

    def rate(self, clients: int) -> float:
        """The median over the rounds of calls per second."""
        return statistics.median(self.rates[clients])


# The client: as little as can speak HTTP, so that it is not what is measured.


def bodies(count: int, seed: int) -> list[bytes]:
    """Request bodies of 2 kB as a memory sends them: the same rules, and a message of which no two are alike."""
    rng, words, made = random.Random(seed), VOCABULARY.split(), []
    for number in range(count):
        said = f"Call {seed}-{number}."
        while len(said) < BODY_BYTES - len(RULES) - 150:
            said += f" {rng.choice(words)}"
        messages = [{"role": "system", "content": RULES}, {"role": "user", "content": said}]
        made.append(json.dumps({"model": MODEL, "temperature": 0, "messages": messages}).encode())
    return made


class Connection(asyncio.Protocol):
    """One client: sends a call when the one before is answered."""

    def __init__(self, calls: Iterator[bytes], latencies: list[float]) -> None:
        self.calls = calls
        self.latencies = latencies
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.buffer = b""
        self.started = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.send()

    def send(self) -> None:
        call = next(self.calls, None)
        if call is None:
            self.transport.close()
            self.done.set_result(None)
            return
        self.started = time.perf_counter()
        self.transport.write(call)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, gap, body = self.buffer.partition(b"\r\n\r\n")
        if not gap:
            return
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        if len(body) < length:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(f"{head.splitlines()[0]!r}: {body[:300]!r}"))
            self.transport.close()
            return
        self.latencies.append((time.perf_counter() - self.started) * 1e3)
        self.buffer = b""
        self.send()

    def connection_lost(self, fault: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError(f"the server hung up: {fault}"))


async def load(target: Target, clients: int, calls: int, seed: int) -> None:
    """Loads ``target`` with ``calls`` calls from ``clients`` clients; notes the round."""
    address = urlsplit(target.url)
    head = (
        f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {target.key}\r\nContent-Type: application/json\r\nContent-Length: "
    )
    requests = [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies(calls, seed)]
    latencies: list[float] = []
    loop = asyncio.get_running_loop()
    pending = iter(requests)
    started = time.perf_counter()
    opened = await asyncio.gather(
        *(
            loop.create_connection(lambda: Connection(pending, latencies), address.hostname, address.port)
            for _ in range(clients)
        )
    )
    await asyncio.gather(*(connection.done for _, connection in opened))
    target.rates.setdefault(clients, []).append(calls / (time.perf_counter() - started))
    target.latencies.setdefault(clients, []).append(latencies)


# The servers: each prints its address, and its key if it has one, and serves until its input ends.


class Instant(asyncio.Protocol):
    """The upstream: answers every call at once, under a new id."""

    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)
    numbers = count()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, body = self.buffer.partition(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            if len(body) < length:
                return
            self.buffer = body[length:]
            self.transport.write(self.head + REPLY.replace(b"00000000", b"%08d" % next(self.numbers)))


async def serve_upstream() -> None:
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", 0)
    await _announce(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")


async def serve_pass_through(upstream: str) -> None:
    import aiohttp
    from aiohttp import web

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def forward(request: web.Request) -> web.Response:
            body = await request.read()
            headers = {"Content-Type": "application/json", "Authorization": request.headers["Authorization"]}
            async with session.post(f"{upstream}/chat/completions", data=body, headers=headers) as answer:
                return web.Response(body=await answer.read(), status=answer.status, content_type=answer.content_type)

        app = web.Application()
        app.router.add_post("/v1/chat/completions", forward)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        await _announce(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")


async def serve_memgauge(upstream: str, fsync: bool) -> None:
    from memgauge import tokens
    from memgauge.backbones.endpoint import Endpoint
    from memgauge.embedders.endpoint import EndpointEmbedder
    from memgauge.ledger.writer import Ledger
    from memgauge.meter.gateway import Gateway
    from memgauge.meter.meter import Meter
    from memgauge.spec import Setting

    tokens.count("load the vocabulary")
    with tempfile.TemporaryDirectory(prefix="memgauge-bench-") as directory:
        ledger = Ledger.create(Path(directory) / "ledger.sqlite", {}, fsync=fsync)
        setting = Setting(backbone="endpoint", model=MODEL, base_url=upstream)
        backbone = Endpoint(upstream, MODEL, api_key="sk-bench")
        unit = Meter(ledger, setting, backbone, EndpointEmbedder(upstream, "none")).open(1)
        gateway = Gateway()
        await gateway.start()
        gateway.register(unit)
        await _announce(gateway.base_url, unit.key)
        await gateway.close()
        await backbone.close()
        ledger.close()


async def _announce(url: str, key: str = "sk-bench") -> None:
    print(url, key, flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, str]]:
    """Another process of this script; yields its address and key."""
    command = [sys.executable, __file__, "--serve", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = _pipe(process.stdout).readline().split()
        if len(line) != 2:
            raise SystemExit(f"{' '.join(arguments)} did not start")
        yield line[0], line[1]
    finally:
        _pipe(process.stdin).close()
        process.wait(30)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextlib.contextmanager
def litellm(upstream: str, python: Path) -> Iterator[tuple[str, str]]:
    """The LiteLLM proxy before ``upstream``, with one worker, as it comes."""
    key, port = f"sk-{secrets.token_hex(8)}", 40_000 + secrets.randbelow(20_000)
    with tempfile.TemporaryDirectory(prefix="litellm-bench-") as directory:
        config = Path(directory) / "config.yaml"
        params = {"model": f"openai/{MODEL}", "api_base": upstream, "api_key": "sk-bench"}
        config.write_text(json.dumps({"model_list": [{"model_name": MODEL, "litellm_params": params}]}))
        log = (Path(directory) / "log").open("w+")
        command = [python.with_name("litellm"), "--config", config, "--host", "127.0.0.1", "--port", str(port)]
        environment = {**os.environ, "LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            for _ in range(240):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=5).close()
                    break
                if process.poll() is not None:
                    raise SystemExit(f"LiteLLM did not start:\n{Path(log.name).read_text()[-2000:]}")
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1", key
        finally:
            process.terminate()
            process.wait(30)
            log.close()


def installed_litellm() -> Path:
    """The Python of an environment that holds LiteLLM, made at the first use and kept in the user's cache."""
    from memgauge.places import cache_dir

    home = cache_dir() / "bench" / LITELLM.replace("[proxy]==", "-")
    python = home / "bin" / "python"
    if not (home / "bin" / "litellm").exists():
        print(f"installing {LITELLM} into {home}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", LITELLM], check=True)
    return python


# The measurement.


def measure(arguments: argparse.Namespace) -> list[Target]:
    with contextlib.ExitStack() as stack:
        upstream, _ = stack.enter_context(serving("upstream"))
        calls = arguments.calls
        targets = [Target("direct", upstream, "sk-bench", calls)]
        for name, *command in (
            ("pass-through", "pass-through", "--upstream", upstream),
            ("memgauge", "memgauge", "--upstream", upstream),
            ("memgauge, fsync", "memgauge", "--upstream", upstream, "--fsync"),
        ):
            targets.append(Target(name, *stack.enter_context(serving(*command)), calls))
        if arguments.litellm:
            started = litellm(upstream, installed_litellm())
            targets.append(Target("litellm", *stack.enter_context(started), max(32, calls // 20)))
        for target in targets:
            asyncio.run(load(target, 8, min(target.calls, 200), 0))  # warm up
            target.latencies.clear()
            target.rates.clear()
        for number in range(1, arguments.rounds + 1):
            for clients in (1, 64):
                for target in targets:
                    asyncio.run(load(target, clients, max(target.calls, clients), number * 100 + clients))
    return targets


def figures(targets: list[Target]) -> dict[str, float]:
    """Everything that was measured, and the two ratios, by name."""
    by_name = {target.name: target for target in targets}
    direct, bare = by_name["direct"], by_name["pass-through"]
    found = {}
    for target in targets:
        name = target.name.replace("-", "_").replace(", ", "_")
        for clients in (1, 64):
            found[f"{name}_p50_ms_{clients}"] = target.p(50, clients)
            found[f"{name}_p99_ms_{clients}"] = target.p(99, clients)
            found[f"{name}_calls_per_s_{clients}"] = target.rate(clients)
        if target not in (direct, bare):
            added = target.p(50, 1) - direct.p(50, 1)
            found[f"{name}_added_p50_ratio"] = added / (bare.p(50, 1) - direct.p(50, 1))
            found[f"{name}_throughput_ratio"] = target.rate(64) / bare.rate(64)
    return {name: round(value, 3) for name, value in found.items()}


def show(targets: list[Target], found: dict[str, float]) -> None:
    print(f"{'':16} {'1 client':>30} {'64 clients':>31}")
    print(f"{'':16}" + f" {'p50 ms':>9} {'p99 ms':>9} {'calls/s':>10}" * 2)
    for target in targets:
        cells = (
            f" {target.p(50, clients):9.2f} {target.p(99, clients):9.2f} {target.rate(clients):10.0f}"
            for clients in (1, 64)
        )
        print(f"{target.name:16}{''.join(cells)}")
    print()
    for name in ("memgauge", "memgauge_fsync", "litellm"):
        if f"{name}_added_p50_ratio" in found:
            print(
                f"{name.replace('_', ', ')}: added p50 {found[f'{name}_added_p50_ratio']:.2f}x of the pass-through's,"
                f" throughput {found[f'{name}_throughput_ratio']:.2f}x of it"
            )
    print("targets for memgauge: at most 1.50x, at least 0.60x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one object of named figures")
    parser.add_argument("--calls", type=int, default=2000, help="calls a round and number of clients")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--litellm", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--serve", choices=("upstream", "pass-through", "memgauge"), help=argparse.SUPPRESS)
    parser.add_argument("--upstream", help=argparse.SUPPRESS)
    parser.add_argument("--fsync", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    match arguments.serve:
        case "upstream":
            asyncio.run(serve_upstream())
        case "pass-through":
            asyncio.run(serve_pass_through(arguments.upstream))
        case "memgauge":
            asyncio.run(serve_memgauge(arguments.upstream, arguments.fsync))
        case _:
            targets = measure(arguments)
            found = figures(targets)
            if arguments.json:
                print(json.dumps(found))
            else:
                show(targets, found)


if __name__ == "__main__":
    main()
