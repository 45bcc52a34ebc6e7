"""The few words of a sentence that answer a question: every span of a sentence is weighed, the heaviest wins."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memgauge.backbones.rules import span_weights as weights
from memgauge.backbones.rules.lines import Sentence
from memgauge.backbones.rules.questions import Question
from memgauge.backbones.rules.words import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    GREETINGS,
    NUMBERS,
    PREPOSITIONS,
    PRONOUNS,
)

LONGEST = 9  # words in a span
_FAR = len(weights.ASKED_AGO) - 1
_BARRED_ENDS = frozenset(("det", "poss", "prep", "to", "conj", "aux", "hey"))  # no phrase ends on one of these
_JOINTS = frozenset(("", "-", "/", "&", "'"))  # between two words of one phrase
_BE = frozenset(("is", "are", "was", "were"))
_POSSESSIVES = frozenset(("my", "your", "his", "her", "its", "our", "their"))


class _Outline(NamedTuple):
    """What can be said of a sentence before the question is known: kinds of its words, weights of their places."""

    kinds: tuple[str, ...]
    start: tuple[float, ...]
    end: tuple[float, ...]
    may_end: tuple[bool, ...]


def best_span(sentence: Sentence, question: Question) -> tuple[float, str]:
    """The weight and the text of the span of ``sentence`` that answers best; empty where there is none."""
    group = question.kind if question.kind in weights.LENGTH else "thing"
    kinds, starts, ends, may_end = _outline(sentence, group)
    lengths = weights.LENGTH[group]
    asked = [stem in question.terms for stem in sentence.stems]
    inside, ago = [], []
    near = _FAR
    for i, (this, known) in enumerate(zip(kinds, asked, strict=True)):
        inside.append(weights.ASKED.get(this, 0.0) if known else weights.NEW.get(this, 0.0))
        ago.append(weights.ASKED_AGO[near] + (weights.TOLD if _told(i, kinds, asked, sentence.words) else 0.0))
        near = 1 if known else min(near + 1, _FAR)
    best, chosen = float("-inf"), None
    for first in range(len(kinds)):
        held = starts[first] + ago[first]
        for last in range(first, min(first + LONGEST, len(kinds))):
            held += inside[last]
            if may_end[last]:
                weight = held + ends[last] + lengths[last - first + 1]
                if weight > best:
                    best, chosen = weight, (first, last)
    if chosen is None:
        return best, ""
    return best, sentence.text[sentence.spans[chosen[0]][0] : sentence.spans[chosen[1]][1]]


def _told(at: int, kinds: Sequence[str], asked: Sequence[bool], words: Sequence[str]) -> bool:
    """Whether word ``at`` begins what something asked for is said to be: ``my favourite colour is now blue``."""
    if at > 2 and kinds[at - 1] in ("adv", "det"):
        at -= 1
    return at > 1 and asked[at - 2] and words[at - 1].lower() in _BE


@lru_cache(maxsize=1 << 12)
def _outline(sentence: Sentence, group: str) -> _Outline:
    kinds = kinds_of(sentence)
    gaps = _gaps(sentence)
    by_group = weights.BEFORE_BY_GROUP[group]
    start, end = [], []
    for i, this in enumerate(kinds):
        before = gaps[i] or kinds[i - 1]
        after = gaps[i + 1] or kinds[i + 1]
        start.append(weights.BEFORE.get(before, 0.0) + by_group.get(before, 0.0) + weights.FIRST.get(this, 0.0))
        end.append(weights.LAST.get(this, 0.0) + weights.NEXT.get(after, 0.0))
    return _Outline(tuple(kinds), tuple(start), tuple(end), tuple(this not in _BARRED_ENDS for this in kinds))


def _gaps(sentence: Sentence) -> list[str]:
    """The punctuation before each word and after the last: none, a comma, a quote, or any other.

    The borders of the sentence count as commas.
    """
    text, gaps, at = sentence.text, [], 0
    for begin, finish in (*sentence.spans, (len(sentence.text), 0)):
        between = text[at:begin].strip()
        gaps.append("" if between in _JOINTS else "comma" if between == "," else
                    "quote" if '"' in between or "“" in between or "”" in between else "stop")  # fmt: skip
        at = finish
    gaps[0] = gaps[0] or "comma"
    gaps[-1] = gaps[-1] or "comma"
    return gaps


def kinds_of(sentence: Sentence) -> list[str]:
    """What kind of word each is; those that name a time are ``time``."""
    kinds = [kind(word, i == 0) for i, word in enumerate(sentence.words)]
    for time in sentence.times:
        for i, (start, _) in enumerate(sentence.spans):
            if time.start <= start < time.end:
                kinds[i] = "time"
    return kinds


@lru_cache(maxsize=1 << 16)
def kind(word: str, first: bool) -> str:
    """A guess at what kind of word it is; a capital means nothing at the start of a sentence."""
    low = word.lower().replace("’", "'")
    if low in _KINDS:
        return _KINDS[low]
    if word[0].isdigit():
        return "num"
    if word[0].isupper() and not first:
        return "cap"
    if low.endswith("ing") and len(low) > 4:
        return "ing"
    if low.endswith("ed") and len(low) > 3:
        return "ed"
    return "ly" if low.endswith("ly") else "word"


_KINDS = {
    word: name
    for name, words in (
        ("num", NUMBERS), ("adv", ADVERBS), ("conj", CONJUNCTIONS), ("prep", PREPOSITIONS), ("pron", PRONOUNS),
        ("aux", AUXILIARIES), ("hey", GREETINGS), ("det", DETERMINERS), ("poss", _POSSESSIVES), ("to", ("to",)),
    )
    for word in words
}  # fmt: skip
