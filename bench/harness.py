"""Speed and size of the harness itself: `serve`, full history, a backbone that replies at once.

Time and ledger bytes must grow linearly in turns. Prints turns per second for 400 to 1,600 turns, the ratios of
1,600 to 800 turns (floor: 2.0, linear growth; target: at most 2.3) and what the meter adds to a bare call in
process (target: at most 0.2 ms). ``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from memgauge.backbones.base import ChatRequest
from memgauge.backbones.constant import Constant
from memgauge.conversation import Conversation, Turn
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import Ledger
from memgauge.memories.full_history import FullHistory
from memgauge.meter.meter import Meter
from memgauge.protocols.play import Play
from memgauge.protocols.serve import serve
from memgauge.spec import Setting

TURNS = (400, 800, 1600)
REPEATS = 3


def conversation(turns: int) -> Conversation:
    """A dialogue in which no two turns are equal, about fifty tokens each."""
    said = (
        Turn(f"t{i}", "Ann" if i % 2 else "Ben", f"On day {i} I met person number {i * 7919 % 10_007} at the market "
             f"and we talked about {i % 13} apples, {i % 17} pears and a walk of {i % 29} miles along the old canal "
             f"that ends behind house {i * 31 % 997}, where the {i}th lamp is broken.")
        for i in range(turns)
    )  # fmt: skip
    return Conversation("bench", tuple(said))


def record(turns: int) -> UnitRecord:
    """The ledger's row for the one unit of a bench run."""
    return UnitRecord(
        unit=1, key="bench", memory="full-history", memory_options="{}", control=False, write_every=1,
        setting="bench", backbone="constant", model="constant", effort=None, embedder="hashing",
        embedding_model="hashing-256", workload="bench", item="bench", protocol="serve", seed=0,
        cell_turns=None, cell_tokens=None, turns=turns, mean_turn_tokens=50.0, questions=0,
    )  # fmt: skip


async def served(turns: int, directory: Path) -> tuple[float, int]:
    """Seconds and ledger bytes of one served dialogue."""
    dialogue = conversation(turns)
    path = directory / "ledger.sqlite"
    started = time.perf_counter()
    with Ledger.create(path, {}) as ledger:
        ledger.add_units([record(turns)])
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), Constant(), Hashing()).open(1)
        await serve(Play(unit, ledger, FullHistory(), dialogue, write_every=1, answer_tokens=16))
    return time.perf_counter() - started, path.stat().st_size


async def call_cost(calls: int, directory: Path) -> float:
    """Milliseconds that the meter adds to a call of a backbone in process: medians, metered less bare."""
    requests = [
        ChatRequest.of("Answer briefly.", f"{'lorem ipsum dolor ' * 100}{i}", max_tokens=16) for i in range(calls)
    ]
    backbone = Constant()

    async def median(chat) -> float:  # type: ignore[no-untyped-def]
        spent = []
        for request in requests:
            started = time.perf_counter()
            await chat(request)
            spent.append(time.perf_counter() - started)
        return statistics.median(spent)

    bare = await median(backbone.chat)
    with Ledger.create(directory / "ledger.sqlite", {}) as ledger:
        ledger.add_units([record(calls)])
        ledger.start_unit(1, 0.0)
        metered = await median(Meter(ledger, Setting(), backbone, Hashing()).open(1).chat)
    return (metered - bare) * 1e3


def main() -> None:
    """Runs the bench and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    asyncio.run(_served(100))
    for repeat in range(REPEATS):
        for turns in TURNS:
            seconds, size = asyncio.run(_served(turns))
            key = f"seconds_{turns}"
            figures[key] = min(seconds, figures.get(key, seconds)) if repeat else seconds
            figures[f"bytes_{turns}"] = size
    for turns in TURNS:
        figures[f"turns_per_s_{turns}"] = turns / figures[f"seconds_{turns}"]
    figures["time_ratio_1600_to_800"] = figures["seconds_1600"] / figures["seconds_800"]
    figures["bytes_ratio_1600_to_800"] = figures["bytes_1600"] / figures["bytes_800"]
    with tempfile.TemporaryDirectory() as directory:
        figures["added_ms_per_call"] = asyncio.run(call_cost(2000, Path(directory)))
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:12,.3f}")


async def _served(turns: int) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as directory:
        return await served(turns, Path(directory))


if __name__ == "__main__":
    main()
