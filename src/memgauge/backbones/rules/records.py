"""Replies in records that the instructions show, one a line: ``entity<|#|><entity_name><|#|><entity_description>``."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memgauge.backbones.base import Message
from memgauge.backbones.rules.facts import Fact, facts
from memgauge.backbones.rules.lines import read, sentence
from memgauge.backbones.rules.spans import kinds_of

_SHOWN = re.compile(r"^(?P<kind>[a-z]\w*)(?P<delimiter><\|[^<>\n]+\|>|\t)(?P<fields><\w+>.*)$", re.MULTILINE)
_FIELD = re.compile(r"<(\w+)>")
_END = re.compile(r"^<\|[A-Z_]+\|>$", re.MULTILINE)
_FENCED = re.compile(r"^```\w*\n(?P<body>.*?)\n```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"name|entity|source|target|subject|object")
_KEYWORDS = re.compile(r"keyword|tag|topic")
_TYPE = re.compile(r"type|category")
_OTHER = re.compile(rf"description|{_KEYWORDS.pattern}|{_TYPE.pattern}")
_MOST = 40  # records of one kind in one reply
_LONGEST_NAME = 4  # words
_OTHER_KINDS = {"ing": 1, "ed": 2}  # verbs stand for what a sentence is about where it names nothing else


class Form(NamedTuple):
    """The records that are wanted: the fields of each kind, what stands between them, and what ends the reply."""

    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    delimiter: str
    end: str


class Link(NamedTuple):
    """Who said a fact (empty: nobody is named) and one thing that it is about."""

    speaker: str
    thing: str
    fact: Fact
    keywords: str


def wanted_records(messages: Sequence[Message]) -> Form | None:
    """The form that system text shows, with named placeholders, on lines of its own."""
    told = (_shown(message.text) for message in messages if message.role in ("system", "developer"))
    return next((form for form in told if form), None)


@lru_cache(maxsize=1 << 6)
def _shown(text: str) -> Form | None:
    kinds: dict[str, tuple[str, ...]] = {}
    delimiter = ""
    for shown in _SHOWN.finditer(text):
        fields = shown["fields"].split(shown["delimiter"])
        if len(fields) > 1 and all(map(_FIELD.fullmatch, fields)):
            delimiter = shown["delimiter"]
            kinds[shown["kind"]] = tuple(field[1:-1].lower() for field in fields)
    end = _END.search(text)
    return Form(tuple(kinds.items()), delimiter, end[0] if end else "") if kinds else None


def recorded(form: Form, messages: Sequence[Message]) -> str:
    """Records of what a fenced text states, but for those that the model has given already."""
    spoken = [message.text for message in messages if message.role == "user"]
    fenced = next((found["body"] for text in spoken if (found := _FENCED.search(text))), spoken[-1] if spoken else "")
    given = {line for message in messages if message.role == "assistant" for line in message.text.split("\n")}
    links = _links(fenced)
    lines: list[str] = []
    for kind, fields in form.kinds:
        rows = (_row(form, kind, values) for values in _values(fields, links))
        lines += [row for row in dict.fromkeys(rows) if row not in given][:_MOST]
    return "\n".join([*lines, form.end] if form.end else lines)


@lru_cache(maxsize=1 << 6)
def _links(text: str) -> tuple[Link, ...]:
    """Everything that is spoken of, each with the fact that first names it."""
    found: dict[tuple[str, str], Link] = {}
    for fact in facts([read(text)]):
        names, keywords = _things(fact)
        for name in names:
            found.setdefault((fact.speaker, name), Link(fact.speaker, name, fact, keywords))
    return tuple(found.values())


def _things(fact: Fact) -> tuple[list[str], str]:
    """What a fact is about: the names in it, else its longest word; and its other words of meaning."""
    said = sentence(fact.text)
    kinds = kinds_of(said)
    names: list[str] = []
    open_name: list[str] = []
    for word, this in [*zip(said.words, kinds, strict=True), ("", "")]:
        if this == "cap" and len(open_name) < _LONGEST_NAME:
            open_name.append(_bare(word))
        elif open_name:
            names.append(" ".join(open_name))
            open_name = []
    known = {fact.speaker, *fact.speaker.split()}
    names = [name for name in dict.fromkeys(names) if name not in known]
    meant = [
        (_OTHER_KINDS.get(this, 0), -len(word), word)
        for word, stem, this in zip(said.words, said.stems, kinds, strict=True)
        if stem in said.terms and this in ("word", *_OTHER_KINDS) and _bare(word) not in known
    ]
    words = list(dict.fromkeys(word for _, _, word in sorted(meant)))
    return names or [word.capitalize() for word in words[:1]], ", ".join(word.lower() for word in words[:3])


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")


def _values(fields: Sequence[str], links: Sequence[Link]) -> Iterator[list[str]]:
    """The fields of every record of one kind: of two things, where two fields name one, else of each thing."""
    if sum(map(_names, fields)) > 1:
        for link in links:
            if link.speaker:
                yield _filled(fields, [link.speaker, link.thing], "person", link)
        return
    seen: set[str] = set()
    for link in links:
        for name, type_ in ((link.speaker, "person"), (link.thing, "concept")):
            if name and name.lower() not in seen:
                seen.add(name.lower())
                yield _filled(fields, [name], type_, link)


def _filled(fields: Sequence[str], names: list[str], type_: str, link: Link) -> list[str]:
    left = iter(names)
    return [
        link.fact.text if "description" in field
        else type_ if _TYPE.search(field)
        else link.keywords if _KEYWORDS.search(field)
        else next(left, link.thing) if _names(field)
        else link.fact.text
        for field in fields
    ]  # fmt: skip


def _names(field: str) -> bool:
    return bool(_NAME.search(field)) and not _OTHER.search(field)


def _row(form: Form, kind: str, values: Sequence[str]) -> str:
    clean = (" ".join(value.replace(form.delimiter, " ").split()) for value in values)
    return form.delimiter.join([kind, *clean])
