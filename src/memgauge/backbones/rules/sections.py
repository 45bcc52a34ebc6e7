"""Replies in a tagged section that instructions show: ``<observations>``, a list, ``</observations>``."""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from memgauge.backbones.base import Message
from memgauge.backbones.rules.facts import facts
from memgauge.backbones.rules.lines import read, sentence
from memgauge.backbones.rules.prompts import newest_section

_SECTION = re.compile(r"^<(?P<tag>[a-z][a-z_-]{2,40})>\n(?P<body>(?:(?!^<).*\n)+?)</(?P=tag)>$", re.MULTILINE)
_ENTRY = re.compile(r"^(?:[*-] |\d+\. )(?:[^\w\s(]+ )?", re.MULTILINE)  # the bullet, and a symbol that ranks it
_DAY = re.compile(r"^Date: [A-Z][a-z]{2} \d{1,2}, \d{4}$", re.MULTILINE)


class Section(NamedTuple):
    """A section: its tag, how an entry begins, and whether entries stand under the day that they are of."""

    tag: str
    entry: str
    dated: bool


def wanted_section(messages: Sequence[Message]) -> Section | None:
    """The first section with a list in it that system text shows on lines of its own."""
    told = (_shown(message.text) for message in messages if message.role in ("system", "developer"))
    return next((section for section in told if section), None)


@lru_cache(maxsize=1 << 6)
def _shown(text: str) -> Section | None:
    for shown in _SECTION.finditer(text):
        if entry := _ENTRY.search(shown["body"]):
            return Section(shown["tag"], entry[0], bool(_DAY.search(shown["body"])))
    return None


def filled(section: Section, message: Message) -> str:
    """The section with what is new in ``message``: the facts that it states, or of entries that it lists half.

    Who lists entries and asks for entries wants fewer of them: those are kept that say most.
    """
    text = "".join(part if part.endswith("\n") else f"{part}\n" for part in message.parts)
    new = "".join(newest_section(Message(message.role, (text,))))
    listed = [line for line in new.split("\n") if line.startswith(section.entry) or _DAY.match(line)]
    lines = _fewer(listed) if any(map(_ENTRY.match, listed)) else _stated(section, new)
    return "\n".join([f"<{section.tag}>", *lines, f"</{section.tag}>"])


def _stated(section: Section, text: str) -> list[str]:
    lines: list[str] = []
    day: date | None = None
    for fact in facts([read(text)]):
        if section.dated and fact.said and fact.said != day:
            day = fact.said
            lines.append(f"Date: {day:%b} {day.day}, {day.year}")
        lines.append(f"{section.entry}{fact.text}")
    return lines


def _fewer(listed: Sequence[str]) -> list[str]:
    """Half of the text, in its order: the entries that say most, and the days they stand under."""
    entries = [place for place, line in enumerate(listed) if _ENTRY.match(line)]
    left = sum(len(listed[place]) for place in entries) // 2
    kept = set[int]()
    for place in sorted(entries, key=lambda place: -len(sentence(listed[place]).terms)):
        if len(listed[place]) <= left:
            left -= len(listed[place])
            kept.add(place)
    lines: list[str] = []
    day = None
    for place, line in enumerate(listed):
        if place not in kept:
            day = line if _DAY.match(line) else day
            continue
        if day is not None:
            lines.append(day)
            day = None
        lines.append(line)
    return lines
