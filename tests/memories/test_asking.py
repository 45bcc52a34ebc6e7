"""What a memory gets of a reply, whatever the reply looks like, and what the ledger is told of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from memgauge.backbones.base import ChatReply, ChatRequest, UpstreamError
from memgauge.ledger.frames import Frames
from memgauge.memories.asking import Asker, Prompt, read_form
from memgauge.meter.handles import BackboneHandle
from support import Scripted, new_ledger, open_unit


class Person(msgspec.Struct):
    """Not for the model."""

    name: str = ""
    age: int = 0


class Note(msgspec.Struct):
    """Not for the model."""

    people: list[Person] = []
    summary: str = ""


PROMPT = Prompt("note", "Who is in this text?")


@pytest.mark.parametrize(
    ("reply", "filled", "why"),
    [
        ('{"people": [{"name": "Ann", "age": 3}], "summary": "s"}', Note([Person("Ann", 3)], "s"), ""),
        ('Sure!\n```json\n{"people": [], "summary": "s"}\n```', Note([], "s"), ""),
        ('<think>{"people": "?"}</think>{"people": [], "summary": "s"}', Note([], "s"), ""),
        ('{"people": [], "summary": "s", "mood": "fine"}', Note([], "s"), ""),
        ('{"people": [{"name": "Ann", "age": "3"}], "summary": "s"}', Note([Person("Ann", 3)], "s"), ""),
        ('{"summary": "s"}', Note([], "s"), "lacked 'people'"),
        ('{"people": [{"name": "Ann"}, 7], "summary": "s"}', Note([Person("Ann")], "s"),
         "gave 'people' in another form"),
        ('{"people": [{"name": ["Ann"], "age": 4}], "summary": "s"}', Note([Person("", 4)], "s"),
         "gave 'people' in another form"),
        ('{"people": "Ann", "summary": {}}', None, "gave 'people' in another form and gave 'summary' in another form"),
        ('{"people": [{"name": "Ann"', None, "held no whole JSON object"),
        ("There is Ann, who is 3.", None, "held no whole JSON object"),
        ("[1, 2]", None, "held no whole JSON object"),
        (" \n", None, "was empty"),
    ],
)  # fmt: skip
def test_a_form_is_filled_as_far_as_the_reply_goes(reply: str, filled: Note | None, why: str) -> None:
    assert read_form(reply, Note) == (filled, why)


async def test_a_reply_of_no_use_stands_in_the_ledger_and_the_memory_goes_on(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted("There is Ann.", " ", '{"people": [], "summary": "s"}'))
        asker = Asker(BackboneHandle(unit))
        with unit.scope(3, "write"):
            assert await asker.form(PROMPT, Note, "Ann came.") is None
            assert await asker.text(PROMPT, "Ann came.") is None
            assert await asker.form(PROMPT, Note, "Ann came.") == Note([], "s")
    frames = Frames(tmp_path)
    told = frames.table("faults").select("fault", "turn", "stage", "what", "lost_turns").rows()
    assert told == [
        (1, 3, "write", "note: the reply held no whole JSON object", 0),
        (2, 3, "write", "note: the reply was empty", 0),
    ]
    assert frames.text(frames.table("faults")["reply"][0]) == "There is Ann."


class Refusing:
    """A server that knows no JSON schemas, refuses what is dangerous, and is down for whatever is late."""

    name, model, paid, window = "refusing", "m", False, None

    def __init__(self) -> None:
        self.seen: list[bool] = []

    async def chat(self, request: ChatRequest, emit: Any = None) -> ChatReply:
        said = request.messages[-1].text
        self.seen.append("response_format" in request.params)
        if self.seen[-1]:
            raise UpstreamError("unknown field response_format", status=400)
        if said == "dangerous":
            raise UpstreamError("the content filter said no", status=400, kind="refused")
        if said == "late":
            raise UpstreamError("connection refused", status=502, kind="connection")
        return await Scripted('{"people": [], "summary": "s"}').chat(request)

    async def close(self) -> None:
        """Nothing to release."""


async def test_a_server_without_schemas_is_asked_in_words_and_only_silence_is_raised(tmp_path: Path) -> None:
    server = Refusing()
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, server)
        asker = Asker(BackboneHandle(unit))
        with unit.scope(1, "manage"):
            assert await asker.form(PROMPT, Note, "harmless") == Note([], "s")
            assert await asker.form(PROMPT, Note, "dangerous") is None
            with pytest.raises(UpstreamError, match="connection refused"):
                await asker.form(PROMPT, Note, "late")
    assert server.seen == [True, False, False, False]
    assert Frames(tmp_path).table("faults")["what"].to_list() == ["note: the content filter said no"]


async def test_the_form_is_sent_as_a_strict_schema_without_our_own_remarks(tmp_path: Path) -> None:
    backbone = Scripted('{"people": [], "summary": "s"}')
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, backbone)
        with unit.scope(1, "write"):
            await Asker(BackboneHandle(unit)).form(PROMPT, Note, "Ann came.")
    [request] = backbone.requests
    person = {
        "type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"], "additionalProperties": False,
    }  # fmt: skip
    assert request.params["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"people": {"type": "array", "items": person}, "summary": {"type": "string"}},
        "required": ["people", "summary"],
        "additionalProperties": False,
    }
    assert request.params["max_tokens"] == 1000
