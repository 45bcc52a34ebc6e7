"""What stood before the generator at each question: the recalled items, and which of them are evidence.

Prompts lie in the ledger as deltas of earlier ones; each unit's are put together once, in order. An answer's
prompt ends with a message of the user: a heading, the recalled items, the question.

The ledger ranks what was recalled, best first, by the ids of its turns; a prompt may hold the items in another
order, that of the conversation. Which of the two a memory keeps shows where an item recurs: by the right order a
text always names the same turns. Where nothing recurs, nothing is claimed (``evidence`` is None).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import text_id

MOST_ITEMS = 40  # of a longer context only the evidence is told

Texts = NDArray[np.int64]  # ids in the ledger
Turns = tuple[str, ...]

_USER = text_id("\x02user")  # the piece that the meter writes before the text of a user's message
_NUMBER = re.compile(r"(\d+)")
_TEXTS_AT_ONCE = 5_000

_strings = msgspec.json.Decoder(frozenset[str]).decode
_ranking = msgspec.json.Decoder(tuple[Turns, ...]).decode


@dataclass(frozen=True, slots=True)
class Item:
    """One recalled item: its place in the prompt, from 1, its text's id, and whether it holds evidence.

    ``evidence`` is None where the ledger does not tell which turns the item is.
    """

    place: int
    text: int
    evidence: bool | None


@dataclass(frozen=True, slots=True)
class Context:
    """What was recalled for one question: ``size`` items, told one by one up to MOST_ITEMS, else the evidence."""

    size: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer with the texts of its prompt's items, and the turns of each in both orders that are possible."""

    place: tuple[int, int]
    evidence: frozenset[str]
    texts: Texts
    as_ranked: tuple[Turns, ...] | None
    as_said: tuple[Turns, ...] | None


def contexts(frames: Frames, answers: pl.DataFrame, units: pl.DataFrame) -> dict[tuple[int, int], Context]:
    """The context of every one of ``answers``, by unit and ordinal; an answer without a recorded prompt has none."""
    calls = frames.table(
        "calls",
        ("call", "unit", "seq", "question", "stage", "claimed", "prompt_base", "prompt_keep", "prompt_new"),
        "WHERE kind = 'chat' AND stage <> 'judge' AND unit IN (SELECT unit FROM units WHERE questions > 0)"
        " ORDER BY unit, call",
    )
    asked = calls.join(answers, on="unit", how="semi", maintain_order="left")
    prompts = {unit: _prompts(rows) for (unit,), rows in asked.group_by("unit", maintain_order=True)}
    told = answers.join(units.select("unit", "workload", "item"), on="unit", maintain_order="left")
    found: dict[tuple[int, int], Context] = {}
    for _, of_conversation in told.group_by("workload", "item", maintain_order=True):
        reads = [
            list(_reads(rows, prompts.get(unit, {})))
            for (unit,), rows in of_conversation.group_by("unit", maintain_order=True)
        ]
        known = {pair for unit in reads for read in unit for pair in _certain(read)}
        for unit in reads:
            found |= _told(unit, known)
    return found


def texts_of(frames: Frames, wanted: Iterable[int]) -> dict[int, str]:
    """The bodies of texts by id."""
    ids = sorted(set(wanted))
    bodies: dict[int, str] = {}
    for start in range(0, len(ids), _TEXTS_AT_ONCE):
        listed = ", ".join(map(str, ids[start : start + _TEXTS_AT_ONCE]))
        bodies |= dict(frames.table("texts", ("text", "body"), f"WHERE text IN ({listed})").iter_rows())
    return bodies


def _prompts(calls: pl.DataFrame) -> dict[str, list[Texts]]:
    """The prompts of one unit's answers by question, in the order they were asked."""
    whole: dict[int, Texts] = {}
    answered: list[tuple[int, str, Texts]] = []
    for call, _, seq, question, stage, claimed, base, keep, new in calls.iter_rows():
        own: Texts = np.frombuffer(new, "<i8").astype(np.int64, copy=False)
        whole[call] = own if base is None or base not in whole else np.concatenate((whole[base][:keep], own))
        if claimed and stage == "answer" and question is not None:
            answered.append((seq, question, whole[call]))
    found: dict[str, list[Texts]] = defaultdict(list)
    for _, question, prompt in sorted(answered, key=lambda entry: entry[0]):
        found[question].append(prompt)
    return found


def _reads(answers: pl.DataFrame, prompts: Mapping[str, Sequence[Texts]]) -> Iterator[_Read]:
    nth: dict[str, int] = defaultdict(int)
    columns = ("unit", "ordinal", "question", "evidence", "recalled")
    for unit, ordinal, question, evidence, recalled in answers.select(columns).iter_rows():
        mine = prompts.get(question, ())
        place = nth[question]
        nth[question] += 1
        if place >= len(mine):
            continue
        prompt = mine[place]
        starts = np.flatnonzero(prompt == _USER)
        items = prompt[int(starts[-1]) + 2 : -1] if len(starts) else prompt[:0]
        ranked, said = (None, None) if recalled is None else _orders(recalled)
        if ranked is not None and len(ranked) != len(items):
            ranked, said = None, None
        yield _Read((unit, ordinal), _strings(evidence), items, ranked, said)


def _told(reads: Sequence[_Read], known: set[tuple[int, Turns]]) -> Iterator[tuple[tuple[int, int], Context]]:
    """One unit's contexts; ``known`` are texts of the conversation whose turns are beyond doubt."""
    by_rank = _clashes({pair for read in reads for pair in _pairs(read.texts, read.as_ranked)} | known)
    by_time = _clashes({pair for read in reads for pair in _pairs(read.texts, read.as_said)} | known)
    turns_of: dict[int, set[str]] = defaultdict(set)
    for text, turns in known:
        turns_of[text].update(turns)
    for read in reads:
        order = read.as_ranked if by_rank < by_time else read.as_said
        if order is not None and (by_rank != by_time or read.as_ranked == read.as_said):
            marks: list[bool | None] = [not read.evidence.isdisjoint(turns) for turns in order]
        else:
            marks = [
                not read.evidence.isdisjoint(turns_of[text]) if text in turns_of else None
                for text in read.texts.tolist()
            ]
        items = (Item(*entry) for entry in zip(range(1, len(marks) + 1), read.texts.tolist(), marks, strict=True))
        whole = len(marks) <= MOST_ITEMS
        yield read.place, Context(len(marks), tuple(item for item in items if whole or item.evidence))


def _certain(read: _Read) -> Iterator[tuple[int, Turns]]:
    return _pairs(read.texts, read.as_ranked if read.as_ranked == read.as_said else None)


def _pairs(texts: Texts, order: Sequence[Turns] | None) -> Iterator[tuple[int, Turns]]:
    return zip(texts.tolist(), order, strict=True) if order is not None else iter(())


def _clashes(pairs: set[tuple[int, Turns]]) -> int:
    """How often a text names further turns, or a turn has further texts."""
    return 2 * len(pairs) - len({text for text, _ in pairs}) - len({turns for _, turns in pairs})


@lru_cache(maxsize=256)  # full history recalls the same for every question
def _orders(recalled: str) -> tuple[tuple[Turns, ...], tuple[Turns, ...]]:
    """The ranking, and the same items as they were said."""
    ranked = _ranking(recalled)
    return ranked, tuple(sorted(ranked, key=_as_said))


@lru_cache(maxsize=1 << 16)
def _as_said(turns: Turns) -> tuple[list[str | int], ...]:
    """A key that sorts turns as they were said: ``s2/t10`` after ``s2/t9``."""
    return tuple([int(part) if part.isdigit() else part for part in _NUMBER.split(turn)] for turn in turns[:1])
