"""How long the calls of a memory that thinks keep a write waiting, where each takes 200 ms.

One dialogue of 120 turns is written in one batch, managed, and asked once, over rules that answer after 200 ms. The
floor is the longest chain of calls that wait for each other by the method itself: A-MEM's notes evolve one after the
other, a page of ReadAgent ends where the one before it did, MemSkill's spans see what the one before left, RAPTOR's
layers stand on each other; ReasoningBank judges and then extracts. A ratio near 1 says that nothing else waits (what
RAPTOR has beyond it is UMAP's own time).
``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import time
from contextlib import ExitStack
from datetime import datetime, timedelta

from memgauge.backbones.base import ChatReply, ChatRequest, Emit
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.writer import Ledger
from memgauge.memories import registry
from memgauge.memories.base import Evidence, Started
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from memgauge.workloads.synthetic import Synthetic

LATENCY_S = 0.2
TURNS, TOKENS, SESSION = 120, 50, 12
MEMORIES = ("readagent", "amem", "raptor", "reasoningbank", "memskill")


class Slow(Extractive):
    """Rules that take their time."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        self.calls += 1
        await asyncio.sleep(LATENCY_S)
        return await super().chat(request, emit)


def chain(name: str, calls: int, pages: int, layers: int) -> int:
    """How many calls wait for each other by the method, of ``calls`` in all."""
    match name:
        case "amem":
            return 1 + TURNS - 1  # all notes at once, then one evolution after the other
        case "readagent":
            return pages + 1 + 1  # a break for each page, all gists at once, one look-up
        case "reasoningbank":
            return 2
        case "raptor":
            return layers
        case _:
            return calls


async def measured(name: str) -> dict[str, float]:
    """Seconds of write, manage and read of one memory, its calls, and the floor."""
    said = Synthetic(cells=[[TURNS, TOKENS]], seeds=1).conversation(f"N{TURNS}-L{TOKENS}-s0").turns
    start = datetime(2024, 5, 1, 9)
    turns = [
        Turn(turn.id, turn.speaker, turn.text, start + timedelta(days=i // SESSION, minutes=i), f"s{i // SESSION}")
        for i, turn in enumerate(said)
    ]
    backbone = Slow()
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.scratch())
        unit = Meter(ledger, Setting(backbone="extractive", embedder="hashing"), backbone, Hashing()).open(1)
        services = registry.Services(BackboneHandle(unit), EmbedderHandle(unit), None, Evidence({}))
        memory = registry.create(name, {}, services)
        if isinstance(memory, Started):
            await memory.start()
        began = time.perf_counter()
        await memory.write(turns)
        await memory.manage()
        await memory.read("Who planted a tree?")
        seconds = time.perf_counter() - began
        state = getattr(memory, "state", dict)()
        await memory.close()
    floor = chain(name, backbone.calls, int(state.get("pages", 0)), int(state.get("layers", 0))) * LATENCY_S
    one_by_one = backbone.calls * LATENCY_S
    return {"calls": backbone.calls, "seconds": seconds, "floor_s": floor, "ratio": seconds / floor,
            "one_by_one_s": one_by_one}  # fmt: skip


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = {name: asyncio.run(measured(name)) for name in MEMORIES}
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"{'memory':<15}{'calls':>6}{'seconds':>9}{'floor':>8}{'ratio':>7}{'one by one':>12}")
    for name, told in found.items():
        print(f"{name:<15}{told['calls']:>6.0f}{told['seconds']:>8.1f}s{told['floor_s']:>7.1f}s{told['ratio']:>7.2f}"
              f"{told['one_by_one_s']:>11.1f}s")  # fmt: skip


if __name__ == "__main__":
    main()
