"""Answers a question from ranked sentences: a date, a number, yes or no, or the words that fit best."""

import re
from collections.abc import Sequence

from memgauge.backbones.rules import dates
from memgauge.backbones.rules.questions import Question
from memgauge.backbones.rules.ranking import Hit
from memgauge.backbones.rules.span_weights import COVERAGE
from memgauge.backbones.rules.spans import best_span
from memgauge.backbones.rules.words import NEGATIONS, WORD, number, spelled, stem
from memgauge.conversation import ABSTENTION

_ENOUGH = 0.2  # share of the question that a sentence must cover to be an answer
_STRANGER = 0.4  # what is left of the score of a sentence in which somebody else speaks of themselves
_SHADOWED = 0.9  # below this share of the best score it is somebody else's story that was asked for
_SENTENCES = 4  # sentences in which a span is looked for
_WORTH = 0.6  # share of the best score from which on they are worth it
_LIST_MARGIN = 3.0  # a further thing of a list may weigh so much less than the first
_RIVAL = 0.7  # share of the best score from which on a sentence gives a further answer

_YOU = re.compile(r"\b(?:you|your|yours|you're|you've)\b", re.IGNORECASE)
_AMOUNT = (
    r"(?:about |around |almost |nearly |over |at least )?(?:\d[\d,.]*|an?|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|twenty|thirty|a few|few|several|a couple of|half an?)"
)
_DURATION = re.compile(
    rf"\b(?:since (?:19|20)\d\d|{_AMOUNT}(?:-\d+)?"
    r" (?:second|minute|hour|day|week|weekend|month|year|decade)s?(?: ago)?)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    rf"\b(?:every (?:\w+ )?(?:day|morning|evening|night|week|weekend|month|year)|(?:once|twice|{_AMOUNT} times)"
    r"(?: or \w+)? (?:an?|every|each|per) \w+|daily|weekly|monthly|yearly)\b",
    re.IGNORECASE,
)
_AGE = re.compile(
    rf"\b{_AMOUNT} years? old\b|\bage of \d+\b|\b(?:am|is|are|turned|turning|was) \d{{1,3}}\b", re.IGNORECASE
)
_MONEY = re.compile(
    r"[$€£]\s?\d[\d,.]*(?:\s?(?:k|million|billion))?|\b\d[\d,.]* (?:dollars|euros|pounds|bucks)\b", re.IGNORECASE
)
_ELAPSED = re.compile(
    r"how many (?P<unit>day|week|month|year)s?\b.*\b(?:pass|passed|lapsed|elapsed|between|since|after)\b"
)
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25}
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d)?\s?(?:am|pm)\b|\b\d{1,2}:\d\d\b", re.IGNORECASE)


def answer(question: Question, ranked: Sequence[Hit]) -> str:
    """The answer in a few words, or ABSTENTION where no sentence covers enough of the question."""
    hits = weigh(question, ranked)
    if not hits or hits[0].score < max(_ENOUGH, _SHADOWED * ranked[0].score):
        return ABSTENTION
    match question.kind:
        case "polar":
            return _choice(question, hits) if question.choices else _yes_or_no(hits[0])
        case "when":
            return _when(question, hits)
        case "duration":
            return _pattern(_DURATION, hits) or _phrase(question, hits)
        case "number":
            return _number(question, hits)
        case _:
            return _phrase(question, hits)


def weigh(question: Question, ranked: Sequence[Hit]) -> list[Hit]:
    """The hits with what others say of themselves marked down, best first."""
    if not question.subjects:
        return list(ranked)
    hits = [hit._replace(score=hit.score * _STRANGER) if _stranger(question, hit) else hit for hit in ranked]
    hits.sort(key=lambda hit: (-round(hit.score, 6), -hit.place))
    return hits


def _stranger(question: Question, hit: Hit) -> bool:
    sentence = hit.sentence
    return (
        sentence.speaker is not None
        and not question.subjects & (sentence.tags | sentence.terms)
        and _YOU.search(sentence.text) is None
    )


def _near(hits: Sequence[Hit]) -> list[Hit]:
    """The hits that rival the best, those of the best one's block first."""
    best = hits[0]
    return [best] + [hit for hit in hits[1:] if hit.place == best.place or hit.score >= _RIVAL * best.score]


def _yes_or_no(hit: Hit) -> str:
    negated = any(word.lower().replace("’", "'") in NEGATIONS for word in hit.sentence.words)
    return "No" if negated else "Yes"


def _choice(question: Question, hits: Sequence[Hit]) -> str:
    def support(choice: str) -> float:
        wanted = {stem(word) for word in WORD.findall(choice)}
        return max(hit.score * len(wanted & hit.sentence.terms) for hit in hits)

    first, second = question.choices
    if not support(first) and not support(second):
        return _yes_or_no(hits[0])
    return second if support(second) > support(first) else first


def _when(question: Question, hits: Sequence[Hit]) -> str:
    lower = question.text.lower()
    if re.search(r"what time\b", lower) and (clock := _pattern(_CLOCK, hits)):
        return clock
    asked = {when.written for when in dates.times(question.text, hits[0].sentence.said)}
    for hit in _near(hits):
        for when in hit.sentence.times:
            if when.written not in asked:
                return _as_asked(lower, when.written)
    said = hits[0].sentence.said
    if said is None:
        return _phrase(question, hits)
    for hit in _near(hits):
        if lasting := dates.began(hit.sentence.text, hit.sentence.said):
            return _as_asked(lower, lasting)
    return _as_asked(lower, dates.written(said))


def _as_asked(question: str, written: str) -> str:
    """The date no finer than was asked for."""
    year = re.search(r"(?:19|20)\d\d$", written)
    if year and re.search(r"\b(?:what|which) year\b", question):
        return year[0]
    if year and re.search(r"\b(?:what|which) month\b", question):
        return " ".join(written.split()[-2:])
    return written


def _number(question: Question, hits: Sequence[Hit]) -> str:
    lower = question.text.lower()
    for cue, pattern in (("how often", _RATE), ("how old", _AGE), ("what age", _AGE), ("how much", _MONEY)):
        if cue in lower and (found := _pattern(pattern, hits)):
            return found
    if (apart := _ELAPSED.search(lower)) and (found := _apart(apart["unit"], hits)):
        return found
    for hit in _near(hits):
        sentence = hit.sentence
        times = sentence.times
        for i, (word, (start, end)) in enumerate(zip(sentence.words, sentence.spans, strict=True)):
            if number(word) is None or word.lower() == "one" or any(t.start <= start < t.end for t in times):
                continue
            noun = sentence.words[i + 1] if i + 1 < len(sentence.words) else ""
            return f"{word} {noun}" if noun and stem(noun) in question.terms else sentence.text[start:end]
    if "how many" not in lower:
        return _phrase(question, hits)
    alike = [hit for hit in hits if hit.score >= _RIVAL * hits[0].score]
    ordinals = [
        _ORDINALS.index(word.lower()) for hit in alike for word in hit.sentence.words if word.lower() in _ORDINALS
    ]
    return spelled(max(ordinals, default=len({hit.place for hit in alike})))


def _apart(unit: str, hits: Sequence[Hit]) -> str | None:
    """The time between what the two best lines tell of."""
    days = list({hit.place: said for hit in hits if (said := hit.sentence.said)}.values())
    if len(days) < 2:
        return None
    first, second = days[:2]
    count = round(abs((first - second).days) / _DAYS[unit])
    return f"{spelled(count)} {unit}{'' if count == 1 else 's'}"


def _pattern(pattern: re.Pattern[str], hits: Sequence[Hit]) -> str | None:
    found = (pattern.search(hit.sentence.text) for hit in _near(hits))
    return next((match[0] for match in found if match), None)


def _phrase(question: Question, hits: Sequence[Hit]) -> str:
    found: list[tuple[float, int, str]] = []
    telling = [hit for hit in hits if not hit.sentence.asks] or hits
    for hit in telling[:_SENTENCES]:
        if hit.score < _WORTH * telling[0].score:
            break
        weight, text = best_span(hit.sentence, question)
        if text:
            found.append((weight + COVERAGE * hit.score, hit.place, text))
    if not found:
        return ABSTENTION
    found.sort(key=lambda each: -each[0])
    if not question.several:
        return found[0][2]
    chosen = {place: text for weight, place, text in reversed(found) if weight >= found[0][0] - _LIST_MARGIN}
    return ", ".join(dict.fromkeys(text for _, text in sorted(chosen.items())))
