"""Finds the line of a numbered list of facts that a question's gold answer comes from.

A line says something of a thing ("71. The capital of Peru is Lima."), and the question asks for its end. Of the
lines that end in the gold, the one is meant whose other words the question repeats: rare words count for more,
and the rarest, which names the thing, must be among them. Where two fit equally well, none is taken.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

_LINE = re.compile(r"^\d+\.[ \t]+(.*\S)[ \t]*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_LEAST_REPEATED = 0.5  # of the weight of the line's words; below, the question is about something else
_STEM = 5  # letters by which "developed" and "developer" are one word


@dataclass(frozen=True, slots=True)
class Fact:
    """A line: its text without number and full stop, and where the whole of it stands, in characters."""

    text: str
    start: int
    end: int


class Facts:
    """The numbered lines of a context."""

    def __init__(self, context: str) -> None:
        self._facts = [Fact(match[1].removesuffix("."), *match.span()) for match in _LINE.finditer(context)]
        self._seen = Counter(word for fact in self._facts for word in set(_words(fact.text)))
        self._by_last: dict[str, list[Fact]] = {}
        for fact in self._facts:
            self._by_last.setdefault(_last(fact.text), []).append(fact)

    def answering(self, question: str, golds: Sequence[str]) -> Fact | None:
        """The fact that answers ``question`` with one of ``golds``; ``None`` where no line is clearly meant."""
        asked = set(_words(question))
        fitting = []
        for gold in golds:
            for fact in self._by_last.get(_last(gold), ()):
                stem = fact.text[: -len(gold)]
                if fact.text.endswith(gold) and stem.endswith(" "):
                    fitting.append((self._repeated(_words(stem), asked), fact))
        fitting.sort(key=lambda pair: pair[0], reverse=True)
        if not fitting or fitting[0][0] < _LEAST_REPEATED or (len(fitting) > 1 and fitting[0][0] == fitting[1][0]):
            return None
        return fitting[0][1]

    def _repeated(self, stem: Sequence[str], asked: set[str]) -> float:
        """How much of the weight of a fact's words the question repeats (0 to 1)."""
        weights = {word: log(1 + len(self._facts) / self._seen[word]) for word in stem}
        rarest = max(weights, key=weights.__getitem__, default=None)
        if rarest not in asked:
            return 0.0
        return sum(weight for word, weight in weights.items() if word in asked) / sum(weights.values())


def _words(text: str) -> list[str]:
    return [word[:_STEM].removesuffix("s") for word in _WORD.findall(text.lower())]


def _last(text: str) -> str:
    words = _words(text)
    return words[-1] if words else ""
