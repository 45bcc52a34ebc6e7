"""How the backbone without a model speaks of what a prompt calls by numbers."""

import json
from typing import Any

from memgauge.backbones.base import ChatRequest
from memgauge.backbones.extractive import Extractive
from memgauge.backbones.rules.lines import read
from memgauge.backbones.rules.numbered import Section, numbers, sections
from memgauge.backbones.rules.topics import topics

NOTES = (
    "Note 7:\n[8 May 2023, 13:56] Ann: I moved to Porto.\n  tags: home\n",
    "Note 12:\n[9 May 2023] Ben: My cat Miso likes 3 balconies.\n",
    "Added note:\n[10 May 2023] Ann: It rains.\n",
)


def test_numbers_are_those_of_what_the_property_names() -> None:
    text = "Page 3 and pages 4 tell of 8 May 2023; page 3 ends there."
    assert numbers("pages", text) == (3, 4)
    assert numbers("expanded_page", text) == (3, 4)
    assert numbers("years", text) == ()


def test_a_section_ends_where_the_next_heading_begins() -> None:
    assert sections("note", "".join(NOTES)) == (
        Section(7, "[8 May 2023, 13:56] Ann: I moved to Porto.\n  tags: home\n"),
        Section(12, "[9 May 2023] Ben: My cat Miso likes 3 balconies.\n"),
    )


async def test_a_schema_is_filled_with_the_numbers_that_the_prompt_gives_and_with_what_stands_under_them() -> None:
    string, whole = {"type": "string"}, {"type": "integer"}
    entry: dict[str, Any] = {"type": "object", "properties": {"note": whole, "context": string}}
    schema = {
        "type": "object",
        "properties": {
            "linked_notes": {"type": "array", "items": whole},
            "revised_notes": {"type": "array", "items": entry},
        },
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "evolution", "schema": schema}}
    reply = await Extractive().chat(ChatRequest.of("What changes?", *NOTES, response_format=wanted))
    assert json.loads(reply.text) == {
        "linked_notes": [7, 12],
        "revised_notes": [
            {"note": 7, "context": "Ann moved to Porto (8 May 2023)."},
            {"note": 12, "context": "Ben's cat Miso likes 3 balconies (9 May 2023)."},
        ],
    }


def test_the_name_of_an_indented_field_and_a_year_are_no_topics() -> None:
    block = read("[8 May 2023] Ann: We built boats in 1998.\n  keywords: boats, harbour\n")
    assert topics([block]) == ("boats", "built", "harbour")
