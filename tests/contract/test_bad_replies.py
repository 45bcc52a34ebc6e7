"""What every memory that thinks does with a model that replies badly: it keeps the text, says so, and goes on."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memgauge.backbones.base import ChatReply, ChatRequest, Emit, Usage, completion
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.base import EmbedReply
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.memories.base import Evidence, Memory, Recalled
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.spec import Setting
from support import new_ledger, unit_record


def _thinks(name: str) -> bool:
    try:
        return registry.wants(name, "backbone")
    except UserError:
        return True  # what it needs is not installed: the fixture says so


THINKING = [name for name in registry.names() if _thinks(name)]
# What is recalled of all that is held is a matter of ranking, which is not at stake here.
RECALL_MORE: dict[str, dict[str, Any]] = {"amem": {"k": 50}, "reasoningbank": {"n": 50}}

TOWNS = ("Porto", "Ghent", "Turku", "Graz", "Bergen", "Split", "Cork", "Lyon", "Basel", "Tartu", "Ulm", "Parma", "Vigo")
KEY = "The spare key of the boathouse hangs behind the green mirror."
ODD = {
    "two characters": "Ok",
    "50 kB": f"{KEY} " * 800,
    "another language": "备用钥匙挂在绿色镜子后面。 Запасной ключ висит за зеркалом. Κλειδί πίσω από τον καθρέφτη.",
}


def conversation() -> list[Turn]:
    """Three sessions of fourteen turns, each long enough for pages, spans and clusters; in the second one odd turns."""
    turns = []
    for session in range(3):
        for number, town in enumerate(TOWNS):
            text = (
                f"In {town} I met my cousin {town[:2]}la at the harbour on trip {session + 1}, and we spoke about her "
                f"bakery, the price of flour, the ferry that was late, and the {number + 3} loaves she burnt that day."
            )
            turns.append(_turn(session, number, text))
        if session == 1:
            turns += [_turn(1, len(TOWNS) + i, text) for i, text in enumerate(ODD.values())]
    return turns


def _turn(session: int, number: int, text: str) -> Turn:
    said = datetime(2024, 3, 1 + session, 9, number)
    return Turn(f"D{session + 1}:{number + 1}", "Ann" if number % 2 else "Ben", text, said, f"session {session + 1}")


TURNS = conversation()
ODD_TURNS = {kind: next(turn for turn in TURNS if turn.text == text) for kind, text in ODD.items()}

Spoil = Callable[[str, dict[str, Any]], str]  # of a sound reply and the schema that it was asked to meet


def _wrong_types(sound: str, schema: dict[str, Any]) -> str:
    return json.dumps({key: {"no": None} for key in schema["properties"]})


def _other_numbers(sound: str, schema: dict[str, Any]) -> str:
    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [changed(each) for each in value]
        return 987654 if isinstance(value, int) and not isinstance(value, bool) else value

    return json.dumps(changed(json.loads(sound)))


def _first_field(sound: str, schema: dict[str, Any]) -> str:
    return json.dumps(dict(list(json.loads(sound).items())[:1]))


def _more_fields(sound: str, schema: dict[str, Any]) -> str:
    return json.dumps({"mood": "fine", **json.loads(sound), "links": [[1]]})


def _odd_letters(sound: str, schema: dict[str, Any]) -> str:
    return sound.replace('": "', '": "\\ud800\\u0000 ').replace('["', '["\\udfff ')


UNUSABLE: dict[str, Spoil] = {
    "prose": lambda sound, schema: "I would be glad to help with that. What would you like to know?",
    "cut off": lambda sound, schema: sound[: len(sound) // 2],
    "empty": lambda sound, schema: "",
    "blank": lambda sound, schema: " \n",
    "a list": lambda sound, schema: "[1, 2, 3]",
    "strange fields": lambda sound, schema: '{"mood": "fine"}',
    "wrong types": _wrong_types,
    "braces": lambda sound, schema: "{" * 1500,
}
DOUBTFUL: dict[str, Spoil] = {
    "missing fields": _first_field,
    "more fields": _more_fields,
    "numbers of nothing": _other_numbers,
    "odd letters": _odd_letters,
}


@dataclass
class Spoilt:
    """The extractive backbone, its replies spoilt as long as ``spoil`` is set.

    Where a text is asked for it is empty, since no other text is by itself of no use, or left as it is.
    """

    spoil: Spoil | None
    texts_too: bool
    spoilt: int = 0
    for_forms: list[str] = field(default_factory=list)
    sound: Extractive = field(default_factory=Extractive)

    name, model, paid, window = "spoilt", "spoilt-1", False, None

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        reply = await self.sound.chat(request)
        if self.spoil is None:
            return reply
        if wanted := request.params.get("response_format"):
            text = self.spoil(reply.text, wanted["json_schema"]["schema"])
            self.for_forms.append(text)
        else:
            text = "" if self.texts_too else reply.text
        self.spoilt += 1
        raw = completion("spoilt", self.model, {"content": text}, "stop", None)
        return ChatReply(text, Usage(input=1, output=1), self.model, raw=raw)

    async def close(self) -> None:
        """Nothing to release."""


class Widening(Hashing):
    """An embedder that once, at its ``nth`` call, gives vectors of another width."""

    def __init__(self, nth: int) -> None:
        super().__init__()
        self.left = nth

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        self.left -= 1
        return await (Hashing(300) if self.left == 0 else super()).embed(texts)


@pytest.fixture(params=THINKING)
def name(request: pytest.FixtureRequest) -> str:
    try:
        registry.check(request.param, {})
    except UserError as reason:
        pytest.skip(str(reason))
    return str(request.param)


@asynccontextmanager
async def opened(name: str, backbone: Any, directory: Path, embedder: Hashing | None = None) -> AsyncIterator[Any]:
    """A memory of that name over the two models, and its unit."""
    with new_ledger(directory / "ledger.sqlite", [unit_record(memory=name)]) as ledger:
        unit = Meter(ledger, Setting(), backbone, embedder or Hashing()).open(1, attempt=ledger.start_unit(1, 0.0))
        home = directory / "home"
        home.mkdir()
        services = registry.Services(BackboneHandle(unit), EmbedderHandle(unit), None, Evidence({}), directory=home)
        memory = registry.create(name, RECALL_MORE.get(name, {}), services)
        yield memory, unit
        await memory.close()


async def write(memory: Memory, unit: UnitMeter, turns: Sequence[Turn]) -> None:
    """Writes as the protocols do, in the batches of the memory's trigger."""
    every = memory.card.write_every
    for start in range(0, len(turns), every):
        with unit.scope(start + 1, "write"):
            await memory.write(turns[start : start + every])
        with unit.scope(start + 1, "manage"):
            await memory.manage()


async def read(memory: Memory, unit: UnitMeter, query: str) -> Recalled:
    with unit.scope(len(TURNS), "read"):
        return await memory.read(query)


def text(recalled: Recalled) -> str:
    return "".join(item.text for item in recalled.items)


def ids(recalled: Recalled) -> set[str]:
    return {turn_id for item in recalled.items for turn_id in item.turn_ids}


@pytest.mark.parametrize("kind", UNUSABLE)
async def test_of_a_reply_of_no_use_a_fault_tells_and_the_turn_is_recalled_as_it_was_said(
    name: str, kind: str, tmp_path: Path
) -> None:
    backbone = Spoilt(UNUSABLE[kind], texts_too=True)
    async with opened(name, backbone, tmp_path) as (memory, unit):
        await write(memory, unit, TURNS)
        await read(memory, unit, "Where does the spare key hang?")  # what is built at read is built of bad replies too
        backbone.spoil = None
        for odd, turn in ODD_TURNS.items():
            asked = KEY if odd == "50 kB" else turn.text
            recalled = await read(memory, unit, asked)
            assert asked in text(recalled), odd
            assert turn.id in ids(recalled), odd

    frames = Frames(tmp_path)
    faults = frames.table("faults")
    told = Counter(frames.text(number) for number in faults["reply"].drop_nulls())
    assert told >= Counter(backbone.for_forms)
    if kind in ("empty", "blank"):  # neither a form nor a text
        assert faults.height >= backbone.spoilt > 0
    assert set(frames.calls()["outcome"]) == {"ok"}


@pytest.mark.parametrize("kind", DOUBTFUL)
async def test_a_reply_that_is_partly_of_use_breaks_nothing(name: str, kind: str, tmp_path: Path) -> None:
    async with opened(name, Spoilt(DOUBTFUL[kind], texts_too=False), tmp_path) as (memory, unit):
        await write(memory, unit, TURNS)
        recalled = await read(memory, unit, "Whom did Ann meet in Ghent?")
        footprint = memory.footprint()

    assert ids(recalled) <= {turn.id for turn in TURNS}
    assert "Ghent" in text(recalled)
    assert footprint.bytes > 0


@pytest.mark.parametrize("nth", [1, 2])
async def test_vectors_of_another_width_are_a_fault_and_the_run_goes_on(name: str, nth: int, tmp_path: Path) -> None:
    embedder = Widening(nth)
    async with opened(name, Extractive(), tmp_path, embedder) as (memory, unit):
        await write(memory, unit, TURNS)
        recalled = await read(memory, unit, "Whom did Ann meet in Vigo on trip 3?")
        footprint = memory.footprint()
    if embedder.left > 0:
        pytest.skip(f"{name} made no embedding call {nth}")

    assert any("expected" in what for what in Frames(tmp_path).table("faults")["what"])
    assert "Vigo" in text(recalled)
    assert footprint.bytes > 0
