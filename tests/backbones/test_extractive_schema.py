"""The extractive backbone writes JSON that always meets the schema asked for."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgauge.backbones.base import ChatRequest, Message
from memgauge.backbones.extractive import Extractive
from memgauge.backbones.rules.patterns import example
from memgauge.backbones.rules.prompts import FACTS_SCHEMA, schema_of, shown_example
from memgauge.backbones.rules.schema_check import valid

DIALOGUE = (
    "[8 May 2023, 13:56] Ann: I adopted a dog called Rex yesterday! How are you?\n",
    "[8 May 2023, 13:57] Bob: I'm moving to Lisbon next month with my sister Carla.\n",
    "[8 May 2023, 13:58] Ann: That's great, Bob!\n",
)


async def filled(schema: Any, *parts: str, **params: Any) -> Any:
    request = ChatRequest.of(
        "Extract.",
        *(parts or DIALOGUE),
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
        **params,
    )
    return json.loads((await Extractive().chat(request)).text)


async def test_a_list_of_strings_holds_one_self_contained_sentence_per_fact() -> None:
    # yesterday, said on 8 May, is 7 May; next month is June; politeness and questions are no facts.
    assert await filled(FACTS_SCHEMA) == {
        "facts": [
            "Ann adopted a dog called Rex on 7 May 2023!",
            "Bob is moving to Lisbon in June 2023 with Bob's sister Carla.",
        ]
    }


async def test_a_list_of_objects_holds_one_object_per_fact_with_its_speaker_and_day() -> None:
    schema = {
        "type": "object",
        "properties": {
            "memories": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "speaker": {"type": "string"},
                                   "date": {"type": "string", "format": "date"}},
                    "required": ["text", "speaker", "date"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["memories"],
    }  # fmt: skip
    memories = (await filled(schema))["memories"]
    assert [(each["speaker"], each["date"]) for each in memories] == [("Ann", "2023-05-08"), ("Bob", "2023-05-08")]


async def test_an_answer_field_gets_the_answer_to_the_question() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    assert await filled(schema, *DIALOGUE, "Question: When did Ann adopt a dog?") == {"answer": "7 May 2023"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "boolean"}, False),
        ({"const": 7}, 7),
        ({"enum": ["cat", "dog", "bird"]}, "dog"),  # the text names a dog
        ({"enum": ["car", "boat"]}, "car"),  # the text names neither: the first
        ({"type": "integer", "minimum": 10, "maximum": 12, "multipleOf": 4}, 12),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, 0.25),  # halfway
        ({"anyOf": [{"type": "null"}, {"const": "x"}]}, "x"),
        ({"type": "null"}, None),
        ({"type": "string", "pattern": r"^[A-Z]{2}-\d{3}$"}, "AA-000"),
        ({"type": "string", "maxLength": 7}, "Ann"),  # cut between words
        ({"type": "string", "format": "date-time"}, "2023-05-08T00:00:00Z"),
        ({"allOf": [{"type": "integer", "minimum": 3000}, {"maximum": 3000}]}, 3000),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [False, False]),
        ({"$ref": "#/$defs/flag", "$defs": {"flag": {"const": "up"}}}, "up"),
    ],
)
async def test_every_keyword_is_met(schema: Any, expected: Any) -> None:
    assert await filled(schema) == expected


async def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["name", "children"],
    }
    jsonschema.validate(await filled(node), node)


async def test_json_mode_uses_the_keys_of_an_example_in_the_prompt() -> None:
    system = 'Return JSON such as {"memory": [{"id": "0", "text": "Likes tea", "event": "ADD"}]} and nothing else.'
    request = ChatRequest.of(system, *DIALOGUE, response_format={"type": "json_object"})
    reply = json.loads((await Extractive().chat(request)).text)
    assert [sorted(each) for each in reply["memory"]] == [["event", "id", "text"]] * 2


async def test_json_mode_without_an_example_gives_facts() -> None:
    request = ChatRequest.of("Return JSON.", "I have a cat called Tom.", response_format={"type": "json_object"})
    assert json.loads((await Extractive().chat(request)).text) == {"facts": ["I have a cat called Tom."]}


async def test_of_the_actions_that_an_example_names_facts_are_added() -> None:
    example = '{"memory": [{"id": "0", "text": "Loves tea", "event": "UPDATE", "old_memory": "Likes tea"}]}'
    facts = """['Ann moved to Porto.', "Ben's cat is Miso"]"""
    prompt = f'An event is "ADD", "UPDATE" or "NONE", as in\n{example}\n```\n{facts}\n```\n'
    request = ChatRequest.of("", prompt, response_format={"type": "json_object"})
    actions = json.loads((await Extractive().chat(request)).text)["memory"]
    assert [(action["text"], action["event"], action["old_memory"]) for action in actions] == [
        ("Ann moved to Porto.", "ADD", ""),
        ("Ben's cat is Miso", "ADD", ""),
    ]
    assert len({action["id"] for action in actions}) == 2


async def test_what_is_headed_as_new_is_read_and_what_is_known_beside_it_is_not() -> None:
    prompt = (
        "## Known Facts\nAnn: I live in Braga.\n\n## New Messages\nuser: [8 May 2023] Ann: I bought a bike.\n\n"
        "## Current Date\n30 June 2026\n"
    )
    request = ChatRequest.of("", prompt, response_format={"type": "json_object"})
    assert json.loads((await Extractive().chat(request)).text) == {"facts": ["Ann bought a bike (8 May 2023)."]}


def test_an_example_that_is_only_sketched_gives_its_keys() -> None:
    assert shown_example('Answer as {"facts": ["fact 1", ...], "done": true, "n": 3}') == {
        "facts": ["…"], "done": True, "n": 0,
    }  # fmt: skip


async def test_a_schema_written_into_the_prompt_of_json_mode_is_obeyed() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 5000}}, "required": ["score"]}
    request = ChatRequest.of(json.dumps(schema), *DIALOGUE, response_format={"type": "json_object"})
    assert json.loads((await Extractive().chat(request)).text) == {"score": 5000}


TOOLS = [
    {"type": "function", "function": {"name": "save", "parameters": FACTS_SCHEMA}},
    {"type": "function", "function": {"name": "done", "parameters": {"type": "object", "properties": {}}}},
]


async def test_a_forced_tool_is_called_with_filled_arguments() -> None:
    request = ChatRequest.of(
        "Use tools.", *DIALOGUE, tools=TOOLS, tool_choice={"type": "function", "function": {"name": "save"}}
    )
    reply = await Extractive().chat(request)
    (call,) = reply.raw["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["function"]["name"], reply.finish_reason) == ("function", "save", "tool_calls")
    assert len(json.loads(call["function"]["arguments"])["facts"]) == 2
    again = await Extractive().chat(request)
    assert again.raw == reply.raw  # the id too


async def test_required_calls_a_tool_that_was_not_called_yet() -> None:
    called = {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "save", "arguments": "{}"}}]}
    messages = (Message("user", DIALOGUE), Message("assistant", (), called), Message("tool", ("saved",)))
    reply = await Extractive().chat(ChatRequest(messages, {"tools": TOOLS, "tool_choice": "required"}))
    assert reply.raw["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "done"


async def test_tools_that_need_not_be_called_are_not() -> None:
    request = ChatRequest.of("Help.", *DIALOGUE, "Question: Who is Bob's sister?", tools=TOOLS, tool_choice="auto")
    reply = await Extractive().chat(request)
    assert "tool_calls" not in reply.raw["choices"][0]["message"]
    assert "Carla" in reply.text


@pytest.mark.parametrize(
    "pattern", [r"^\d{4}-\d{2}$", r"(ab|c)+x?", r"^[^a-z]\w$", r"^(?:yes|no)$", r"a{3,}\.", r"^(?P<n>[0-9])-\1?"]
)
def test_patterns_are_matched(pattern: str) -> None:
    import re

    found = example(pattern)
    assert found is not None
    assert re.search(pattern, found)


def test_a_pattern_beyond_reach_gives_nothing() -> None:
    assert example(r"^(?=b)a$") is None


names = st.sampled_from(["facts", "name", "date", "tags", "answer", "n"])
numbers = st.integers(-20, 20)
scalars = st.one_of(
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({}),
    st.just(True),
    st.builds(lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more}, numbers, st.integers(0, 9)),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, numbers),
    st.builds(
        lambda least, more: {"type": "string", "minLength": least, "maxLength": least + more},
        st.integers(0, 60),
        st.integers(0, 60),
    ),
    st.sampled_from([{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"},
                     {"type": ["string", "null"]}, {"type": "string", "pattern": "^[a-f0-9]{8}$"}]),
    st.builds(lambda values: {"enum": values},
              st.lists(st.one_of(numbers, st.text(max_size=5)), min_size=1, max_size=4)),
    st.builds(lambda value: {"const": value}, st.one_of(numbers, st.text(max_size=5), st.none())),
)  # fmt: skip


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def array(items: Any, least: int, more: int) -> Any:
        return {"type": "array", "items": items, "minItems": least, "maxItems": least + more}

    def record(properties: dict[str, Any], closed: bool) -> Any:
        return {
            "type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": not closed,
        }  # fmt: skip

    return st.one_of(
        st.builds(array, inner, st.integers(0, 4), st.integers(0, 4)),
        st.builds(record, st.dictionaries(names, inner, max_size=4), st.booleans()),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda schema: {"$defs": {"d": schema}, "allOf": [schema]}, inner),
    )


schemas = st.recursive(scalars, nested, max_leaves=8)
texts = st.one_of(st.text(max_size=80), st.sampled_from(DIALOGUE))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=schemas, parts=st.lists(texts, max_size=4))
async def test_whatever_schema_is_asked_for_the_reply_meets_it(schema: Any, parts: list[str]) -> None:
    reply = await filled(schema, *(parts or [""]))
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker(["date"])).validate(reply)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=schemas, value=st.recursive(st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=9)),
                                          lambda inner: st.lists(inner, max_size=3), max_leaves=4))  # fmt: skip
def test_the_check_agrees_with_an_independent_validator(schema: Any, value: Any) -> None:
    independent = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker(["date"]))
    if "date-time" not in json.dumps(schema):
        assert valid(value, schema, schema) == independent.is_valid(value)


def test_the_schema_of_an_example_is_met_by_it() -> None:
    shown = {"facts": ["a"], "n": 1, "x": 0.5, "ok": True, "none": None, "deep": {"list": []}}
    jsonschema.validate(shown, schema_of(shown))
