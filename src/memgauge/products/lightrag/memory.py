"""LightRAG: entities and relations extracted from chunks into a graph, read beside the chunks (paper 2's M5)."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Literal

from memgauge.memories.base import Card, GatewayAccess, Recalled
from memgauge.memories.provenance import narrowed
from memgauge.products.environment import Product
from memgauge.products.product_memory import ProductMemory

_HERE = Path(__file__).parent
# Of a description; <SEP> stands between those of one entity that no summary has made one yet.
_SENTENCE = re.compile(r"<SEP>|(?<=[.!?])\s+|\n+")
_FEW = 10  # turns
_WHOLE_S = 6 * 3600  # a lazy read may have a whole conversation to insert

LIGHTRAG = Product("lightrag", "LightRAG", "lightrag-hku", _HERE / "requirements.txt", memory="lightrag")


class LightRAG(ProductMemory):
    """Each chunk is one extraction and, with ``gleaning``, one more that asks for what was missed.

    An entity or relation of eight descriptions is summarised by a further call. A read is one call for keywords and
    one embedding batch; then entities, relations and (``mix`` only) chunks nearest to them. A ``session`` becomes one
    document, inserted when the next one begins, and at the latest at the next read; with ``utterance`` every turn is
    one. ``lazy`` collects them all until the next read, and charges their insertion to ``manage``, as paper 2 does.
    """

    card: ClassVar[Card] = Card(
        name="lightrag",
        title="LightRAG",
        summary="entities and relations extracted from every session into a graph, read beside the chunks",
        paper_id="M5",
        write_every=10,
    )
    product: ClassVar[Product] = LIGHTRAG

    def __init__(
        self,
        gateway: GatewayAccess,
        directory: Path,
        granularity: Literal["session", "utterance"] = "session",
        mode: Literal["mix", "hybrid"] = "mix",
        gleaning: int = 1,
        top_k: int = 40,
        chunk_top_k: int = 20,
        lazy: bool = False,
        limits_s: Mapping[str, float] | None = None,
    ) -> None:
        for option, value, allowed in (
            ("granularity", granularity, ("session", "utterance")),
            ("mode", mode, ("mix", "hybrid")),
            ("gleaning", gleaning, (0, 1)),
        ):
            if value not in allowed:
                raise ValueError(f"{option} must be {allowed[0]!r} or {allowed[1]!r}")
        super().__init__(
            [str(self.environment().python), str(_HERE / "sidecar.py")],
            gateway,
            directory,
            options={
                "granularity": granularity, "mode": mode, "gleaning": gleaning, "top_k": top_k,
                "chunk_top_k": chunk_top_k, "lazy": lazy,
            },
            limits_s={"read": _WHOLE_S, **(limits_s or {})} if lazy else limits_s,
        )  # fmt: skip
        self._traced: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """What LightRAG would hand to a generator; what waited to be inserted is held from then on."""
        recalled = await super().read(query, at)
        if self.state().get("waiting_turns"):
            await self.look()
        return recalled

    def sources(self, text: str, turn_ids: tuple[str, ...]) -> tuple[str, ...]:
        """A chunk's own turns; of an entity or a relation, those that plainly say a sentence of its description.

        Where none does it comes from all turns of its chunks, unless these are many: then nobody knows.
        """
        record = next(line for line in reversed(text.split("\n")) if line.startswith("{"))
        if record.startswith('{"reference_id"') or len(turn_ids) < 2:
            return turn_ids
        known = self._traced.get((record, turn_ids))
        if known is None:
            told = _SENTENCE.split(json.loads(record)["description"])
            known = self._traced[record, turn_ids] = self._saying(told, turn_ids)
        return known

    def _saying(self, told: Sequence[str], turn_ids: tuple[str, ...]) -> tuple[str, ...]:
        turns = [self._written[turn] for turn in turn_ids]
        found = [narrowed(sentence, turns) for sentence in told]
        plain = {turn for saying in found if len(saying) < len(turns) for turn in saying}
        if not plain:
            return turn_ids if len(turn_ids) <= _FEW else ()
        return tuple(turn for turn in turn_ids if turn in plain)
