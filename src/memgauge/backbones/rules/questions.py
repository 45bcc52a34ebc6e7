"""What a question asks for, read off its words."""

import re
from dataclasses import dataclass

from memgauge.backbones.rules.words import ADVERBS, AUXILIARIES, PREPOSITIONS, STOP, WORD, stem

_ASKS = re.compile(
    r"\b(?:(?P<duration>how long)|(?P<number>how (?:many|much|old|often|far|tall|big|large)|what age|what number)"
    r"|(?P<when>when|(?:what|which) (?:date|day|month|year|week|weekend|time)"
    r"(?= (?:did|do|does|is|was|were|will|has|have|had|are)))"
    r"|(?P<person>who|whose|whom)|(?P<place>where|(?:what|which)(?: \w+)? (?:city|cities|country|countries|state"
    r"|states|place|places|town|location|locations))|(?P<reason>why|what reason|how come)"
    r"|(?P<thing>what|which|how))\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"(?:please |could you |can you )?(?:tell me|list|name|describe|remind me|explain)\b", re.IGNORECASE
)
_LABEL = re.compile(r"\s*(?:question|query|q)\s*:\s*", re.IGNORECASE)
_CHOICE = re.compile(r"\b(\w[\w'’-]*(?: \w[\w'’-]*){0,2}) or (\w[\w'’-]*(?: \w[\w'’-]*){0,2})")
# Words of a question that say what form the answer has, not where it stands.
_FORM = frozenset(map(stem, (
    "long", "many", "much", "old", "often", "date", "day", "month", "year", "time", "name", "city", "country", "state",
    "place", "location", "reason", "which", "recently", "new", "currently", "specific",
)))  # fmt: skip


@dataclass(frozen=True)
class Question:
    """``kind`` is one of when, duration, number, person, place, reason, thing, polar.

    ``terms`` are the stems to look for in a context, ``subjects`` those of the names of whom it is about,
    ``several`` tells that it asks for more than one thing, and ``choices`` are the two of an either-or.
    """

    text: str
    kind: str
    terms: tuple[str, ...]
    subjects: frozenset[str]
    several: bool
    choices: tuple[str, ...] = ()


def ask(text: str) -> Question | None:
    """Reads a line as a question; ``None`` where it asks nothing."""
    label = _LABEL.match(text)
    text = text[label.end() :].strip() if label else text.strip()
    words = WORD.findall(text)
    if not words or not (label or text.endswith("?") or _REQUEST.match(text)):
        return None
    lower = [word.lower().replace("’", "'") for word in words]
    found = _ASKS.search(text)
    choice = _CHOICE.search(text)
    kind = str(found.lastgroup) if found else "thing"
    if lower[0] in AUXILIARIES and not _REQUEST.match(text):
        kind = "polar"
    stems = [stem(word) for word in words]
    meaning = [s for low, s in zip(lower, stems, strict=True) if low not in STOP]
    terms = tuple(dict.fromkeys(s for s in meaning if s not in _FORM)) or tuple(dict.fromkeys(meaning))
    return Question(text, kind, terms, _subjects(words, lower), _several(text, found),
                    _choices(*choice.groups()) if choice and kind == "polar" else ())  # fmt: skip


def _choices(first: str, second: str) -> tuple[str, str]:
    """The two things of an either-or, as long as the second is: what goes before and after belongs to neither."""
    words = second.split()
    end = next((i for i, word in enumerate(words) if word in PREPOSITIONS or word in ADVERBS), len(words))
    return " ".join(first.split()[-max(end, 1) :]), " ".join(words[: max(end, 1)])


def is_labelled(text: str) -> bool:
    """Whether a line is announced as a question: ``Question: …``."""
    return _LABEL.match(text) is not None


def _subjects(words: list[str], lower: list[str]) -> frozenset[str]:
    """Names that stand where a subject or an owner does: after an auxiliary, or with a possessive."""
    found: set[str] = set()
    for i, word in enumerate(words):
        if i and word[0].isupper() and word != "I" and lower[i] not in AUXILIARIES:
            leads = lower[i - 1] in AUXILIARIES or (lower[i - 1] == "and" and found)
            if leads or lower[i].endswith("'s"):
                found.add(stem(word))
    return frozenset(found)


def _several(text: str, found: re.Match[str] | None) -> bool:
    if not found or found.lastgroup not in ("thing", "place", "person"):
        return False
    head = WORD.findall(text[found.start() :].lower())[1:5]
    if head and head[0] in ("are", "were", "have") and found.lastgroup != "thing":
        return True
    noun = next((word for word in head if word in AUXILIARIES or word.endswith("s")), "")
    return noun.endswith("s") and noun not in AUXILIARIES and not noun.endswith(("ss", "'s"))
