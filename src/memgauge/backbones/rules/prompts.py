"""What a chat prompt asks for: its question with the context before it, and the shape that its reply must have."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from memgauge.backbones.base import Message
from memgauge.backbones.rules.lines import read
from memgauge.backbones.rules.questions import Question, ask, is_labelled

Json = Any

_CHOICE = re.compile(r'"([A-Z]{3,16})"')  # "ADD", "UPDATE" …: what a field of an example may hold
_HEADING = re.compile(r"^#{1,6} (?P<title>.*)$", re.MULTILINE)
_LOOK_BACK = 3  # lines between a question and the end of its message: "Answer:" and the like
_LABEL = re.compile(r"\s*[\w' -]{1,40}:\s*")
FACTS_SCHEMA: Json = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
}


class Asked(NamedTuple):
    """The last thing said to the model: ``question`` where it is one, its text, and the parts before it."""

    question: Question | None
    text: str
    context: list[str]


def asked(messages: Sequence[Message]) -> Asked:
    """Reads the last block of the last user message; system text is no context."""
    spoken = [message for message in messages if message.role not in ("system", "developer")]
    last = next((i for i in range(len(spoken) - 1, -1, -1) if spoken[i].role == "user"), len(spoken) - 1)
    if last < 0:
        return Asked(None, "", [])
    parts = spoken[last].parts
    before = [part for message in spoken[:last] for part in message.parts]
    after = [part for message in spoken[last + 1 :] for part in message.parts]
    newest = None
    for at, line, head in _from_the_end(parts):
        question = _question(line)
        if newest is None:
            newest = Asked(question, line, [*before, *parts[:at], *head, *after])
        if question and (question is newest.question or is_labelled(line) or _LABEL.fullmatch(newest.text)):
            return Asked(question, line, [*before, *parts[:at], *head, *after])
    return newest or Asked(None, "", [*before, *after])


def _from_the_end(parts: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """The last lines, newest first: the part each stands in, its text, and what precedes it in that part."""
    left = _LOOK_BACK + 1
    for at in range(len(parts) - 1, -1, -1):
        lines = parts[at].split("\n")
        for i in range(len(lines) - 1, -1, -1):
            if lines[i].strip():
                yield at, lines[i].strip(), ["\n".join(lines[:i])] if i else []
                left -= 1
                if not left:
                    return


def _question(line: str) -> Question | None:
    """The question a line ends in; who said it, and when, is left out."""
    if is_labelled(line):
        return ask(line)
    sentences = read(line).sentences
    return ask(sentences[-1].text) if sentences else None


def newest_section(message: Message) -> Sequence[str]:
    """The section of a message whose heading calls it new, where one is: products show beside it what they know."""
    text = message.text
    for heading in _HEADING.finditer(text):
        if "new" in heading["title"].lower().split():
            following = _HEADING.search(text, heading.end())
            return [text[heading.end() : following.start() if following else len(text)]]
    return message.parts


def wanted_schema(params: Mapping[str, Json], messages: Sequence[Message]) -> Json | None:
    """The schema that ``response_format`` asks the reply to meet; ``None`` where it asks for text.

    JSON mode names no schema: the keys come from the largest JSON example in the prompt, else they are ``facts``.
    """
    wanted = params.get("response_format")
    if not isinstance(wanted, Mapping):
        return None
    if wanted.get("type") == "json_schema":
        described = wanted.get("json_schema")
        return described.get("schema", True) if isinstance(described, Mapping) else True
    if wanted.get("type") != "json_object":
        return None
    examples = [example for message in messages if (example := shown_example(message.text))]
    if not examples:
        return FACTS_SCHEMA
    choices = tuple(dict.fromkeys(word for message in messages for word in _CHOICE.findall(message.text)))
    return schema_of(max(examples, key=lambda one: len(json.dumps(one))), choices)


@lru_cache(maxsize=1 << 8)
def shown_example(text: str) -> Json | None:
    """The largest JSON object that is written out in ``text``; a JSON schema counts as one."""
    decoder = json.JSONDecoder()
    best, size, at = None, 0, text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        except RecursionError:
            break
        else:
            if isinstance(value, dict) and value and end - at > size:
                best, size = value, end - at
        at = text.find("{", end)
    return best if best is not None else _loose_example(text)


_KEY = re.compile(r"\"([A-Za-z_]\w{0,40})\"\s*:\s*([\[{\"\dtfn])")
_BY_FIRST_LETTER: dict[str, Json] = {"[": ["…"], "{": {}, '"': "…", "t": True, "f": False, "n": None}


def _loose_example(text: str) -> Json | None:
    """The outermost keys of an object that is sketched, not written out: ``{"facts": ["fact 1", ...]}``."""
    start = text.find("{")
    found: dict[str, Json] = {}
    depth, last = 0, start
    for match in _KEY.finditer(text, max(start, 0)):
        between = text[last : match.start()]
        depth += between.count("{") + between.count("[") - between.count("}") - between.count("]")
        if depth == 1 and start >= 0:
            found.setdefault(match[1], _BY_FIRST_LETTER.get(match[2], 0))
        last = match.end() - 1
    return found or None


def schema_of(example: Json, choices: Sequence[str] = ()) -> Json:
    """The schema of which ``example`` is one; a string of it that is among ``choices`` stands for any of them."""
    match example:
        case {"type": "object", "properties": dict()}:
            return example
        case {"properties": dict()}:
            return {"type": "object", **example}
        case dict():
            return {
                "type": "object",
                "properties": {key: schema_of(value, choices) for key, value in example.items()},
                "required": list(example),
            }
        case [first, *_]:
            return {"type": "array", "items": schema_of(first, choices)}
        case list():
            return {"type": "array", "items": {"type": "string"}}
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case None:
            return {"type": ["string", "null"]}
        case str() if example in choices:
            return {"enum": list(choices)}
        case _:
            return {"type": "string"}


def forced_tool(params: Mapping[str, Json], messages: Sequence[Message]) -> tuple[str, Json] | None:
    """Name and parameter schema of the tool that must be called; ``None`` where none must.

    Where any tool will do it is the first that the conversation has not called yet, so that a loop of forced
    calls comes to its end; then the last.
    """
    choice = params.get("tool_choice")
    tools = [tool["function"] for tool in params.get("tools") or () if _is_function(tool)]
    if isinstance(choice, Mapping) and _is_function(choice):
        name = choice["function"]["name"]
        return name, next((_parameters(tool) for tool in tools if tool["name"] == name), {"type": "object"})
    if choice != "required" or not tools:
        return None
    called = {
        call["function"]["name"]
        for message in messages
        for call in message.extra.get("tool_calls") or ()
        if _is_function(call)
    }
    tool = next((tool for tool in tools if tool["name"] not in called), tools[-1])
    return tool["name"], _parameters(tool)


def _parameters(tool: Mapping[str, Json]) -> Json:
    return tool.get("parameters") or {"type": "object"}


def _is_function(value: Json) -> bool:
    function = value.get("function") if isinstance(value, Mapping) else None
    return isinstance(function, Mapping) and isinstance(function.get("name"), str)
