"""What tests of products share: turns that are known again, and units behind a gateway."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from memgauge.backbones.base import Backbone
from memgauge.conversation import Turn
from memgauge.embedders.base import Embedder
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.writer import Ledger
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.products.sidecar import SidecarMemory
from memgauge.spec import Setting
from support import new_ledger, unit_record

THINGS = (
    "apples", "boats", "clocks", "drums", "engines", "flutes", "gloves", "hats", "inks", "jars", "kites", "lamps",
    "maps", "nuts", "ovens",
)  # fmt: skip


def said(first: int, last: int) -> list[Turn]:
    """Turns ``first`` to ``last``, one a day from 1 May 2024; each names its number and is like no other."""
    start = datetime(2024, 4, 30, 9, 30)
    return [
        Turn(f"t{i}", "Ann" if i % 2 else "Ben", f"I bought {i} {THINGS[i % 15]} at market number{i}.",
             start + timedelta(days=i))
        for i in range(first, last + 1)
    ]  # fmt: skip


@asynccontextmanager
async def house(
    directory: Path,
    backbone: Backbone,
    embedder: Embedder | None = None,
    units: int = 1,
    setting: Setting | None = None,
) -> AsyncIterator[tuple[Ledger, Gateway, list[UnitMeter]]]:
    """A ledger in ``directory``, a gateway, and units that it knows."""
    with new_ledger(directory / "ledger.sqlite", [unit_record(i, turns=100) for i in range(1, units + 1)]) as ledger:
        meter = Meter(ledger, setting or Setting(), backbone, embedder or Hashing())
        gateway = Gateway()
        await gateway.start()
        opened = [meter.open(i) for i in range(1, units + 1)]
        for unit in opened:
            gateway.register(unit)
        yield ledger, gateway, opened
        await gateway.close()


async def write(memory: SidecarMemory, unit: UnitMeter, turns: Sequence[Turn], at: int) -> None:
    """Writes and manages at one turn, as a protocol does."""
    with unit.scope(at, "write"):
        await memory.write(turns)
    with unit.scope(at, "manage"):
        await memory.manage()
