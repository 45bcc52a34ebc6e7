"""What a prompt calls by numbers: ``page 3`` in a line, ``Note 12:`` above the lines that are note 12."""

import re
from functools import lru_cache
from typing import NamedTuple

_HEADING = re.compile(r"^[\w' -]{1,40}:[ \t]*\n", re.MULTILINE)


class Section(NamedTuple):
    """The lines under a numbered heading."""

    number: int
    text: str


@lru_cache(maxsize=1 << 8)
def numbers(name: str, text: str) -> tuple[int, ...]:
    """The numbers behind the word that ends ``name``, each once, in order: of ``linked_notes`` those of notes."""
    return tuple(dict.fromkeys(int(found[1]) for found in re.finditer(rf"(?i)\b{_word(name)}s? (\d{{1,9}})\b", text)))


@lru_cache(maxsize=1 << 8)
def sections(name: str, text: str) -> tuple[Section, ...]:
    """The lines under the headings that call them by the word that ends ``name``; any next heading ends them."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    found = []
    for heading, end in zip(headings, ends, strict=False):
        if called := re.fullmatch(rf"(?i){_word(name)} (\d{{1,9}}):\s*", heading[0]):
            found.append(Section(int(called[1]), text[heading.end() : end]))
    return tuple(found)


def _word(name: str) -> str:
    words = re.findall(r"[^\W\d_]+", name)
    return words[-1].lower().removesuffix("s") if words else "\0"
