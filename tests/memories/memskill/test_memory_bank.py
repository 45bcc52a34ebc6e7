"""What the bank of memories holds and finds after edits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from memgauge.backbones.base import UpstreamError
from memgauge.memories.memskill.memory_bank import MemoryBank, Remembered


class Axes:
    """Embeds by three words, one axis each; ``broken`` calls give nothing that fits."""

    def __init__(self, broken: Sequence[int] = ()) -> None:
        self.calls: list[list[str]] = []
        self.faults: list[str] = []
        self._broken = broken

    async def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        if len(self.calls) in self._broken:
            raise UpstreamError("another width", status=502, kind="malformed")
        words = ("red", "green", "blue")
        return np.array([[float(text.count(word)) for word in words] for text in texts], np.float32)

    def fault(self, what: str) -> None:
        self.faults.append(what)


async def found(bank: MemoryBank, query: str, k: int = 2) -> list[int]:
    return [memory.number for memory in await bank.search(query, k)]


async def test_an_update_keeps_the_number_and_the_turns_and_is_found_by_its_new_text() -> None:
    bank = MemoryBank(Axes())  # type: ignore[arg-type]
    old = bank.insert("red", ["t1", "t1"], "s")
    bank.insert("green", ["t2"], "s")
    await bank.embed()
    bank.update(old, "blue", ["t3", "t1"], "u")
    await bank.embed()

    assert bank.held == (Remembered(1, "blue", ("t1", "t3"), "u"), Remembered(2, "green", ("t2",), "s"))
    assert await found(bank, "blue", 1) == [1]


async def test_what_was_deleted_is_not_found_and_takes_no_room_and_its_number_is_not_given_again() -> None:
    bank = MemoryBank(Axes())  # type: ignore[arg-type]
    for text in ("red", "red green", "green"):
        bank.insert(text, ["t"], "s")
    await bank.embed()
    bank.delete(bank.held[0])

    assert await found(bank, "red", 2) == [2, 3]
    assert bank.vector_bytes == 2 * 3 * 4
    assert bank.get(1) is None
    assert bank.insert("blue", [], "s").number == 4


async def test_what_was_changed_is_embedded_in_one_call_and_only_once() -> None:
    embedder = Axes()
    bank = MemoryBank(embedder)  # type: ignore[arg-type]
    one = bank.insert("red", [], "s")
    bank.insert("green", [], "s")
    await bank.embed()
    bank.update(one, "blue", [], "s")
    bank.insert("red", [], "s")
    await bank.embed()
    await bank.embed()
    assert embedder.calls == [["red", "green"], ["blue", "red"]]


async def test_memories_without_vectors_are_recalled_behind_the_others_and_embedded_with_the_next() -> None:
    embedder = Axes(broken=[1])
    bank = MemoryBank(embedder)  # type: ignore[arg-type]
    bank.insert("red", [], "s")
    bank.insert("green", [], "s")
    await bank.embed()
    assert await found(bank, "red") == [2, 1]  # no vector yet: the newest first, and no call for the query
    assert len(embedder.faults) == 1

    bank.insert("blue", [], "s")
    await bank.embed()
    assert embedder.calls == [["red", "green"], ["red", "green", "blue"]]
    assert await found(bank, "red", 1) == [1]


async def test_an_empty_bank_is_searched_without_a_call() -> None:
    embedder = Axes()
    assert await MemoryBank(embedder).search("red", 3) == []  # type: ignore[arg-type]
    assert embedder.calls == []
