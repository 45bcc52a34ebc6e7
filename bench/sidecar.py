"""What a process of its own costs a memory: one memory, in process and as a sidecar behind the gateway.

Both make the same calls each turn (a chat and two embeddings, to models that answer at once) and do nothing else, so
that what the sidecar takes longer is the way there and back: JSON lines, HTTP, gateway, and the operations that an
in-process memory is not asked for. Target: at most 5 ms a turn, median. ``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar

import polars as pl

from memgauge.backbones.constant import Constant
from memgauge.conversation import Conversation, Turn
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import Ledger
from memgauge.memories.base import Card, Footprint, GatewayAccess, Item, Memory, Recalled
from memgauge.meter.gateway import Gateway
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.products.sidecar import AnySidecar
from memgauge.protocols.play import Play
from memgauge.protocols.serve import serve
from memgauge.spec import Setting

TURNS, REPEATS = 200, 3
SIDECAR = """
import http.client, json
from urllib.parse import urlsplit
from memgauge_sidecar import serve

class Last:
    def open(self, base_url, api_key, model, embedding_model, **_):
        self.base, self.kept = urlsplit(base_url), []
        self.client = http.client.HTTPConnection(self.base.netloc)
        self.headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    def call(self, path, **body):
        self.client.request("POST", self.base.path + path, json.dumps(body), self.headers)
        return json.loads(self.client.getresponse().read())
    def write(self, turns):
        line = turns[-1]["line"]
        self.call("/chat/completions", model="m", messages=[{"role": "user", "content": line}], max_tokens=16)
        self.call("/embeddings", model="e", input=[line])
        self.kept = turns
    def read(self, query, time):
        self.call("/embeddings", model="e", input=[query])
        return {"items": [{"text": turn["line"], "turns": [turn["id"]]} for turn in self.kept]}
    def footprint(self):
        return {"texts": [turn["line"] for turn in self.kept]}

serve(Last())
"""


class Last:
    """Keeps the last turn; asks the backbone at every write, and the embedder at every write and read."""

    card: ClassVar[Card] = Card(name="last", title="Last turn", summary="for the bench")

    def __init__(self, backbone: BackboneHandle, embedder: EmbedderHandle) -> None:
        self._backbone, self._embedder = backbone, embedder
        self._kept: tuple[Turn, ...] = ()

    async def write(self, turns: Sequence[Turn]) -> None:
        line = turns[-1].line()
        await self._backbone.ask("", line, max_tokens=16)
        await self._embedder.embed([line])
        self._kept = tuple(turns)

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        await self._embedder.embed([query])
        return Recalled(tuple(map(Item.of, self._kept)))

    async def manage(self) -> None:
        """Nothing to tidy."""

    def footprint(self) -> Footprint:
        return Footprint.of_text(turn.line() for turn in self._kept)

    async def close(self) -> None:
        """Nothing to release."""


def conversation() -> Conversation:
    """A dialogue in which no two turns are equal, about fifty tokens each."""
    start = datetime(2024, 5, 1, 9, 30)
    said = (
        Turn(f"t{i}", "Ann" if i % 2 else "Ben", f"On day {i} I met person number {i * 7919 % 10_007} at the market "
             f"and we talked about {i % 13} apples, {i % 17} pears and a walk of {i % 29} miles along the old canal.",
             start + timedelta(days=i))
        for i in range(TURNS)
    )  # fmt: skip
    return Conversation("bench", tuple(said))


async def per_turn(kind: str, directory: Path) -> tuple[list[float], float]:
    """Milliseconds that the memory took of every turn (read, write, manage), and those until it was ready."""
    record = UnitRecord(
        unit=1, key="bench", memory=kind, memory_options="{}", control=False, write_every=1, setting="bench",
        backbone="constant", model="constant", effort=None, embedder="hashing", embedding_model="hashing-256",
        workload="bench", item="bench", protocol="serve", seed=0, cell_turns=None, cell_tokens=None, turns=TURNS,
        mean_turn_tokens=50.0, questions=0,
    )  # fmt: skip
    with Ledger.create(directory / "ledger.sqlite", {}) as ledger:
        ledger.add_units([record])
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), Constant(), Hashing()).open(1)
        gateway = Gateway()
        await gateway.start()
        gateway.register(unit)
        started = time.perf_counter()
        memory = await made(kind, unit, gateway, directory)
        ready = (time.perf_counter() - started) * 1e3
        await serve(Play(unit, ledger, memory, conversation(), write_every=1, answer_tokens=16))
        await memory.close()
        await gateway.close()
    steps = Frames(directory).steps().filter(pl.col("stage") != "answer")
    spent = steps.group_by("turn", maintain_order=True).agg(pl.col("seconds").sum())["seconds"]
    return (spent * 1e3).to_list()[1:], ready  # the first turn warms up


async def made(kind: str, unit: UnitMeter, gateway: Gateway, directory: Path) -> Memory:
    """The memory, in process or beside it, ready to be played."""
    if kind == "inside":
        return Last(BackboneHandle(unit), EmbedderHandle(unit))
    script, home = directory / "last.py", directory / "unit"
    script.write_text(SIDECAR)
    home.mkdir()
    access = GatewayAccess(gateway.base_url, unit.key, unit.model, unit.embedding_model, unit.embedding_dimensions)
    memory = AnySidecar(access, home, [sys.executable, str(script)])
    await memory.start()
    return memory


def main() -> None:
    """Runs the bench and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    medians: dict[str, list[float]] = {"inside": [], "sidecar": []}
    tails: list[float] = []
    starts: list[float] = []
    for _ in range(REPEATS):
        for kind, found in medians.items():
            with tempfile.TemporaryDirectory() as directory:
                spent, ready = asyncio.run(per_turn(kind, Path(directory)))
            found.append(statistics.median(spent))
            if kind == "sidecar":
                tails.append(sorted(spent)[int(len(spent) * 0.99)])
                starts.append(ready)
    inside, beside = min(medians["inside"]), min(medians["sidecar"])
    figures = {
        "inside_ms_per_turn": inside,
        "sidecar_ms_per_turn": beside,
        "added_ms_per_turn": beside - inside,
        "sidecar_p99_ms_per_turn": min(tails),
        "added_share_of_target": (beside - inside) / 5.0,
        "start_ms": min(starts),
    }
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:12,.3f}")


if __name__ == "__main__":
    main()
