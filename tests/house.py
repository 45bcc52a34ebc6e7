"""A run with one unit between a scripted upstream and a ledger, without the gateway's HTTP before it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgauge.backbones.endpoint import Endpoint
from memgauge.embedders.endpoint import EndpointEmbedder
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME
from memgauge.meter.budget import Budget
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.runner.spends import open_flights
from memgauge.spec import Setting
from scripted_upstream import EMBEDDING_MODEL, KEY, MODEL, ScriptedUpstream
from support import new_ledger, unit_record


@dataclass
class House:
    """The unit, what is behind it, and where its ledger lies."""

    unit: UnitMeter
    upstream: ScriptedUpstream
    meter: Meter
    path: Path

    def calls(self) -> list[dict[str, Any]]:
        """The ledger's calls, read as a report would while the run goes on."""
        return Frames(self.path).calls().to_dicts()


@asynccontextmanager
async def house(path: Path, budget: Budget | None = None, **endpoint: Any) -> AsyncIterator[House]:
    """Opens a house in ``path``; ``endpoint`` are options of the backbone and the embedder."""
    async with AsyncExitStack() as stack:
        record = unit_record(backbone="endpoint", model=MODEL, embedder="endpoint", embedding_model=EMBEDDING_MODEL)
        ledger = stack.enter_context(new_ledger(path / FILE_NAME, [record]))
        upstream = await stack.enter_async_context(ScriptedUpstream())
        options: dict[str, Any] = {"api_key": KEY, "first_wait_s": 0.001, **endpoint}
        backbone = Endpoint(upstream.base_url, MODEL, **options)
        embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, **options)
        stack.push_async_callback(backbone.close)
        stack.push_async_callback(embedder.close)
        flights, _ = open_flights(ledger, stack)
        meter = Meter(ledger, Setting(temperature=None), backbone, embedder, budget=budget, flights=flights)
        unit = meter.open(1, attempt=ledger.start_unit(1, 0.0))
        yield House(unit, upstream, meter, path)
