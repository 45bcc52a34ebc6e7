"""How near a recall run comes to what the upstream allows: questions side by side against a slow upstream.

An upstream of its own process answers every call after 200 ms; `recall` with bm25 asks every question over 32
connections. The floor is calls × 0.2 s / 32 (target: at most 1.1 times that). With ``--locomo PATH`` the 1,986
questions of LoCoMo, else 2,000 questions on synthetic dialogues. ``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memgauge.ledger.frames import Frames
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse

LATENCY_S = 0.2
CONNECTIONS = 32


async def upstream() -> None:
    """Serves chat completions, each after LATENCY_S; prints its port."""
    from aiohttp import web

    reply = {
        "id": "x", "object": "chat.completion", "created": 0, "model": "slow",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Porto"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
    }  # fmt: skip

    async def chat(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(LATENCY_S)
        return web.json_response(reply)

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "slow", "object": "model"}]})

    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


def measured(port: int, locomo: str | None) -> dict[str, float]:
    """Plays the run and compares it with the floor."""
    if locomo:
        workload = WorkloadUse(name="locomo", options={"path": locomo})
    else:
        workload = WorkloadUse(name="synthetic", options={"cells": [[200, 30]], "seeds": 200})
    setting = Setting(
        backbone="endpoint", base_url=f"http://127.0.0.1:{port}/v1", model="slow", embedder="hashing"
    )  # fmt: skip
    experiment = Experiment(
        name="recall", memories=(MemoryUse(name="bm25"),), settings={"slow": setting}, workloads=(workload,)
    )
    with tempfile.TemporaryDirectory() as directory:
        started = time.perf_counter()
        asyncio.run(run(experiment, Path(directory) / "run", Limits(concurrency=CONNECTIONS)))
        seconds = time.perf_counter() - started
        calls = Frames(Path(directory) / "run").calls(["outcome"]).height
    floor = calls * LATENCY_S / CONNECTIONS
    return {"calls": calls, "seconds": seconds, "floor_seconds": floor, "ratio": seconds / floor}


def main() -> None:
    """Starts the upstream, runs, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--locomo", help="path of locomo10.json")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(upstream())
        return
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        figures = measured(int(process.stdout.readline()), arguments.locomo)
        process.stdin.close()
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:16} {value:10.3f}")


if __name__ == "__main__":
    main()
