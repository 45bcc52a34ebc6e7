"""Facts stated in a text: self-contained sentences, with the speaker's name for ``I`` and dates for ``yesterday``."""

import ast
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from memgauge.backbones.rules import dates
from memgauge.backbones.rules.lines import Block, Sentence
from memgauge.backbones.rules.spans import kind
from memgauge.backbones.rules.words import ADVERBS, PAST, PREPOSITIONS, stem

_SELF = re.compile(r"\b(I|me|my|mine|myself|we|us|our|ours)\b(?!')|\bI'", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?P<i>I)(?:['’](?P<short>m|ve|d|ll)\b|\b(?!['’]))"
    r"|\b(?P<my>[Mm]y|[Mm]ine)\b|\b(?P<me>[Mm]e|[Mm]yself)\b"
    r"|\b(?P<your>[Yy]ours?)\b|\b(?P<you>[Yy]ou|[Yy]ourself)\b(?!['’])"
)
_WISH = re.compile(r" (?:really |also |probably )?(?:love|like|be|say|rather|want|prefer|go|do|have)\b")
_SHORT = {"m": " is", "ve": " has", "d": " had", "ll": " will"}
_VERB = re.compile(r"(?P<gap>(?: [a-z]+ly| " + "| ".join(sorted(ADVERBS)) + r")*) (?P<verb>[a-z]+(?:['’]t)?)\b")
_AGREE = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "were": "was",
    "weren't": "wasn't", "wanna": "wants to", "gotta": "has to",
}  # fmt: skip
_LEAD = re.compile(
    r"^[-–— ]*(?:(?:and|but|so|well|oh|hey|hi|yes|yeah|yep|no|wow|also|btw|actually|anyway|thanks)\b[,!. ]*)*",
    re.IGNORECASE,
)
_UNCHANGED = PAST | {
    "will", "would", "can", "could", "should", "shall", "may", "might", "must", "did", "had", "was", "put", "read",
    "hit", "let", "cut", "set", "cost",
}  # fmt: skip
_LEAST_TERMS = 2
_FIELDS = re.compile(r"\(\w+=")  # "(mentioned_at=…)": what a product notes of the sentence before


@dataclass(frozen=True, slots=True)
class Fact:
    """A self-contained sentence, who said it (empty where nobody is named), and when."""

    text: str
    speaker: str = ""
    said: date | None = None


def facts(blocks: Iterable[Block]) -> list[Fact]:
    """One sentence per fact stated in ``blocks``, in order, none twice.

    Where some lines name who speaks, the others (instructions, headings) state nothing.
    """
    sentences = [sentence for block in blocks for sentence in block.sentences]
    if any(sentence.speaker for sentence in sentences):
        sentences = [sentence for sentence in sentences if sentence.speaker]
    speakers = list(dict.fromkeys(_name(sentence) for sentence in sentences if sentence.speaker))
    names = frozenset(stem(word) for speaker in speakers for word in speaker.split())
    told = (Fact(fact(sentence, speakers), _name(sentence), sentence.said) for sentence in sentences
            if states(sentence, names))  # fmt: skip
    return list({each.text: each for each in told}.values())


def listed(parts: Iterable[str]) -> list[Fact]:
    """The facts that a prompt itself lists: the last of its lines that is by itself a list of sentences."""
    for line in reversed([line.strip() for part in parts for line in part.split("\n")]):
        if line[:2] in ("['", '["') and line.endswith("]"):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                told = ast.literal_eval(line)
                if isinstance(told, list) and all(isinstance(one, str) and " " in one for one in told):
                    return [Fact(one) for one in dict.fromkeys(told)]
    return []


def states(sentence: Sentence, names: frozenset[str] = frozenset()) -> bool:
    """Whether it tells something of somebody: no question, no mere politeness to those of ``names``."""
    if sentence.asks or len(sentence.terms - names) < _LEAST_TERMS or _FIELDS.match(sentence.text):
        return False
    if _SELF.search(sentence.text) or sentence.times or sentence.speaker is None:
        return True
    return any(kind(word, i == 0) in ("cap", "num") for i, word in enumerate(sentence.words))


def fact(sentence: Sentence, speakers: Sequence[str] = ()) -> str:
    """The sentence as it reads on its own; ``you`` is the other one of two ``speakers``."""
    text = _dated(sentence)
    name = _name(sentence)
    if name:
        others = [speaker for speaker in speakers if speaker != name]
        if text.split(" ", 1)[0].lower() in PAST:
            text = f"I {text[0].lower()}{text[1:]}"
        named = _named(text, name, others[0] if len(others) == 1 else None)
        text = named if name in named else f"{name}: {text}"
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in ".!?…\"')" else f"{text}."


def _name(sentence: Sentence) -> str:
    name = sentence.speaker or ""
    return name.capitalize() if name.islower() else name


def _dated(sentence: Sentence) -> str:
    """The text with every time resolved; the day of saying at its end where it names no time."""
    text = sentence.text
    for when in reversed(sentence.times):
        before = text[: when.start].split()
        bare = bool(before) and before[-1].lower() in PREPOSITIONS
        text = text[: when.start] + (when.written if bare else when.clause) + text[when.end :]
    text = _LEAD.sub("", text) or text
    if sentence.said and not sentence.times:
        text = f"{text.rstrip('.')} ({dates.written(sentence.said)})."
    return text


def _named(text: str, name: str, other: str | None) -> str:
    out, at = [], 0
    for match in _PRONOUN.finditer(text):
        if match.start() < at:
            continue
        out.append(text[at : match.start()])
        at = match.end()
        if match["i"]:
            out.append(name)
            if match["short"]:
                wish = match["short"] == "d" and _WISH.match(text, at)
                out.append(" would" if wish else _SHORT[match["short"]])
            elif verb := _VERB.match(text, at):
                out.append(f"{verb['gap']} {_third_person(verb['verb'])}")
                at = verb.end()
        elif match["my"]:
            out.append(f"{name}'s")
        elif match["me"]:
            out.append(name)
        elif other is None:
            out.append(match[0])
        else:
            out.append(f"{other}'s" if match["your"] else other)
    return "".join(out) + text[at:]


def _third_person(verb: str) -> str:
    verb = verb.replace("’", "'")
    if verb in _AGREE:
        return _AGREE[verb]
    if verb in _UNCHANGED or verb.endswith(("ed", "n't", "ing")):
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
