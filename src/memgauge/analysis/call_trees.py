"""Where a memory spends its calls: turn by turn, stage by stage, each call with what it was asked and what it said.

One unit per memory and protocol, the longest that was finished. A small run is told whole; of a large one the first
turn, the median and the costliest, of the turns and of the questions apart.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from memgauge.analysis.contexts import texts_of
from memgauge.analysis.read import Read
from memgauge.analysis.turn_costs import billed_input
from memgauge.ledger.frames import Frames

WHOLE_CALLS = 800  # calls of all trees together up to which every turn is told
MOST_CALLS = 12  # chat calls of one stage at one place that are told one by one
EXCERPT = 200  # characters of an ending or a reply; half of it of an opening
STAGES = ("read", "answer", "write", "manage")
MOST_EMBEDDINGS = 2  # likewise of its embeddings
_OPENING = 4  # pieces of a prompt that are its opening
_DEEPEST = 64  # earlier prompts that are followed back for it

_PLACE = ["unit", "turn", "question"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """How many chat calls and embeddings, and their tokens; calls that did not tell theirs count as 0."""

    chats: int
    embeddings: int
    input: int
    output: int
    embedded: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call. ``opening`` is how its prompt begins, ``ending`` how it ends, ``reply`` how what came back begins; each
    is all of it where it is short.

    ``seconds`` is None where it was served from an earlier attempt's record, ``error`` says why there is no reply.
    ``background`` calls arrived while nothing was asked of the memory.
    """

    kind: str
    input: int | None
    output: int | None
    embedded: int | None
    seconds: float | None
    background: bool
    opening: str
    ending: str
    reply: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Stage:
    """The calls of one stage at one place; ``calls`` are the first of them."""

    stage: str
    spent: Tokens
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A turn, or a question asked after the last one; ``why`` says why it is told, where not all are."""

    turn: int
    question: str | None
    why: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class CallTree:
    """One unit: its stages over all, then ``told`` of its ``places`` (turns and questions that made calls)."""

    memory: str
    protocol: str
    item: str
    setting: str
    turns: int
    stages: dict[str, Tokens]
    places: int
    told: tuple[Place, ...]


def longest_units(units: pl.DataFrame) -> pl.DataFrame:
    """The longest finished unit of every memory and protocol, the first of those of one length."""
    done = units.filter(pl.col("status") == "done").sort("turns", descending=True, maintain_order=True)
    return done.unique(["memory", "protocol"], keep="first", maintain_order=True).sort("unit")


def call_trees(found: Read) -> tuple[CallTree, ...]:
    """A tree for every memory and protocol that finished a unit."""
    units = longest_units(found.played.units)
    calls = found.played.calls.filter(pl.col("unit").is_in(units["unit"].implode()) & (pl.col("stage") != "judge"))
    calls = calls.with_columns(input=billed_input())
    spent = calls.group_by("unit", "stage").agg(_sums())
    by_place = calls.group_by(_PLACE, maintain_order=True).agg(cost=(pl.col("input") + _output()).sum())
    whole = len(calls) <= WHOLE_CALLS
    chosen = _sampled(by_place, whole=whole)
    told = _told(found.frames, chosen)
    stages: dict[int, dict[str, Tokens]] = defaultdict(dict)
    for unit, stage, *sums in spent.iter_rows():
        stages[unit][stage] = Tokens(*sums)
    places = dict(by_place.group_by("unit").len().iter_rows())
    return tuple(
        CallTree(
            row["memory"], row["protocol"], row["item"], row["setting"], row["turns"],
            {stage: stages[row["unit"]][stage] for stage in STAGES if stage in stages[row["unit"]]},
            places.get(row["unit"], 0), tuple(told.get(row["unit"], ())),
        )
        for row in units.iter_rows(named=True)
    )  # fmt: skip


def _output() -> pl.Expr:
    return pl.sum_horizontal("output_tokens", "reasoning_tokens")


def _sums() -> list[pl.Expr]:
    chat = pl.col("kind") == "chat"
    return [
        chat.sum().alias("chats"),
        (~chat).sum().alias("embeddings"),
        pl.col("input").filter(chat).sum().alias("in"),
        _output().filter(chat).sum().alias("out"),
        pl.col("embedding_tokens").sum().alias("embedded"),
    ]


def _sampled(places: pl.DataFrame, *, whole: bool) -> pl.DataFrame:
    """``places`` that are told, with ``why``: the first, the median and the costliest of each unit and kind."""
    if whole:
        return places.with_columns(why=pl.lit(""))
    picked = []
    for _, mine in places.group_by("unit", pl.col("question").is_null(), maintain_order=True):
        ordered = mine.with_row_index("place").sort("cost", maintain_order=True)
        reasons: dict[int, str] = {0: "first"}
        reasons.setdefault(int(ordered["place"][(len(ordered) - 1) // 2]), "median")
        reasons.setdefault(int(ordered["place"][-1]), "costliest")
        picked.append(mine[sorted(reasons)].with_columns(why=pl.Series([reasons[place] for place in sorted(reasons)])))
    return pl.concat(picked) if picked else places.with_columns(why=pl.lit(""))


def _told(frames: Frames, chosen: pl.DataFrame) -> dict[int, list[Place]]:
    """The places with their calls, by unit, in the order they were come to."""
    columns = (
        "call", "unit", "seq", "turn", "question", "stage", "background", "kind", "prompt_base", "prompt_keep",
        "prompt_new", "reply", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens",
        "reasoning_tokens", "embedding_tokens", "latency_s", "replays", "outcome", "error",
    )  # fmt: skip
    turns = defaultdict(set)
    for unit, turn in chosen.select("unit", "turn").iter_rows():
        turns[unit].add(turn)
    rows = [
        frames.table("calls", columns, f"WHERE claimed = 1 AND stage <> 'judge' AND unit = {unit}"
                     f" AND turn IN ({', '.join(map(str, sorted(wanted)))}) ORDER BY seq")
        for unit, wanted in turns.items()
    ]  # fmt: skip
    if not rows:
        return {}
    calls = pl.concat(rows).join(chosen, on=_PLACE, how="inner", nulls_equal=True, maintain_order="left")
    grouped = [(key, group) for key, group in calls.group_by([*_PLACE, "why"], maintain_order=True)]
    stages = [
        (place, key, stage, group.filter(pl.col("stage") == stage))
        for place, (key, group) in enumerate(grouped)
        for stage in STAGES
        if (group["stage"] == stage).any()
    ]
    shown = pl.concat([_first(mine) for *_, mine in stages])
    excerpts = _excerpts(frames, shown)
    of_place: dict[int, list[Stage]] = defaultdict(list)
    for place, _, stage, mine in stages:
        spent = Tokens(*mine.with_columns(input=billed_input()).select(_sums()).row(0))
        told = tuple(_call(row, excerpts[row["call"]]) for row in _first(mine).iter_rows(named=True))
        of_place[place].append(Stage(stage, spent, told))
    found: dict[int, list[Place]] = defaultdict(list)
    for place, ((unit, turn, question, why), _) in enumerate(grouped):
        found[int(unit)].append(Place(int(turn), question, str(why), tuple(of_place[place])))
    return found


def _first(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls of a stage that are told one by one."""
    most = pl.when(pl.col("kind") == "chat").then(MOST_CALLS).otherwise(MOST_EMBEDDINGS)
    return calls.filter(pl.int_range(pl.len()).over("kind") < most)


def _call(row: Mapping[str, Any], excerpt: tuple[str, str, str]) -> Call:
    chat = row["kind"] == "chat"
    parts = ("input_tokens", "cached_tokens", "cache_write_tokens")
    read = None if row["input_tokens"] is None else sum(row[name] or 0 for name in parts)
    wrote = None if row["output_tokens"] is None else row["output_tokens"] + (row["reasoning_tokens"] or 0)
    return Call(
        row["kind"], read if chat else None, wrote if chat else None, row["embedding_tokens"],
        None if row["replays"] else row["latency_s"], bool(row["background"]), *excerpt,
        error=None if row["outcome"] == "ok" else f"{row['outcome']}: {row['error'] or 'no reason was recorded'}",
    )  # fmt: skip


def _excerpts(frames: Frames, calls: pl.DataFrame) -> dict[int, tuple[str, str, str]]:
    """Opening, ending and reply of each call."""
    own = {call: _ids(new) for call, new in calls.select("call", "prompt_new").iter_rows()}
    openings = _openings(frames, calls)
    ends = {call: ids[-4:] for call, ids in own.items()}
    replies = dict(calls.drop_nulls("reply").select("call", "reply").iter_rows())
    wanted = {*(text for ids in (*openings.values(), *ends.values()) for text in ids), *replies.values()}
    bodies = texts_of(frames, wanted)
    return {
        call: (
            _head(_joined(openings[call], bodies), EXCERPT // 2),
            _tail(_joined(ends[call], bodies)),
            _shortened(_said(bodies.get(replies.get(call, 0), ""))),
        )
        for call in own
    }


def _openings(frames: Frames, calls: pl.DataFrame) -> dict[int, list[int]]:
    """The first pieces of each call's prompt, of which earlier calls may hold all or some."""
    columns = ("call", "prompt_base", "prompt_keep", "prompt_new")
    found: dict[int, list[int]] = {call: [] for call in calls["call"]}
    level = {call: [(call, _OPENING)] for call in found}  # what is looked at: for whom, and how many pieces
    rows = calls.select(columns)
    for _ in range(_DEEPEST):
        bases: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for call, base, keep, new in rows.iter_rows():
            kept, own = (keep, _ids(new)) if base is not None else (0, _ids(new))
            for root, wanted in level[call]:
                found[root] = own[: max(0, wanted - kept)] + found[root]
                if kept:
                    bases[base].append((root, min(wanted, kept)))
        if not bases:
            break
        level = bases
        rows = frames.table("calls", columns, f"WHERE call IN ({', '.join(map(str, sorted(bases)))})")
    return found


def _ids(blob: bytes) -> list[int]:
    ids: list[int] = np.frombuffer(blob, "<i8").tolist()
    return ids


def _joined(ids: Iterable[int], bodies: Mapping[int, str]) -> str:
    """The texts, without the marks that the meter puts before a message."""
    return " ".join(body for text in ids if not (body := bodies.get(text, "")).startswith("\x02"))


def _said(reply: str) -> str:
    """What a model said, out of the reply as it was served; an embedding says nothing."""
    try:
        value = json.loads(reply)
    except ValueError:
        return reply
    choices = value.get("choices") if isinstance(value, dict) else None
    message = (
        choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    )
    if not isinstance(message, dict):
        return ""
    content = message.get("content")
    return content if isinstance(content, str) and content else json.dumps(message.get("tool_calls") or "")


def _head(text: str, longest: int) -> str:
    squeezed = " ".join(text[: 4 * EXCERPT].split())
    return squeezed[:longest]


def _shortened(text: str) -> str:
    head = _head(text, EXCERPT)
    return head if len(head) < EXCERPT else f"{head} …"


def _tail(text: str) -> str:
    squeezed = " ".join(text[-4 * EXCERPT :].split())
    return squeezed[-EXCERPT:]
