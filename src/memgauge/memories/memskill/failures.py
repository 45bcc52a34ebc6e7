"""Failures without gold answers: what was said, and cannot be told from the memories.

The authors' failures are questions of a training set that were answered wrong. Where nothing is known but the
dialogue, every turn stands for the question that it answers, and is answered where a memory tells its words.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import log

from memgauge.embedders.base import Vectors
from memgauge.memories.provenance import telling_words

ENOUGH = 0.5  # the authors count an answer with an F1 below this as failed
POOL = 2000  # cases, as the authors'

_ASKED = re.compile(r"[^.!?…\n]*[?？]")
_LEAST_WORDS = 4  # fewer are small talk


def told(text: str, by: Iterable[str]) -> float | None:
    """The share of the telling words of ``text``, its questions left out, that stand in the texts of ``by``.

    None where it has too few to tell anything.
    """
    words = telling_words(_ASKED.sub("", text))
    if len(words) < _LEAST_WORDS:
        return None
    return len(words & set[str]().union(*map(telling_words, by))) / len(words)


@dataclass(frozen=True, slots=True)
class Case:
    """One failure: what was ``said``, the names of the ``skills`` it was written by, and how well it is told.

    ``fails`` counts the cycles in which it failed, and how often its words were said again. ``unusable`` marks a span
    whose edits could not be used. ``found`` is what a search for it gave, and ``vector`` its embedding, of length 1,
    once there is one.
    """

    said: str
    skills: tuple[str, ...]
    score: float
    unusable: bool = False
    fails: int = 0
    found: tuple[str, ...] = ()
    vector: Vectors | None = field(default=None, compare=False)

    @property
    def weight(self) -> float:
        """How much there is to learn from it: (1 − score) · log(1 + fails)."""
        return (1 - self.score) * log(1 + self.fails)


class FailurePool:
    """The newest POOL cases, none of the same words twice."""

    def __init__(self) -> None:
        self._cases: dict[str, Case] = {}

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(tuple(self._cases.values()))

    def add(self, case: Case) -> None:
        """Takes in a case, or counts it as a further failure of the one with the same words."""
        key = " ".join(case.said.lower().split())
        if old := self._cases.pop(key, None):
            case = replace(case, fails=old.fails + 1, vector=old.vector)
        self._cases[key] = case
        if len(self._cases) > POOL:
            del self._cases[next(iter(self._cases))]

    def keep(self, cases: Iterable[Case]) -> None:
        """Holds these and no others."""
        self._cases = {" ".join(case.said.lower().split()): case for case in cases}
