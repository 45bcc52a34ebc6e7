"""A block of a prompt, read once: its lines, who said them and when, and their sentences."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from memgauge.backbones.rules import dates
from memgauge.backbones.rules.words import STOP, WORD, stem

_STAMP = re.compile(r"[\s*•>-]*[\[(](?P<stamp>[^\[\]()\n]{4,48})[\])]\s*:?\s*")
_SPEAKER = re.compile(r"[\s*•>-]*(?P<name>[A-Z][\w.'’-]{0,24}(?: [A-Z][\w.'’-]{0,24}){0,2}|user|assistant): +(?=\S)")
_ROLE = re.compile(r"[\s*•>-]*(?:[Uu]ser|[Aa]ssistant)(?P<clock> \(\d{1,2}:\d\d(?: [AP]M)?\))?: +(?=\S)")
_BULLET = re.compile(r"\s*(?:[-*•>]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s*#+ .*|\s*[\w' -]{1,40}:\s*")
_SENTENCE = re.compile(
    r"(?<=[.!?…])[\"')”]*\s+(?=[\"'(“]?[A-Z0-9À-Þ])|(?<=[!?])\s+|(?<=[.!?…])\s+(?=\()|\s+(?=[-–—]\s)|\n+"
)
_FIELD = re.compile(r"\s+[a-z][a-z ]{0,24}: +(?=\S)")  # indented: a field of what stands above, and its name
_SEPARATOR = re.compile(r"<[A-Z]{2,8}>")  # as products put between the texts that they have not made one yet
# Labels that look like a speaker's name.
_LABELS = frozenset(("question", "answer", "context", "note", "notes", "memories", "memory", "history", "date", "time"))


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence of a line: ``stems`` are of its ``words``, ``terms`` those that carry meaning.

    ``speaker`` and ``said`` (the day) are those of the line, ``None`` where it names none; ``tags`` are
    the stems of the speaker's name and of the date.
    """

    text: str
    speaker: str | None
    said: date | None
    tags: frozenset[str]
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    stems: tuple[str, ...]
    terms: frozenset[str]

    @cached_property
    def times(self) -> list[dates.When]:
        """Times named in the sentence, resolved against the day on which it was said."""
        return dates.times(self.text, self.said)

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.endswith("?")


@dataclass(frozen=True, eq=False)
class Block:
    """One part of a prompt. ``terms`` are those of all its sentences and of its speakers' names."""

    sentences: tuple[Sentence, ...]
    terms: frozenset[str]

    @property
    def asks(self) -> bool:
        """Whether it ends in a question."""
        return bool(self.sentences) and self.sentences[-1].asks


@lru_cache(maxsize=1 << 12)
def read(part: str) -> Block:
    """Reads a part of a prompt; ``[8 May 2023, 13:56] Ann: text`` and plain lines alike."""
    sentences: list[Sentence] = []
    speaker: str | None = None
    said: date | None = None
    for line in _lines(part):
        if not line or line.isspace():
            continue
        if _HEADING.fullmatch(line):
            said = dates.stamp(line) or said
            continue
        line = _without_role(_FIELD.sub("", line, count=1) if _FIELD.match(line) else line)
        stamped = _STAMP.match(line)
        if stamped and (day := dates.stamp(stamped["stamp"])):
            said = day
            line = line[stamped.end() :]
        named = _SPEAKER.match(line)
        if named and named["name"].lower().split()[-1] not in _LABELS:
            speaker = named["name"]
            line = line[named.end() :]
        elif stamped or _BULLET.match(line):
            speaker = None
        bullet = _BULLET.match(line)
        if bullet:
            line = line[bullet.end() :]
        sentences.extend(sentence(text, speaker, said) for text in split(line))
    return Block(tuple(sentences), frozenset[str]().union(*(s.terms | s.tags for s in sentences)))


def _lines(part: str) -> list[str]:
    """Its lines; one that is a JSON object counts as the lines of the texts in it, without names and numbers."""
    if '{"' not in part:
        return part.split("\n")
    return [line for whole in part.split("\n") for line in _unfolded(whole)]


def _unfolded(line: str) -> list[str]:
    if line.startswith('{"') and line.endswith("}"):
        with suppress(ValueError, RecursionError):
            texts = [value for value in json.loads(line).values() if isinstance(value, str) and " " in value]
            return [told for text in texts for told in _SEPARATOR.sub("\n", text).split("\n")]
    return [line]


def _without_role(line: str) -> str:
    """Leaves out the role that a product puts before a line that says by itself when, or by whom, it was spoken."""
    role = _ROLE.match(line)
    if role is None:
        return line
    rest = line[role.end() :]
    stamped = _STAMP.match(rest)
    dated = stamped is not None and dates.stamp(stamped["stamp"]) is not None
    if dated or _SPEAKER.match(rest):
        return rest
    return line.replace(role["clock"], "", 1) if role["clock"] else line


def split(text: str) -> list[str]:
    """Sentences of ``text``, without surrounding space."""
    return [piece.strip() for piece in _SENTENCE.split(text) if piece and WORD.search(piece)]


def sentence(text: str, speaker: str | None = None, said: date | None = None) -> Sentence:
    """Reads one sentence."""
    found = list(WORD.finditer(text))
    words = tuple(match[0] for match in found)
    stems = tuple(map(stem, words))
    meaning = frozenset(s for word, s in zip(words, stems, strict=True) if word.lower().replace("’", "'") not in STOP)
    tags = f"{speaker or ''} {dates.written(said) if said else ''}".split()
    return Sentence(
        text, speaker, said, frozenset(map(stem, tags)), words, tuple(match.span() for match in found), stems, meaning
    )
