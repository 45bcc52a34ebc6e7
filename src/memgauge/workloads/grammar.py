"""A writer of personal dialogues that needs no model: facts in plain sentences, none of them stated twice.

Everything is drawn from ``random.Random.random``, the one method whose numbers Python promises never to change,
so a dialogue is the same on every machine.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from memgauge import tokens
from memgauge.workloads import words
from memgauge.workloads.lengths import bounds, fitted
from memgauge.workloads.phrases import (
    ABOUT_ONESELF,
    ABOUT_OTHERS,
    EVENTS,
    GREETINGS,
    NODS,
    REPLIES,
    SCENE,
    TAGS,
    Phrase,
)

T = TypeVar("T")

_SHORT_TURN = 30  # tokens below which a turn is facts alone, without a reply or a scene
_TIGHT = 16  # tokens of room in which only the shortest way to say a fact has a chance
_HALF_A_SENTENCE = 7  # tokens
_VARIETY = 5  # phrases between two uses of one; fewer than there are of any kind
_MISSES = 8  # sentences in a row that may be too long before a turn counts as full


@dataclass(frozen=True, slots=True)
class Fact:
    """Something stated once in a dialogue, and the question that it answers. ``answer`` stands in ``sentence``."""

    sentence: str
    question: str
    answer: str
    temporal: bool


@dataclass(frozen=True, slots=True)
class Said:
    """One turn, and the facts that it states whole (at least one)."""

    speaker: str
    text: str
    facts: tuple[Fact, ...]


def dialogue(turns: int, length: int, seed: int) -> list[Said]:
    """``turns`` turns of two speakers, each within 15 % of ``length`` o200k tokens (10 or more)."""
    talk = _Talk(Draw(f"{turns} {length} {seed}"), length)
    return [talk.turn(index) for index in range(turns)]


class Draw:
    """Seeded choices that do not depend on the version of Python."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` − 1."""
        return int(self._random() * bound)

    def chance(self, probability: float) -> bool:
        """True as often as ``probability`` says."""
        return self._random() < probability

    def pick(self, choices: Sequence[T]) -> T:
        """One of ``choices``."""
        return choices[self.below(len(choices))]

    def shuffled(self, choices: Sequence[T]) -> list[T]:
        """All of ``choices`` in another order."""
        deck = list(choices)
        for last in range(len(deck) - 1, 0, -1):
            other = self.below(last + 1)
            deck[last], deck[other] = deck[other], deck[last]
        return deck


class Scenes:
    """Filler that says what goes on in the room and nothing about anybody; no sentence twice."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._seen: set[str] = set()

    def __call__(self) -> str:
        while True:
            pick = self._draw.pick
            scene = SCENE.format(lead=pick(words.LEADS), scene=pick(words.SCENES), aside=pick(words.ASIDES))
            # Half of all scenes are plenty for any dialogue; past that, repeat rather than search for ever.
            if scene not in self._seen or len(self._seen) > 10_000:
                self._seen.add(scene)
                return scene


@dataclass(slots=True)
class _Person:
    """An acquaintance of one speaker; ``known`` once the other speaker has been told who it is."""

    name: str
    relation: str
    known: bool = False

    def put(self) -> str:
        return self.name if self.known else f"my {self.relation} {self.name}"


class _Slots(dict[str, str]):
    """Fills the slots of a phrase, each when first asked for."""

    def __init__(self, draw: Draw, given: dict[str, str]) -> None:
        super().__init__(given)
        self._draw = draw

    def __missing__(self, slot: str) -> str:
        if slot[0].isupper():
            value = _capitalised(self[slot[0].lower() + slot[1:]])
        elif slot.startswith("a "):
            noun = self[slot[2:]]
            value = f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"
        else:
            value = _SLOTS[slot](self._draw)
        self[slot] = value
        return value


class _Talk:
    """The state of a dialogue: who was introduced, what was stated."""

    def __init__(self, draw: Draw, length: int) -> None:
        self._draw = draw
        self._length = length
        self._names = draw.shuffled(words.FIRST_NAMES)
        self._surnames = draw.shuffled(words.SURNAMES)
        self._named = 0
        self._speakers = (self._name(), self._name())
        self._people: tuple[list[_Person], list[_Person]] = ([], [])
        self._asked: set[str] = set()
        self._sentences: set[str] = set()
        self._latest: deque[Phrase] = deque(maxlen=_VARIETY)
        self._replied: set[str] = set()
        self._scenes = Scenes(draw)
        self._spoken_of: _Person | None = None

    def turn(self, index: int) -> Said:
        side = index % 2
        low, high = bounds(self._length)
        # The last sentence overshoots the goal by half of itself, and the turns shall average L.
        goal = low + self._draw.below(max(1, 2 * (self._length - _HALF_A_SENTENCE - low) + 1))
        parts = self._opening(index) if self._length >= _SHORT_TURN else []
        size = tokens.count(" ".join(parts))
        facts: list[Fact] = []
        topic = self._topic(side)
        misses = 0
        while not facts or (size < goal and misses < _MISSES):
            if facts and self._length >= _SHORT_TURN and self._draw.chance(0.06):
                sentence, fact = self._scenes(), None
            else:
                about = topic if self._draw.chance(0.75) else self._topic(side)
                fact = self._fact(side, about, tight=high - size < _TIGHT)
                if fact is None:  # stated before: that person has been talked about enough
                    topic = self._topic(side)
                    misses += 1
                    continue
                sentence = fact.sentence
            more = tokens.count(f" {sentence}" if parts else sentence)
            if size + more > high:
                misses += 1
                continue
            misses = 0
            parts.append(sentence)
            size += more
            if fact:
                facts.append(fact)
                self._asked.add(fact.question)
                self._sentences.add(sentence)
                self._spoken_of = about
                if about:
                    about.known = True
        text = fitted(" ".join(parts), self._length, self._scenes, self._draw.shuffled(TAGS))
        return Said(self._speakers[side], text, tuple(facts))

    def _opening(self, index: int) -> list[str]:
        """What a turn begins with: a greeting, or a reply to what was just said, or nothing."""
        you = self._speakers[1 - index % 2]
        if index < 2:
            return [self._filled(GREETINGS[index::2], you=you)]
        if not self._draw.chance(0.6):
            return []
        them = self._spoken_of
        reply = self._filled(REPLIES, them=them.name) if them else self._filled(NODS, you=you)
        if reply in self._replied:
            return []
        self._replied.add(reply)
        return [reply]

    def _filled(self, ways: Sequence[str], **given: str) -> str:
        return self._draw.pick(ways).format_map(_Slots(self._draw, given))

    def _topic(self, side: int) -> _Person | None:
        """An acquaintance of the speaker's, new or among the latest, or nobody: the speaker's own doings."""
        if self._draw.chance(0.45):
            return None
        people = self._people[side]
        if people and (not people[-1].known or self._draw.chance(0.5)):
            return people[-1] if not people[-1].known else self._draw.pick(people[-6:])
        people.append(_Person(self._name(), self._draw.pick(words.RELATIONS)))
        return people[-1]

    def _name(self) -> str:
        """A name that nobody in the dialogue has yet: first names, and when they run out, full names."""
        turn, first = divmod(self._named, len(self._names))
        self._named += 1
        if turn == 0:
            return self._names[first]
        return f"{self._names[first]} {self._surnames[(turn - 1) % len(self._surnames)]}"

    def _fact(self, side: int, about: _Person | None, tight: bool) -> Fact | None:
        """A fact about the acquaintance or, without one, about the speaker; ``None`` where it was stated before."""
        given = {"me": self._speakers[side], "you": self._speakers[1 - side]}
        if about:
            given |= {"who": about.put(), "name": about.name}
            phrases = ABOUT_OTHERS if self._draw.chance(0.85) else _WITH_OTHERS
        else:
            phrases = ABOUT_ONESELF if self._draw.chance(0.2) else _ALONE
        phrase = self._draw.pick([phrase for phrase in phrases if phrase not in self._latest])
        slots = _Slots(self._draw, given)
        way = phrase.says[0] if tight else self._draw.pick(phrase.says)
        sentence = way.format_map(slots)
        question = phrase.asks.format_map(slots)
        if question in self._asked or sentence in self._sentences:
            return None
        self._latest.append(phrase)
        return Fact(sentence, question, slots[phrase.gold], phrase.temporal)


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


def _concerns_others(phrase: Phrase) -> bool:
    return any("{who}" in way or "{Who}" in way for way in phrase.says)


_WITH_OTHERS = tuple(phrase for phrase in EVENTS if _concerns_others(phrase))
_ALONE = tuple(phrase for phrase in EVENTS if not _concerns_others(phrase))


def _one_of(choices: Sequence[str]) -> Callable[[Draw], str]:
    return lambda draw: draw.pick(choices)


def _day(draw: Draw) -> str:
    return f"{1 + draw.below(28)} {draw.pick(words.MONTHS)}"


def _thing(draw: Draw) -> str:
    thing = f"{draw.pick(words.MATERIALS)} {draw.pick(words.OBJECTS)}"
    return f"{draw.pick(words.QUALITIES)} {thing}" if draw.chance(0.6) else thing


_SLOTS: dict[str, Callable[[Draw], str]] = {
    "address": lambda draw: f"{1 + draw.below(199)} {draw.pick(words.STREETS)} {draw.pick(words.STREET_KINDS)}",
    "appointment": _one_of(words.APPOINTMENTS),
    "city": _one_of(words.CITIES),
    "clock": lambda draw: f"{5 + draw.below(5)}:{5 * draw.below(12):02}",
    "colour": _one_of(words.COLOURS),
    "course": _one_of(words.COURSES),
    "date": lambda draw: f"{_day(draw)} {2014 + draw.below(10)}",
    "day": _day,
    "dish": _one_of(words.DISHES),
    "drink": _one_of(words.DRINKS),
    "employer": _one_of(words.EMPLOYERS),
    "field": _one_of(words.FIELDS),
    "flower": _one_of(words.FLOWERS),
    "food": _one_of(words.FOODS),
    "hobby": _one_of(words.HOBBIES),
    "instrument": _one_of(words.INSTRUMENTS),
    "job": _one_of(words.JOBS),
    "language": _one_of(words.LANGUAGES),
    "material": _one_of(words.MATERIALS),
    "month": _one_of(words.MONTHS),
    "number": _one_of(words.NUMBERS),
    "party": _one_of(words.PARTY_REASONS),
    "pet": _one_of(words.PETS),
    "pet name": _one_of(words.PET_NAMES),
    "plan": lambda draw: f"{_day(draw)} {2026 + draw.below(2)}",
    "price": lambda draw: str(12 + draw.below(468)),
    "repair": _one_of(words.REPAIRS),
    "room": lambda draw: str(101 + draw.below(839)),
    "shop": _one_of(words.SHOPS),
    "thing": _thing,
    "title": lambda draw: f"The {draw.pick(words.TITLE_ADJECTIVES)} {draw.pick(words.TITLE_NOUNS)}",
    "vehicle": _one_of(words.VEHICLES),
    "venue": _one_of(words.VENUES),
    "weekday": _one_of(words.WEEKDAYS),
    "year": lambda draw: str(2014 + draw.below(10)),
}
