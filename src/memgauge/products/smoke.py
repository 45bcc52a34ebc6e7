"""Tries an installed product: writes a batch of turns and reads one back, with rules for a model and no network."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path

from memgauge.backbones.base import UpstreamError
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.writer import Ledger
from memgauge.memories import registry
from memgauge.memories.base import Evidence, GatewayAccess, Recalled
from memgauge.meter.gateway import Gateway
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter
from memgauge.products.environment import Product
from memgauge.products.process import SidecarError
from memgauge.spec import Setting

_SAID = (
    "I moved to Porto in May.", "My cat Miso loves the new balcony.", "My sister Clara works at a bakery in Braga.",
    "I bought a red bicycle for 90 euros.", "My father plays the violin.", "I am allergic to peanuts.",
    "My dentist is called Amaro.", "I have a train to Lisbon on Friday.", "My favourite colour is green.",
    "I run ten kilometres every Sunday.",
)  # fmt: skip
_QUERY = "Where does Clara work?"


def prove(product: Product) -> None:
    """Raises UserError where what was written cannot be read back."""
    try:
        recalled = asyncio.run(_write_and_read(product.memory))
    except (SidecarError, UpstreamError) as fault:
        raise UserError(f"{product.title} was built, but does not work: {fault}") from fault
    if not any("Clara" in item.text for item in recalled.items):
        raise UserError(f"{product.title} was built, but does not recall what it was told")


async def _write_and_read(name: str) -> Recalled:
    turns = [Turn(f"t{i}", "Ann", text, datetime(2024, 5, i, 9, 30)) for i, text in enumerate(_SAID, start=1)]
    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(Ledger.scratch())
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memgauge-")))
        unit = Meter(ledger, Setting(backbone="extractive", embedder="hashing"), Extractive(), Hashing()).open(1)
        gateway = Gateway()
        await gateway.start()
        stack.push_async_callback(gateway.close)
        gateway.register(unit)
        directory = scratch / "unit"
        directory.mkdir()
        access = GatewayAccess(gateway.base_url, unit.key, unit.model, unit.embedding_model, unit.embedding_dimensions)
        services = registry.Services(BackboneHandle(unit), EmbedderHandle(unit), None, Evidence({}), access, directory)
        memory = registry.create(name, {}, services)
        stack.push_async_callback(memory.close)
        await memory.write(turns)
        await memory.manage()
        return await memory.read(_QUERY)
