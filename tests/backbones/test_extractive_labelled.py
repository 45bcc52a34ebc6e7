"""The extractive backbone names lines by the ids that they carry, and changes nothing that is there."""

import json
from typing import Any

from memgauge.backbones.base import ChatRequest, Message
from memgauge.backbones.extractive import Extractive

IDS = ("0f1e2d3c-0000-4000-8000-000000000001", "0f1e2d3c-0000-4000-8000-000000000002")
LINES = (
    f"[{IDS[0]}] Ann adopted a dog called Rex. (mentioned_at=2023-05-08 13:56:00+00:00)\n",
    f"[{IDS[1]}] Bob is moving to Lisbon. (mentioned_at=2023-05-08 13:56:00.010000+00:00)\n",
)


def listed(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": items, "required": list(items)}}


async def replied(schema: dict[str, Any], *parts: str) -> Any:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    request = ChatRequest((Message("user", parts),), {"response_format": form})
    return json.loads((await Extractive().chat(request)).text)


async def test_a_line_is_cited_by_its_id_which_is_no_part_of_what_it_says() -> None:
    sources = {"type": "array", "items": {"enum": list(IDS)}, "minItems": 1}
    created = {"text": {"type": "string"}, "sources": sources}
    schema = {
        "type": "object",
        "properties": {"creates": listed(created), "updates": listed(created), "deletes": listed(created)},
    }
    assert await replied(schema, *LINES) == {
        "creates": [
            {"text": "Ann adopted a dog called Rex.", "sources": [IDS[0]]},
            {"text": "Bob is moving to Lisbon.", "sources": [IDS[1]]},
        ],
        "updates": [],
        "deletes": [],
    }


async def test_a_label_of_two_words_is_nobody_who_speaks() -> None:
    schema = {"type": "object", "properties": {"facts": {"type": "array", "items": {"type": "string"}}}}
    told = await replied(schema, "Event Date: Monday, May 8, 2023\n", "Context: a chat\n", "Ann: I adopted a dog.\n")
    assert told == {"facts": ["Ann adopted a dog."]}
