"""A text in short, where an instruction that begins with ``Shorten``, ``Condense`` or ``Summarise`` asks for it."""

import re
from collections.abc import Sequence

from memgauge.backbones.base import Message
from memgauge.backbones.rules.facts import facts
from memgauge.backbones.rules.lines import read, sentence

_ASKED = re.compile(r"\s*(?:please )?(?:shorten|condense|summari[sz]e)\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:one|a single) sentence\b", re.IGNORECASE)
_WORDS = re.compile(r"\bat most (\d+) words\b", re.IGNORECASE)
_SHARE = 5  # of so many facts one is kept
_LONGEST = 400  # characters of a text that states nothing


def wanted_length(messages: Sequence[Message]) -> tuple[int, int] | None:
    """How many sentences and words at most, 0: as many as the text deserves; None where nothing is to be shortened."""
    for message in messages:
        if message.role in ("system", "developer") and _ASKED.match(message.text):
            words = _WORDS.search(message.text)
            return 1 if _ONE.search(message.text) else 0, int(words[1]) if words else 0
    return None


def shortened(parts: Sequence[str], most: int, most_words: int = 0) -> str:
    """The facts that say most, in the order of the text; of a text without facts its beginning."""
    told = [fact.text for fact in facts(map(read, parts))]
    weights = [len(sentence(fact).terms) for fact in told]
    best = sorted(range(len(told)), key=lambda place: -weights[place])[: most or -(-len(told) // _SHARE)]
    if most_words:
        left = most_words
        best = [place for place in best if (left := left - len(told[place].split())) >= 0]
    beginning = "".join(parts).split()[: most_words or None]
    return " ".join(told[place] for place in sorted(best)) or " ".join(beginning)[:_LONGEST]
