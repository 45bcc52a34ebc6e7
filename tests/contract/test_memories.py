"""What every registered memory must do: ours, those of other packages, outside products, programs of any language."""

import inspect
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.memories.base import Evidence, GatewayAccess, Memory, Recalled
from memgauge.meter.gateway import Gateway
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import new_ledger, unit_record

EXAMPLES = Path(__file__).parents[2] / "examples"

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


@dataclass(frozen=True)
class Case:
    """A memory as a spec would name it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


CASES = {name: Case(name) for name in registry.names() if name != "sidecar"} | {
    "sidecar in Python": Case("sidecar", {"command": [sys.executable, str(EXAMPLES / "notes_sidecar.py")]}),
    "sidecar in JavaScript": Case("sidecar", {"command": ["node", str(EXAMPLES / "notes_sidecar.mjs")]}),
}


@asynccontextmanager
async def memory_of(case: Case, directory: Path) -> AsyncIterator[Memory]:
    """A fresh memory in a unit of its own, as the runner makes it."""
    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(new_ledger(directory / "ledger.sqlite", [unit_record(memory=case.name)]))
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), Extractive(), Hashing()).open(1)
        gateway = Gateway()
        await gateway.start()
        stack.push_async_callback(gateway.close)
        gateway.register(unit)
        access = GatewayAccess(gateway.base_url, unit.key, unit.model, unit.embedding_model, unit.embedding_dimensions)
        home = directory / "home"
        home.mkdir()
        services = registry.Services(BackboneHandle(unit), EmbedderHandle(unit), None, EVIDENCE, access, home)
        memory = registry.create(case.name, case.options, services)
        stack.push_async_callback(memory.close)
        with unit.scope(1, "write"):
            yield memory


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    found = CASES[request.param]
    try:
        registry.check(found.name, found.options)
    except UserError as reason:
        pytest.skip(str(reason))
    return found


def ids(recalled: Recalled) -> set[str]:
    return {turn_id for item in recalled.items for turn_id in item.turn_ids}


async def test_nothing_written_recalls_nothing(case: Case, tmp_path: Path) -> None:
    async with memory_of(case, tmp_path) as memory:
        assert (await memory.read(QUESTION)).items == ()
        assert memory.footprint().bytes == 0


async def test_recalled_items_name_turns_that_were_written_and_end_in_a_line_break(case: Case, tmp_path: Path) -> None:
    async with memory_of(case, tmp_path) as memory:
        for turn in TURNS:
            await memory.write([turn])
            await memory.manage()
        recalled = await memory.read(QUESTION)

    assert ids(recalled) <= {turn.id for turn in TURNS}
    assert all(item.text.endswith("\n") for item in recalled.items)
    if case.name != "none":
        assert "t3" in ids(recalled)


async def test_writing_in_one_batch_or_turn_by_turn_recalls_the_same(case: Case, tmp_path: Path) -> None:
    if registry.card(case.name).write_every > 1:
        pytest.skip(f"{case.name} extracts from batches, so their borders matter")
    seen = []
    for directory, batches in (("one", [TURNS]), ("many", [(turn,) for turn in TURNS])):
        async with memory_of(case, tmp_path / directory) as memory:
            for batch in batches:
                await memory.write(batch)
                await memory.manage()
            seen.append(await memory.read(QUESTION))
    assert seen[0] == seen[1]


async def test_the_ranking_holds_what_was_recalled(case: Case, tmp_path: Path) -> None:
    async with memory_of(case, tmp_path) as memory:
        await memory.write(TURNS)
        recalled = await memory.read(QUESTION)

    if recalled.ranked is not None:
        assert {turn_id for group in recalled.ranked for turn_id in group} == ids(recalled)


async def test_no_unit_sees_anothers_turns(case: Case, tmp_path: Path) -> None:
    async with memory_of(case, tmp_path / "a") as one, memory_of(case, tmp_path / "b") as other:
        await one.write(TURNS)
        await other.write([Turn("x1", "Eve", "The cat is called Nero.")])
        assert ids(await other.read(QUESTION)) <= {"x1"}


def test_the_gold_evidence_is_asked_for_by_controls_only(case: Case) -> None:
    [point] = entry_points(group=registry.GROUP, name=case.name)
    if "evidence" in inspect.signature(point.load()).parameters:
        assert registry.card(case.name).control


async def test_every_model_call_is_in_the_ledger(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    for kind, method in ((Extractive, "chat"), (Hashing, "embed")):
        original = getattr(kind, method)

        async def counted(*args, original=original, **options):  # type: ignore[no-untyped-def]
            nonlocal asked
            asked += 1
            return await original(*args, **options)

        monkeypatch.setattr(kind, method, counted)
    async with memory_of(case, tmp_path) as memory:
        await memory.write(TURNS)
        await memory.manage()
        await memory.read(QUESTION)

    assert Frames(tmp_path).calls().height == asked


async def test_the_footprint_covers_what_was_written(case: Case, tmp_path: Path) -> None:
    async with memory_of(case, tmp_path) as memory:
        await memory.write(TURNS)
        await memory.manage()
        footprint = memory.footprint()
    if case.name == "none":
        assert (footprint.bytes, footprint.tokens) == (0, 0)
    else:
        assert footprint.bytes > 0
        assert footprint.tokens > 0


ODD = {
    "empty": "",
    "blank": " ",
    "letter": "a",
    "breaks": "\n\n",
    "unicode": "émigré – naïve 漢字 🦊",
    "surrogate": "lone \ud800 surrogate",
    "marks": "no-words !!! ???",
    "long": "x" * 100_000,
    "stop words": "the of and",
}


async def test_odd_text_is_written_and_asked_without_a_fault(case: Case, tmp_path: Path) -> None:
    async with memory_of(case, tmp_path) as memory:
        await memory.write(TURNS)
        for kind, text in ODD.items():
            await memory.write([Turn(kind, "Zoë", text)])
            await memory.manage()
            await memory.read(text)
            memory.footprint()


def test_the_card_has_what_a_reader_needs(case: Case) -> None:
    card = registry.card(case.name)
    assert card.name == case.name
    assert card.title
    assert card.summary
    assert card.write_every >= 1
