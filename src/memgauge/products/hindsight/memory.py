"""Hindsight: facts from every batch, consolidated in the background, recalled by four searches (paper 1 §3.1)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from memgauge.backbones.base import ChatRequest, Message
from memgauge.memories.base import Card, GatewayAccess, Item
from memgauge.memories.provenance import narrowed
from memgauge.products.environment import Product
from memgauge.products.product_memory import ProductMemory

_HERE = Path(__file__).parent
# An observation of facts without a date is dated by the clock.
_CLOCK = re.compile(r'("mentioned_at": ")[^"]*')
_OPEN_S = 300.0  # PostgreSQL and a server of 300 MB, several units at once on a busy machine

HINDSIGHT = Product("hindsight", "Hindsight", "hindsight-api-slim", _HERE / "requirements.txt", memory="hindsight")


class Hindsight(ProductMemory):
    """A write is one extraction per 3,000 characters; then eight facts at a time are merged into observations.

    Merging (consolidation) is Hindsight's own background work, and most of what it costs: it is awaited after every
    write, under ``manage``. A read is one embedding and no chat call: ``budget`` (low, mid, high) is how widely it
    searches, ``max_tokens`` what it may hand back, of which the best ``k`` are taken (paper 1, table 5). ``retries``
    is how often Hindsight asks again after a reply that it cannot read; ``strict_schema`` has the model held to the
    schema (small models need it), instead of told it. In ``languages`` it looks for dates ("" for all: four times the
    CPU).
    """

    card: ClassVar[Card] = Card(
        name="hindsight",
        title="Hindsight",
        summary="facts extracted from every ten turns, merged into observations in the background",
        write_every=10,
    )
    product: ClassVar[Product] = HINDSIGHT

    def __init__(
        self,
        gateway: GatewayAccess,
        directory: Path,
        k: int = 10,
        budget: str = "mid",
        max_tokens: int = 4096,
        retries: int = 3,
        strict_schema: bool = False,
        languages: str = "en",
        limits_s: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(
            [str(self.environment().python), str(_HERE / "sidecar.py")],
            gateway,
            directory,
            options={
                "k": k, "budget": budget, "max_tokens": max_tokens, "retries": retries,
                "strict_schema": strict_schema, "languages": languages,
            },
            limits_s={"open": _OPEN_S, **(limits_s or {})},
        )  # fmt: skip

    @staticmethod
    def alike(request: ChatRequest) -> ChatRequest:
        """The request without the dates of observations. Its ids are the same in every attempt (see the sidecar)."""
        return ChatRequest(tuple(map(_undated, request.messages)), request.params)

    def _item(self, entry: Mapping[str, Any]) -> Item:
        """A fact comes from the turns of its batch that plainly say it; an observation from those of all its facts."""
        item = super()._item(entry)
        turns: dict[str, None] = {}
        for fact in entry.get("facts") or ():
            said = [self._written[turn] for turn in fact["turns"]]
            turns.update(dict.fromkeys(narrowed(fact["text"], said)))
        return Item(item.text, tuple(turns) or item.turn_ids)


def _undated(message: Message) -> Message:
    return replace(message, parts=tuple(_CLOCK.sub(r"\1", part) for part in message.parts))
