"""What went wrong inside the memories, which went on: faults, the turns lost by them, and what products lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from memgauge.analysis.contexts import texts_of
from memgauge.analysis.read import Read

MOST_EXAMPLES = 3
EXCERPT = 300  # characters of a reply


@dataclass(frozen=True, slots=True)
class FaultTold:
    """One fault: where it happened, what it was, and how the reply behind it begins.

    ``times`` counts the memory's faults that say the same; this is the last of them.
    """

    item: str
    protocol: str
    turn: int
    question: str | None
    stage: str
    what: str
    reply: str | None
    lost_turns: int
    times: int


@dataclass(frozen=True, slots=True)
class Losses:
    """The faults of one memory over all its units, the last ones of those that differ told.

    ``kinds`` counts them by stage.
    ``lost`` is what finished units say they lost, and how many say it.
    """

    memory: str
    faults: int
    lost_turns: int
    units: int
    kinds: dict[str, int]
    last: tuple[FaultTold, ...]
    lost: dict[str, int]


def losses(found: Read) -> tuple[Losses, ...]:
    """Of every memory with a fault or a loss."""
    units = found.played.units.select("unit", "memory", "item", "protocol", "status", "error")
    faults = found.frames.table("faults", None, "ORDER BY unit, fault").join(units, on="unit", maintain_order="left")
    kinds = faults.with_columns(times=pl.len().over("memory", "what"))
    kinds = kinds.unique(["memory", "what"], keep="last", maintain_order=True)
    last = kinds.group_by("memory", maintain_order=True).tail(MOST_EXAMPLES)
    replies = texts_of(found.frames, last["reply"].drop_nulls())
    said = units.filter((pl.col("status") == "done") & pl.col("error").is_not_null())
    told = []
    for memory in units["memory"].unique(maintain_order=True):
        mine, errors = faults.filter(pl.col("memory") == memory), said.filter(pl.col("memory") == memory)
        if mine.is_empty() and errors.is_empty():
            continue
        told.append(
            Losses(
                memory,
                len(mine),
                int(mine["lost_turns"].sum()),
                mine["unit"].n_unique(),
                dict(mine.group_by("stage", maintain_order=True).len().iter_rows()),
                tuple(_told(row, replies) for row in last.filter(pl.col("memory") == memory).iter_rows(named=True)),
                dict(errors.group_by("error", maintain_order=True).len().iter_rows()),
            )
        )
    return tuple(told)


def _told(row: Mapping[str, Any], replies: Mapping[int, str]) -> FaultTold:
    reply = None if row["reply"] is None else replies.get(row["reply"], "")
    if reply is not None and len(reply) > EXCERPT:
        reply = f"{reply[:EXCERPT]} … ({len(reply):,} characters)"
    return FaultTold(
        row["item"], row["protocol"], row["turn"], row["question"], row["stage"], row["what"], reply, row["lost_turns"],
        row["times"],
    )  # fmt: skip
