"""Fills a JSON schema from a text, by rule, so that the value meets the schema."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from hashlib import blake2b
from typing import Any

from memgauge.backbones.rules.facts import Fact, facts
from memgauge.backbones.rules.lines import read
from memgauge.backbones.rules.numbered import Section, numbers, sections
from memgauge.backbones.rules.patterns import example
from memgauge.backbones.rules.schema_check import is_type, resolve, valid
from memgauge.backbones.rules.topics import topics
from memgauge.backbones.rules.words import WORD, number

Json = Any
Schema = Any  # a mapping, or true or false

_DEEPEST = 12  # below this depth only what is required is filled
_ADDING = ("ADD", "CREATE", "INSERT")  # of several actions, rules that cannot compare only ever add
_HOPELESS = 40  # below this depth a schema that asks for ever more is given up
_FORMATS = {
    "time": "00:00:00Z", "email": "user@example.org", "uri": "https://example.org", "hostname": "example.org",
    "uuid": "00000000-0000-4000-8000-000000000000", "ipv4": "127.0.0.1", "ipv6": "::1", "duration": "P1D",
}  # fmt: skip
_NAMED = re.compile(r"name|speaker|person|people|entit|subject|who\b|author|owner")
_DATED = re.compile(r"date|time|when|\bday\b|occurred")
_TOPICS = re.compile(r"keyword|tag|topic|theme|categor|label")
_IDENTITY = re.compile(r"(^|_)u?u?id$")
_LABELLED = re.compile(r"^\[[\da-f-]{8,}\] ")  # a line's own id, before what it says
_CHANGED = re.compile(r"^(updat|delet|remov|merg|edit|supersed|replac)")
_EARLIER = re.compile(r"^(old|previous|prior)_")
_ASKED = re.compile(r"quer|question|search")
_ANSWERED = re.compile(r"answer|reply|response|result|output")


@dataclass(frozen=True)
class Source:
    """What is known of the text: its facts, the answer to its question, and the things it names."""

    text: str
    facts: tuple[Fact, ...] = ()
    answer: str = ""
    question: str = ""
    names: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    days: tuple[date, ...] = ()
    number: int | None = None  # by which the prompt calls this text
    bearing: str = ""  # the parts of the text that bear on its question, best first

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Whole numbers in the text, in order."""
        if self.number is not None:
            return (self.number,)
        return tuple(n for word in WORD.findall(self.text) if word.lower() != "one" and (n := number(word)) is not None)

    def called(self, name: str) -> tuple[int, ...]:
        """The numbers by which the text calls what ``name`` names; of what bears on its question, where it has one.

        Where it calls nothing so, all its numbers.
        """
        if self.number is not None or not numbers(name, self.text):
            return self.numbers
        return numbers(name, self.bearing if self.question else self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of the text, in lower case."""
        return frozenset(word.lower() for word in WORD.findall(self.text))

    def of(self, fact: Fact) -> "Source":
        """What is known of one fact."""
        return replace(
            self,
            text=fact.text,
            facts=(fact,),
            answer="",
            names=(fact.speaker,) if fact.speaker else self.names,
            days=(fact.said,) if fact.said else self.days,
        )

    def within(self, section: Section) -> "Source":
        """What is known of one section of the text."""
        block = read(section.text)
        return Source(
            text=section.text.strip().split("\n")[0],
            facts=tuple(facts([block])),
            names=tuple(dict.fromkeys(s.speaker for s in block.sentences if s.speaker)),
            topics=topics([block]),
            days=tuple(dict.fromkeys(s.said for s in block.sentences if s.said)),
            number=section.number,
        )

    @property
    def salient(self) -> str:
        """The one thing to say of the text."""
        told = self.facts[0].text if self.facts else self.text.strip()[:200]
        return self.answer or _LABELLED.sub("", told) or "Nothing was said."


def fill(schema: Schema, source: Source) -> Json:
    """A value for ``schema``: with all that it allows where that is valid, else with what it requires."""
    value: Json = None
    for full in (True, False):
        value = _Filler(schema, source, full).value(schema, "", source, 0)
        if valid(value, schema, schema):
            return value
    return value


@dataclass(frozen=True)
class _Filler:
    root: Schema
    source: Source
    full: bool

    def value(self, schema: Schema, name: str, source: Source, depth: int) -> Json:
        """A value for one place of the schema; ``name`` is that of the property it stands in."""
        first: Json = None
        for i, candidate in enumerate(self._candidates(schema, name, source, depth)):
            if i == 0:
                first = candidate
            if valid(candidate, schema, self.root):
                return candidate
        return first

    def _candidates(self, schema: Schema, name: str, source: Source, depth: int) -> Iterator[Json]:
        schema = self._flat(schema)
        if not isinstance(schema, Mapping) or depth > _HOPELESS:
            yield None if schema is False or depth > _HOPELESS else source.salient
            return
        if "const" in schema:
            yield schema["const"]
        elif isinstance(schema.get("enum"), list) and schema["enum"]:
            yield from sorted(schema["enum"], key=lambda one: (one not in _ADDING, not _named(one, source)))
        elif branches := _branches(schema):
            beside = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            for branch in branches:
                yield self.value({"allOf": [beside, branch]} if beside else branch, name, source, depth + 1)
        else:
            yield from (self._of_type(kind, schema, name, source, depth) for kind in _kinds(schema))

    def _flat(self, schema: Schema) -> Schema:
        """The schema with references followed and ``allOf`` merged in."""
        schema = resolve(schema, self.root)
        for _ in range(_HOPELESS):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("allOf"), list):
                break
            merged: Schema = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                merged = _merged(merged, resolve(part, self.root))
            schema = merged
        return schema

    def _of_type(self, kind: str, schema: Mapping[str, Json], name: str, source: Source, depth: int) -> Json:
        match kind:
            case "object":
                return self._object(schema, source, depth)
            case "array":
                return self._array(schema, name, source, depth)
            case "string":
                return _string(schema, name, source)
            case "number" | "integer":
                return _number(schema, kind, name, source)
            case "boolean":
                return False
            case _:
                return None

    def _object(self, schema: Mapping[str, Json], source: Source, depth: int) -> dict[str, Json]:
        known = schema.get("properties")
        known = known if isinstance(known, Mapping) else {}
        required = schema.get("required")
        required = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
        others = schema.get("additionalProperties", True)
        wanted = list(required) if not self.full or depth > _DEEPEST else [*known, *required]
        least = _size(schema, "minProperties")
        spare = [key for key in (*known, *(f"key{i}" for i in range(1, least + 1))) if key not in wanted]
        wanted += spare[: max(0, least - len(dict.fromkeys(wanted)))]
        if "maxProperties" in schema and len(set(wanted)) > _size(schema, "maxProperties"):
            wanted = list(required)
        return {
            key: self.value(known.get(key, others), key.lower(), source, depth + 1) for key in dict.fromkeys(wanted)
        }

    def _array(self, schema: Mapping[str, Json], name: str, source: Source, depth: int) -> list[Json]:
        first = schema.get("prefixItems")
        first = first if isinstance(first, list) else []
        items = schema.get("items", True)
        least = _size(schema, "minItems")
        wanted = self._sources(items, name, source) if self.full and depth <= _DEEPEST else []
        most = _size(schema, "maxItems") if "maxItems" in schema else max(least, len(first) + len(wanted))
        if not self.full or depth > _DEEPEST:
            most = min(most, least)
        wanted += [source] * (least - len(wanted))
        built: list[Json] = []
        taken = iter(wanted)
        while len(built) < most:
            here = first[len(built)] if len(built) < len(first) else items
            if here is False:
                break
            each = next(taken, None) if len(built) >= len(first) else source
            if each is None:
                break
            built.append(self.value(here, name, each, depth + 1))
        if schema.get("uniqueItems") is True:
            built = _distinct(built, items if isinstance(items, Mapping) else {}, least)
        return built

    def _sources(self, items: Schema, name: str, source: Source) -> list[Source]:
        """One source for every item that an array should have."""
        if _CHANGED.match(name):
            return []  # rules that only add change nothing that is there
        items = self._flat(items)
        kinds = _kinds(items) if isinstance(items, Mapping) else ["string"]
        if isinstance(items, Mapping) and isinstance(items.get("enum"), list):
            return [source]
        if kinds[0] in ("object", "array"):
            return self._numbered(items, source) or [source.of(fact) for fact in source.facts]
        if kinds[0] == "string":
            listed = source.names if _NAMED.search(name) else source.topics if _TOPICS.search(name) else None
            if listed is None:
                return [source.of(fact) for fact in source.facts]
            return [replace(source, facts=(Fact(one),), names=(one,), topics=(one,), answer="") for one in listed]
        if kinds[0] in ("number", "integer"):
            return [replace(source, number=one) for one in source.called(name)]
        return []

    def _numbered(self, items: Schema, source: Source) -> list[Source]:
        """One source for every section of the text that an integer of the items calls by its number."""
        known = items.get("properties") if isinstance(items, Mapping) else None
        for name, schema in known.items() if isinstance(known, Mapping) else ():
            flat = self._flat(schema)
            if isinstance(flat, Mapping) and _kinds(flat) == ["integer"] and (found := sections(name, source.text)):
                return [source.within(section) for section in found]
        return []


def _branches(schema: Mapping[str, Json]) -> list[Schema]:
    """The alternatives of a schema; ``null`` comes last."""
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return sorted(schema[key], key=lambda one: isinstance(one, Mapping) and one.get("type") == "null")
    return []


def _kinds(schema: Mapping[str, Json]) -> list[str]:
    """The JSON types that a schema allows, the most telling first."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    if isinstance(named, list) and named:
        return sorted((one for one in named if isinstance(one, str)), key=lambda one: one == "null") or ["null"]
    if "properties" in schema or "required" in schema or "minProperties" in schema:
        return ["object"]
    if "items" in schema or "prefixItems" in schema or "minItems" in schema:
        return ["array"]
    if "minimum" in schema or "maximum" in schema or "multipleOf" in schema:
        return ["number"]
    return ["string", "null"]


def _merged(one: Schema, other: Schema) -> Schema:
    """A schema that asks for both."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False if one is False or other is False else other if one is True else one
    both = {**one, **other}
    for key in one.keys() & other.keys():
        if key == "properties":
            shared = {
                name: {"allOf": [one[key][name], other[key][name]]} for name in one[key].keys() & other[key].keys()
            }
            both[key] = {**one[key], **other[key], **shared}
        elif key == "required":
            both[key] = list(dict.fromkeys([*one[key], *other[key]]))
        elif key == "allOf":
            both[key] = [*one[key], *other[key]]
        elif key == "enum":
            both[key] = [value for value in one[key] if value in other[key]]
        elif key in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
            both[key] = max(one[key], other[key])
        elif key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
            both[key] = min(one[key], other[key])
        elif key in ("anyOf", "oneOf") and one[key] != other[key]:
            both[key] = one[key]
            both["allOf"] = [*both.get("allOf", []), {key: other[key]}]
    return both


def _named(value: Json, source: Source) -> bool:
    """Whether a word of the text names ``value``."""
    words = WORD.findall(value.lower().replace("_", " ")) if isinstance(value, str) else []
    return bool(words) and all(word in source.words for word in words)


def _string(schema: Mapping[str, Json], name: str, source: Source) -> str:
    form = schema.get("format")
    if form in ("date", "date-time"):
        day = source.days[0] if source.days else date(1970, 1, 1)
        return day.isoformat() if form == "date" else f"{day.isoformat()}T00:00:00Z"
    if form in _FORMATS:
        return _FORMATS[form]
    text = _text(name, source)
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        text = _matching(pattern, text, source)
    least, most = _size(schema, "minLength"), schema.get("maxLength")
    if isinstance(most, int | float) and len(text) > most:
        text = _shortened(text, max(0, int(most)))
    return text if len(text) >= least else text + "." * (least - len(text))


def _text(name: str, source: Source) -> str:
    """What a property called ``name`` should say."""
    if _IDENTITY.search(name):
        return blake2b(source.salient.encode(errors="replace"), digest_size=4).hexdigest()
    if _EARLIER.search(name):
        return ""  # rules that only add replace nothing
    if _ASKED.search(name) and source.question:
        return source.question
    if _ANSWERED.search(name):
        return source.answer or source.salient
    if _NAMED.search(name) and source.names:
        return source.names[0]
    if _DATED.search(name) and source.days:
        return source.days[0].isoformat()
    if _TOPICS.search(name) and source.topics:
        return source.topics[0]
    return source.salient


def _matching(pattern: str, text: str, source: Source) -> str:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return text
    candidates = (text, *(day.isoformat() for day in source.days), *WORD.findall(source.text)[:200])
    return next((one for one in candidates if compiled.search(one)), example(pattern) or text)


def _shortened(text: str, most: int) -> str:
    cut = text[:most]
    space = cut.rfind(" ")
    return cut[:space] if space > 0 else cut


def _number(schema: Mapping[str, Json], kind: str, name: str, source: Source) -> Json:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    step = schema.get("multipleOf")
    step = step if isinstance(step, int | float) and step > 0 else 1 if kind == "integer" else None
    guesses: list[Json] = [*source.called(name)[:50], 0]
    if isinstance(low, int | float) and isinstance(high, int | float):
        guesses += [low, (low + high) / 2]
    for edge, sign in ((low, 1), (high, -1)):
        if isinstance(edge, int | float):
            if step:
                whole = round(edge / step)
                guesses += [(whole + offset * sign) * step for offset in (-1, 0, 1, 2)]
            else:
                guesses += [edge, edge + sign * 1, edge + sign * 1e-6]
    if kind == "integer":
        guesses = [int(guess) for guess in guesses if float(guess).is_integer()]
    asked = {**schema, "type": kind}
    return next((guess for guess in guesses if valid(guess, asked, asked)), guesses[0] if guesses else 0)


def _distinct(built: Sequence[Json], items: Mapping[str, Json], least: int) -> list[Json]:
    """The items without repeats; where too few remain, further ones are made."""
    kept: list[Json] = []
    for item in built:
        if item not in kept:
            kept.append(item)
    spare: Iterator[Json] = iter(())
    if isinstance(items.get("enum"), list):
        spare = iter(items["enum"])
    elif kept and isinstance(kept[0], str):
        spare = (f"{kept[0][: int(items.get('maxLength', 200)) - 4]} {i}" for i in range(2, least + 2))
    elif kept and is_type(kept[0], "number"):
        spare = (kept[0] + i * items.get("multipleOf", 1) for i in range(1, least + 1))
    for item in spare:
        if len(kept) >= least:
            break
        if item not in kept:
            kept.append(item)
    return kept


def _size(schema: Mapping[str, Json], key: str) -> int:
    value = schema.get(key, 0)
    return min(max(0, int(value)), 10_000) if isinstance(value, int | float) else 0
