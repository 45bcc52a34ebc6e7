"""What LightRAG takes of a write beside its model calls, and how much of that is writing its files anew.

Turns are inserted one by one, each a document, by models that answer at once. After every document LightRAG writes all
of its files, so both figures grow with what it holds. ``--json`` prints one object of named figures, in milliseconds
per document: all of LightRAG's own time and its files', over the first and the last tenth. Needs: memgauge install
lightrag. The issue excludes this rewriting from the harness's own time; no target.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import Ledger
from memgauge.memories.base import GatewayAccess
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter
from memgauge.products.lightrag.memory import LightRAG
from memgauge.spec import Setting

# Runs the sidecar, and notes in a file when LightRAG began to write each of its files, and how long that took.
TIMED = """
import runpy, sys, time
import lightrag, lightrag.file_atomic, lightrag.utils
from lightrag.kg import json_doc_status_impl, json_kv_impl, nano_vector_db_impl, networkx_impl

written, write = open(sys.argv[2], "w", buffering=1), lightrag.file_atomic.atomic_write

def timed(*args, **options):
    started, began = time.time(), time.perf_counter()
    write(*args, **options)
    print(started, time.perf_counter() - began, file=written)

for module in list(sys.modules.values()):
    if getattr(module, "atomic_write", None) is write:
        module.atomic_write = timed
sys.path.insert(0, sys.argv[1].rpartition("/")[0])
runpy.run_path(sys.argv[1], run_name="__main__")
"""


class Timed(LightRAG):
    """LightRAG with its writing timed."""

    def time_in(self, script: Path, figures: Path) -> None:
        script.write_text(TIMED)
        python, sidecar = self._command
        self._command = (python, str(script), sidecar, str(figures))


def conversation(length: int) -> list[Turn]:
    """Turns of which each names a person and a place, and no two are equal."""
    start = datetime(2024, 5, 1, 9, 30)
    return [
        Turn(f"t{i}", "Ann" if i % 2 else "Ben",
             f"I met Person{i * 7919 % 211} in Town{i % 37} and we walked {i % 29} miles along the old canal.",
             start + timedelta(days=i))
        for i in range(length)
    ]  # fmt: skip


async def per_document(length: int, dimensions: int, directory: Path) -> list[tuple[float, float]]:
    """For every document the milliseconds that LightRAG took beside its calls, and those of them in its files."""
    record = UnitRecord(
        unit=1, key="bench", memory="lightrag", memory_options="{}", control=False, write_every=1, setting="bench",
        backbone="extractive", model="extractive", effort=None, embedder="hashing", embedding_model="hashing",
        workload="bench", item="bench", protocol="recall", seed=0, cell_turns=None, cell_tokens=None, turns=length,
        mean_turn_tokens=30.0, questions=0,
    )  # fmt: skip
    own, spans = [], []
    with Ledger.create(directory / "ledger.sqlite", {}) as ledger:
        ledger.add_units([record])
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), Extractive(), Hashing(dimensions)).open(1)
        gateway = Gateway()
        await gateway.start()
        gateway.register(unit)
        home = directory / "unit"
        home.mkdir()
        access = GatewayAccess(gateway.base_url, unit.key, unit.model, unit.embedding_model, dimensions)
        memory = Timed(access, home, granularity="utterance")
        memory.time_in(directory / "timed.py", directory / "written")
        await memory.start()
        for number, turn in enumerate(conversation(length), start=1):
            started, began = time.time(), time.perf_counter()
            with unit.scope(number, "write"):
                await memory.write([turn])
            own.append(time.perf_counter() - began)
            spans.append((started, time.time()))
        await memory.close()
        await gateway.close()
    calls = Frames(directory).calls().group_by("turn").agg(pl.col("latency_s").sum())
    called = dict(calls.rows())
    written = [tuple(map(float, line.split())) for line in (directory / "written").read_text().splitlines()]
    files = [sum(spent for at, spent in written if first <= at < last) for first, last in spans]
    return [
        ((spent - called.get(number, 0.0)) * 1e3, within * 1e3)
        for number, (spent, within) in enumerate(zip(own, files, strict=True), start=1)
    ]


def medians(spent: Sequence[tuple[float, float]], name: str) -> dict[str, float]:
    return {
        f"{name}_own_ms": statistics.median(own for own, _ in spent),
        f"{name}_files_ms": statistics.median(files for _, files in spent),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        spent = asyncio.run(per_document(arguments.documents, arguments.dimensions, Path(directory)))
    tenth = max(1, len(spent) // 10)
    figures = medians(spent[:tenth], "first") | medians(spent[-tenth:], "last")
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:12,.1f}")


if __name__ == "__main__":
    main()
