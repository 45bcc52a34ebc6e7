"""What MemSkill calls, keeps and recalls."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Emit
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.memories.base import Recalled
from memgauge.memories.memskill.memory import MemSkill
from memgauge.memories.memskill.skills import SEEDS
from memgauge.memories.nearest import unit_rows
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import UnitMeter
from support import Scripted, new_ledger, open_unit

TOWNS = ("Porto", "Ghent", "Turku", "Graz", "Bergen", "Split", "Cork", "Lyon", "Basel", "Tartu", "Ulm", "Parma", "Vigo")


def sized(number: int, size: int = 50) -> Turn:
    """A turn whose line has exactly ``size`` tokens and that tells of a town of its own."""
    text = f"In {TOWNS[number % len(TOWNS)]} I bought {number} lamps."
    while tokens.count(Turn("", "Ann", text).line()) < size:
        text += " apple"
    return Turn(f"t{number}", "Ann", text)


class Editing:
    """A backbone that inserts what ``told`` says of the newest turns, designs a skill, and chooses the first."""

    name, model, paid, window = "editing", "editing-1", False, None

    def __init__(self, told: str = "") -> None:
        self.told = told
        self.designed = 0

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        asked = json.dumps(request.params.get("response_format", "a text"))
        if '"operations"' in asked:
            new = request.messages[1].text.split("## New text\n")[1].splitlines()
            inserts = [{"action": "INSERT", "number": 0, "text": self.told or line} for line in new]
            reply = json.dumps({"operations": inserts[:1] if self.told else inserts})
        elif '"changes"' in asked:
            self.designed += 1
            skill = {"name": f"skill {self.designed}", "action": "INSERT", "description": "d", "instruction": "i"}
            reply = json.dumps({"changes": [{"change": "add_new", **skill}]})
        else:
            reply = json.dumps({"skills": [1]}) if '"skills"' in asked else "An analysis."
        return await Scripted(reply).chat(request, emit)

    async def close(self) -> None:
        """Nothing to release."""


@dataclass
class Played:
    """A memory, its unit, and the ledger of both."""

    memory: MemSkill
    unit: UnitMeter
    ledger: Ledger

    async def write(self, turns: Sequence[Turn]) -> None:
        """Turn by turn, as the protocols do."""
        for number, turn in enumerate(turns, start=1):
            with self.unit.scope(number, "write"):
                await self.memory.write([turn])
            with self.unit.scope(number, "manage"):
                await self.memory.manage()

    async def read(self, query: str) -> Recalled:
        with self.unit.scope(1, "read"):
            return await self.memory.read(query)

    def frames(self) -> Frames:
        self.ledger.commit()
        return Frames(self.ledger.path)

    def calls(self) -> Mapping[tuple[str, str], int]:
        """How many, by stage and kind."""
        calls = self.frames().calls()
        return Counter(zip(calls["stage"], calls["kind"], strict=True))


@asynccontextmanager
async def played(directory: Path, backbone: Any, window: int | None = None, **options: Any) -> AsyncIterator[Played]:
    with new_ledger(directory / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, backbone)
        yield Played(MemSkill(BackboneHandle(unit), EmbedderHandle(unit), window, **options), unit, ledger)


def ids(recalled: Recalled) -> list[str]:
    return [turn_id for item in recalled.items for turn_id in item.turn_ids]


async def test_a_span_is_one_call_and_two_embedding_calls(tmp_path: Path) -> None:
    async with played(tmp_path, Editing(), designer_every=0) as one:
        await one.write([sized(number) for number in range(1, 30)])
        # 29 turns of 50 tokens: n = 10, o = 1, hence 1 + (29 − 11) // 9 = 3 spans.
        assert one.calls() == {("write", "chat"): 3, ("write", "embed"): 6}
        assert one.memory.state()["spans"] == 3
        await one.read("Which town?")
        assert one.calls()["read", "embed"] == 1


async def test_the_model_as_controller_is_a_call_more_where_there_is_a_choice(tmp_path: Path) -> None:
    options = {"controller": "model", "designer_every": 0}
    (tmp_path / "all").mkdir()
    async with played(tmp_path, Editing(), top_skills=2, **options) as one:
        await one.write([sized(number) for number in range(1, 30)])
        assert one.calls() == {("write", "chat"): 6, ("write", "embed"): 6}
    async with played(tmp_path / "all", Editing(), top_skills=4, **options) as one:
        await one.write([sized(number) for number in range(1, 30)])
        assert one.calls() == {("write", "chat"): 3, ("write", "embed"): 6}


async def test_the_designer_takes_four_calls_every_so_many_spans(tmp_path: Path) -> None:
    # What is told has no word of what was said, and the question of a town is never answered: every turn is a failure.
    async with played(tmp_path, Editing("Nothing much."), designer_every=2) as one:
        await one.write([sized(number) for number in range(1, 57)])
        # 56 turns: 1 + (56 − 11) // 9 = 6 spans, three cycles.
        assert one.calls() == {
            ("write", "chat"): 6, ("write", "embed"): 12, ("manage", "chat"): 12, ("manage", "embed"): 3,
        }  # fmt: skip
        state = one.memory.state()
        assert (state["cycles"], state["skills"]) == (3, len(SEEDS) + 3)


async def test_titles_of_skills_are_embedded_beside_a_span_and_once(tmp_path: Path) -> None:
    async with played(tmp_path, Editing(), designer_every=0, top_skills=1) as one:
        await one.write([sized(number) for number in range(1, 21)])
        embeds = one.frames().calls()["embedding_tokens"].drop_nulls().to_list()
    titles = tokens.count_all(seed.title for seed in SEEDS)
    spans = [[sized(number) for number in numbers] for numbers in (range(1, 11), range(10, 20))]
    assert embeds[0] == sum(tokens.count(turn.line()) for turn in spans[0]) + titles
    assert embeds[2] == sum(tokens.count(turn.line()) for turn in spans[1])


async def test_what_stands_in_no_span_yet_is_recalled_as_it_was_said(tmp_path: Path) -> None:
    async with played(tmp_path, Editing()) as one:
        turns = [sized(number) for number in range(1, 13)]
        await one.write(turns)
        recalled = await one.read("Ann bought 2 lamps in Turku")
    # Ten turns are a span, and each is a memory; the eleventh and twelfth wait.
    assert ids(recalled) == [f"t{number}" for number in range(1, 13)]
    assert [item.text for item in recalled.items[-2:]] == [turn.line() for turn in turns[-2:]]
    assert recalled.ranked is not None
    assert recalled.ranked[0] == ("t2",)
    assert recalled.ranked[-2:] == (("t12",), ("t11",))


async def test_the_nearest_k_are_recalled_in_the_order_they_were_written(tmp_path: Path) -> None:
    async with played(tmp_path, Editing(), k=2) as one:
        await one.write([sized(number) for number in range(1, 12)])
        recalled = await one.read("the 7 lamps of Lyon, and the 4 lamps of Bergen in Bergen")
    assert ids(recalled) == ["t4", "t7", "t11"]
    assert recalled.ranked == (("t4",), ("t7",), ("t11",))


async def test_what_does_not_fit_the_window_gives_way_the_oldest_open_turn_first(tmp_path: Path) -> None:
    async with played(tmp_path, Editing(), window=3 * 50, k=2) as one:
        await one.write([sized(number) for number in range(1, 13)])
        recalled = await one.read("the 7 lamps of Lyon, and the 4 lamps of Bergen in Bergen")
    # Two memories of fifty tokens and one of the two open turns, t11 and t12.
    assert ids(recalled) == ["t4", "t7", "t12"]
    assert recalled.dropped_turns == 1


async def test_prefilled_skills_bring_all_they_wrote_without_a_call(tmp_path: Path) -> None:
    async with played(tmp_path, Editing(), prefill_skills=True) as one:
        assert (await one.read("Which town?")).items == ()
        await one.write([sized(number) for number in range(1, 12)])
        recalled = await one.read("Which town?")
        assert ("read", "embed") not in one.calls()

    texts = [item.text for item in recalled.items]
    first, *others = (seed.text for seed in SEEDS)
    assert texts == [first, *(sized(number).line() for number in range(1, 11)), *others, sized(11).line()]
    assert recalled.ranked == tuple((f"t{number}",) for number in range(1, 12))
    assert one.memory.footprint().bytes == sum(len(text.encode()) for text in texts) - 10 + 4 * 10  # line breaks; links


async def test_prefilled_memories_give_way_to_the_window_oldest_first(tmp_path: Path) -> None:
    room = tokens.count_all(seed.text for seed in SEEDS) + 50 + 3 * 50
    async with played(tmp_path, Editing(), window=room, prefill_skills=True) as one:
        await one.write([sized(number) for number in range(1, 12)])
        recalled = await one.read("Which town?")
    # The skills and the open turn t11 leave room for three lines of fifty tokens.
    assert ids(recalled) == ["t8", "t9", "t10", "t11"]
    assert recalled.dropped_turns == 7


async def test_the_footprint_is_what_another_process_needs_to_recall_the_same(tmp_path: Path) -> None:
    async with played(tmp_path, Extractive()) as one:
        await one.write([sized(number) for number in range(1, 32)])
        query = "lamps bought in Cork"
        recalled = await one.read(query)
        texts = [memory.text for memory in one.memory._memories.held]
        waiting = [turn.line() for turn in one.memory._spans.open]
        vectors = one.memory._memories._nearest.vectors.tobytes()
        footprint = one.memory.footprint()

    assert footprint.bytes == sum(len(text.encode()) for text in (*texts, *waiting)) + len(vectors)
    # Nothing but these bytes: the nearest twenty by cosine, in order, then what waits.
    rows = np.frombuffer(vectors, np.float32).reshape(len(texts), -1)
    asked = unit_rows((await Hashing().embed([query])).vectors)[0]
    best = sorted(np.lexsort((-np.arange(len(texts)), -(rows @ asked)))[:20])
    assert [item.text.strip() for item in recalled.items] == [
        *(texts[place] for place in best), *(line.strip() for line in waiting),
    ]  # fmt: skip


async def test_a_session_is_a_span_where_that_is_wanted(tmp_path: Path) -> None:
    turns = [replace(sized(number), session=f"s{number // 4}") for number in range(12)]
    async with played(tmp_path, Editing(), span_tokens=0) as one:
        await one.write(turns)
        assert one.calls()["write", "chat"] == 2
        assert one.memory.state()["open_tokens"] == 200


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0}, {"top_skills": 0}, {"designer_every": -1}, {"span_tokens": 20}, {"controller": "ppo"},
        {"overlap_tokens": 300}, {"overlap_tokens": -1},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options)).split("_")[0]):
        MemSkill(None, None, **options)  # type: ignore[arg-type]
