"""Texts are found by exact cosine; an embedding that is of no use loses no text and no place."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memgauge.backbones.base import UpstreamError, Usage
from memgauge.embedders.base import EmbedReply
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.memories.nearest import Hit, Nearest
from memgauge.meter.handles import EmbedderHandle
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.spec import Setting
from support import Scripted, new_ledger


class Table:
    """An embedder that looks vectors up."""

    name, model, paid = "table", "table-1", False
    dimensions: int | None = None

    def __init__(self, **vectors: Sequence[float]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        found = np.array([self.vectors[text] for text in texts], np.float32)
        return EmbedReply(found, Usage(embedding=1), self.model)

    async def close(self) -> None:
        """Nothing to release."""


def unit_of(ledger: Ledger, embedder: Table) -> UnitMeter:
    ledger.start_unit(1, 0.0)
    return Meter(ledger, Setting(), Scripted(), embedder).open(1)


async def test_the_best_come_first_and_equals_go_to_the_later(tmp_path: Path) -> None:
    table = Table(east=[2, 0], north=[0, 1], far_east=[9, 0], northeast=[1, 1])
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        index = Nearest(EmbedderHandle(unit_of(ledger, table)))
        assert await index.nearest("east", 3) == []
        await index.add(["east", "north"])
        await index.add(["far_east"])
        assert await index.nearest("east", 2) == [Hit(2, 1.0), Hit(0, 1.0)]
        await index.replace({2: "north"})
        best = await index.nearest("northeast", 3)
        assert [hit.place for hit in best] == [2, 1, 0]
        assert best[0].similarity == pytest.approx(0.5**0.5)
        assert (len(index), index.bytes) == (3, 3 * 2 * 4)


async def test_vectors_of_another_width_are_a_fault_and_their_texts_are_not_found(tmp_path: Path) -> None:
    table = Table(east=[1, 0], deep=[1, 0, 0], void=[float("nan"), 0], north=[0, 1])
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        index = Nearest(EmbedderHandle(unit_of(ledger, table)))
        await index.add(["east"])
        await index.add(["deep"])
        await index.add(["void"])
        await index.add(["north"])
        assert [hit.place for hit in await index.nearest("east", 4)] == [0, 3, 2, 1]
        assert [hit.similarity for hit in await index.nearest("north", 4)] == [1, 0, 0, 0]
        with pytest.raises(UpstreamError, match="table-1 gave 1 vectors of 3 dimensions, where 1 of 2 were expected"):
            await index.nearest("deep", 1)
    frames = Frames(tmp_path)
    told = frames.table("faults")["what"].str.strip_prefix("1 texts were not embedded and cannot be found: ")
    assert told.to_list() == [
        "table-1 gave 1 vectors of 3 dimensions, where 1 of 2 were expected",
        "table-1 gave vectors without numbers, where 1 of 2 were expected",
    ]
    assert frames.calls()["outcome"].to_list() == ["ok", "malformed", "malformed", "ok", "ok", "ok", "malformed"]
