"""Mem0 2.x: one call extracts facts from a batch of turns, and every new fact is added (paper 1 §3.1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from memgauge.memories.base import Card, GatewayAccess
from memgauge.memories.provenance import narrowed
from memgauge.products.environment import Product
from memgauge.products.product_memory import ProductMemory

_HERE = Path(__file__).parent

MEM0 = Product("mem0", "Mem0 2.x", "mem0ai", _HERE / "requirements.txt", memory="mem0")
MEM0_V1 = Product("mem0-v1", "Mem0 1.0.x", "mem0ai", _HERE / "requirements-v1.txt", memory="mem0-v1")


class Mem0(ProductMemory):
    """Each write is one extraction over the last ten messages, ten similar memories and the new turns.

    Nothing is ever updated or deleted; a fact that is held word for word is not added again. A read is one embedding
    and no chat call. ``k`` memories are recalled; ``max_tokens`` caps an extraction, whose loss Mem0 does not notice
    (its own default, 2,000, cuts long ones off). Facts name their batch of turns, narrowed where one turn says it.
    """

    card: ClassVar[Card] = Card(
        name="mem0",
        title="Mem0 2.x",
        summary="facts extracted by the backbone from every ten turns; only ever added",
        write_every=10,
    )
    product: ClassVar[Product] = MEM0

    def __init__(
        self,
        gateway: GatewayAccess,
        directory: Path,
        k: int = 10,
        max_tokens: int = 8000,
        limits_s: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(
            [str(self.environment().python), str(_HERE / "sidecar.py")],
            gateway,
            directory,
            options={"k": k, "max_tokens": max_tokens},
            variables={"MEM0_TELEMETRY": "False", "MEM0_DIR": str(directory / "mem0")},
            limits_s=limits_s,
        )

    def sources(self, text: str, turn_ids: tuple[str, ...]) -> tuple[str, ...]:
        """The turns of the batch that plainly say it, else all."""
        return narrowed(text, [self._written[turn] for turn in turn_ids])


class Mem0V1(Mem0):
    """Mem0 1.0.x: a second call, under ``manage``, decides for every fact to add, update, delete or leave.

    It sees five similar memories per fact. This is the design that paper 1 most likely measured.
    """

    card: ClassVar[Card] = Card(
        name="mem0-v1",
        title="Mem0 1.0.x",
        summary="facts extracted from every ten turns; a second call adds, updates or deletes",
        write_every=10,
    )
    product: ClassVar[Product] = MEM0_V1
