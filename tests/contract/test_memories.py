"""What every registered memory must do, ours and those of other packages alike."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.memories.base import Evidence, Memory, Recalled
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import Scripted, new_ledger, unit_record

TURNS = tuple(
    Turn(f"t{i}", "Ann" if i % 2 else "Ben", text, datetime(2024, 3, i, 9, 30))
    for i, text in enumerate(
        (
            "I moved to Porto last week.", "How is the new flat?", "Small, but the cat Miso loves the balcony.",
            "My sister Clara starts at the bakery on Monday.", "Tell her I want a sourdough.",
            "She says the first one is yours.",
        ),
        start=1,
    )
)  # fmt: skip
QUESTION = "What is the cat called?"
EVIDENCE = Evidence({QUESTION: ("t3",)})


@asynccontextmanager
async def memory_of(name: str, directory: Path) -> AsyncIterator[Memory]:
    """A fresh memory in a unit of its own, as the runner makes it."""
    with new_ledger(directory / "ledger.sqlite", [unit_record(memory=name)]) as ledger:
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), Scripted(), Hashing()).open(1)
        services = registry.Services(BackboneHandle(unit), EmbedderHandle(unit), None, EVIDENCE)
        memory = registry.create(name, {}, services)
        try:
            with unit.scope(1, "write"):
                yield memory
        finally:
            await memory.close()


@pytest.fixture(params=registry.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ids(recalled: Recalled) -> set[str]:
    return {turn_id for item in recalled.items for turn_id in item.turn_ids}


async def test_nothing_written_recalls_nothing(name: str, tmp_path: Path) -> None:
    async with memory_of(name, tmp_path) as memory:
        assert (await memory.read(QUESTION)).items == ()
        assert memory.footprint().bytes == 0


async def test_recalled_items_name_turns_that_were_written_and_end_in_a_line_break(name: str, tmp_path: Path) -> None:
    async with memory_of(name, tmp_path) as memory:
        for turn in TURNS:
            await memory.write([turn])
            await memory.manage()
        recalled = await memory.read(QUESTION)

    assert ids(recalled) <= {turn.id for turn in TURNS}
    assert all(item.text.endswith("\n") for item in recalled.items)
    if name != "none":
        assert "t3" in ids(recalled)


async def test_writing_in_one_batch_or_turn_by_turn_recalls_the_same(name: str, tmp_path: Path) -> None:
    if registry.card(name).write_every > 1:
        pytest.skip(f"{name} extracts from batches, so their borders matter")
    seen = []
    for directory, batches in (("one", [TURNS]), ("many", [(turn,) for turn in TURNS])):
        async with memory_of(name, tmp_path / directory) as memory:
            for batch in batches:
                await memory.write(batch)
                await memory.manage()
            seen.append(await memory.read(QUESTION))
    assert seen[0] == seen[1]


async def test_the_ranking_holds_what_was_recalled(name: str, tmp_path: Path) -> None:
    async with memory_of(name, tmp_path) as memory:
        await memory.write(TURNS)
        recalled = await memory.read(QUESTION)

    if recalled.ranked is not None:
        assert {turn_id for group in recalled.ranked for turn_id in group} == ids(recalled)


async def test_no_unit_sees_anothers_turns(name: str, tmp_path: Path) -> None:
    async with memory_of(name, tmp_path / "a") as one, memory_of(name, tmp_path / "b") as other:
        await one.write(TURNS)
        await other.write([Turn("x1", "Eve", "The cat is called Nero.")])
        assert ids(await other.read(QUESTION)) <= {"x1"}


def test_the_gold_evidence_is_asked_for_by_controls_only(name: str) -> None:
    [point] = entry_points(group=registry.GROUP, name=name)
    if "evidence" in inspect.signature(point.load()).parameters:
        assert registry.card(name).control


async def test_every_model_call_is_in_the_ledger(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    for kind, method in ((Scripted, "chat"), (Hashing, "embed")):
        original = getattr(kind, method)

        async def counted(*args, original=original, **options):  # type: ignore[no-untyped-def]
            nonlocal asked
            asked += 1
            return await original(*args, **options)

        monkeypatch.setattr(kind, method, counted)
    async with memory_of(name, tmp_path) as memory:
        await memory.write(TURNS)
        await memory.manage()
        await memory.read(QUESTION)

    assert Frames(tmp_path).calls().height == asked


async def test_the_footprint_covers_what_was_written(name: str, tmp_path: Path) -> None:
    async with memory_of(name, tmp_path) as memory:
        await memory.write(TURNS)
        footprint = memory.footprint()
    if name == "none":
        assert (footprint.bytes, footprint.tokens) == (0, 0)
    else:
        assert footprint.bytes > 0
        assert footprint.tokens > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a",
        "\n\n",
        "émigré – naïve 漢字 🦊",
        "lone \ud800 surrogate",
        "no-words !!! ???",
        "x" * 100_000,
        "the of and",
    ],
    ids=["empty", "blank", "letter", "breaks", "unicode", "surrogate", "marks", "long", "stop words"],
)
async def test_odd_text_is_written_and_asked_without_a_fault(name: str, text: str, tmp_path: Path) -> None:
    async with memory_of(name, tmp_path) as memory:
        await memory.write([*TURNS, Turn("odd", "Zoë", text)])
        await memory.manage()
        await memory.read(text)
        memory.footprint()


def test_the_card_has_what_a_reader_needs(name: str) -> None:
    card = registry.card(name)
    assert card.name == name
    assert card.title
    assert card.summary
    assert card.write_every >= 1
