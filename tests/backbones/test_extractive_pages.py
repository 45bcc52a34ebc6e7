"""What the extractive backbone does for memories that shorten texts and ask for numbers: gists, pages, labels."""

import json
from typing import Any

import pytest

from memgauge.backbones.base import ChatRequest
from memgauge.backbones.extractive import Extractive

PAGE = (
    "[8 May 2023, 13:56] Ann: I adopted a dog called Rex at the shelter in Lisbon yesterday! How are you?\n"
    "[8 May 2023, 13:57] Bob: I'm fine.\n"
    "[8 May 2023, 13:58] Ann: I love Rex. Will you come and meet the two of us?\n",
)


async def said(instruction: str, *parts: str) -> str:
    return (await Extractive().chat(ChatRequest.of(instruction, *parts))).text


async def filled(name: str, kind: dict[str, Any], *parts: str) -> Any:
    schema = {"type": "object", "properties": {name: kind}, "required": [name]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return json.loads((await Extractive().chat(ChatRequest.of("Choose.", *parts, response_format=wanted))).text)[name]


@pytest.mark.parametrize("verb", ["Shorten", "Summarise", "Please condense"])
async def test_a_text_is_shortened_to_the_fact_that_says_most(verb: str) -> None:
    # Two facts, of which a fifth is one: the dog says more. That the page ends in a question does not matter.
    assert (
        await said(f"{verb} the page.", *PAGE) == "Ann adopted a dog called Rex at the shelter in Lisbon on 7 May 2023!"
    )


async def test_one_sentence_is_one_however_long_the_text() -> None:
    page = [f"[8 May 2023] Ann: I visited my aunt number {number} in Porto.\n" for number in range(2, 12)]
    short = await said("Shorten the page.", *page)
    assert short.count("Porto") == 2  # of ten facts
    assert (await said("Shorten the page to one sentence.", *page)).count("Porto") == 1


async def test_a_text_without_facts_is_shortened_to_its_beginning() -> None:
    assert await said("Shorten the page.", "well  well\n") == "well well"


async def test_pages_that_bear_on_the_question_are_named_best_first() -> None:
    pages = (
        "[page 1] Ann adopted a dog called Rex.\n", "[page 2] Bob moved to Lisbon in 2023.\n",
        "[page 3] Rex ran away in Lisbon; Ann's dog came back.\n",
    )  # fmt: skip
    numbers = {"type": "array", "items": {"type": "integer"}}
    assert await filled("pages", numbers, *pages, "Question: Where did Ann's dog run?") == [3, 1]
    assert await filled("page", {"type": "integer"}, *pages, "Question: When did Bob move to Lisbon?") == 2
    assert await filled("pages", numbers, *pages, "Question: Who plays the cello?") == []


async def test_a_number_is_taken_from_what_the_text_calls_by_its_name() -> None:
    said = ("[8 May 2023] Ann: I have 4 dogs.\n", "[label 1]\n", "Bob: Fine.\n", "[label 2]\n")
    assert await filled("label", {"type": "integer"}, *said) == 1
