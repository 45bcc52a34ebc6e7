"""The tables of "Harness the Memory": what each memory knew (P) and what it spent (E), family by family.

Only units that were asked questions count. Which of the paper's substrates a memory is, its run has noted.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import Played
from memgauge.analysis.quality import MemoryQuality, Quality
from memgauge.metrics.efficiency import FIGURES, KEYS, efficiency_of
from memgauge.published import harness_the_memory as paper

# The paper's answer and retrieval figures, in its order; P5 is among those of efficiency.
KNOWN = {
    "exact_match": "P1", "token_f1": "P2", "bleu1": "P3", "judge": "P4", "evidence_recall": "P6",
    "evidence_recall@10": "P6", "evidence_ndcg@10": "P7", "sub_em": "P12",
}  # fmt: skip

# What is handed over whole is not retrieved, so that E4 is undefined (not 0): the buffer, the adapter, the window.
_NOTHING_RETRIEVED = ("M9", "M10", "floor")


@dataclass(frozen=True, slots=True)
class SubstrateRow:
    """One memory: ``scores`` by the names of KNOWN, ``figures`` by those of metrics.efficiency.FIGURES.

    ``paper_id`` is what the papers call it, ``family`` that of a substrate of "Harness the Memory"; both None
    where it is in neither. ``seconds_whole`` is false where some of its calls came from an earlier attempt's record,
    so that E14 and E15 are shorter than the work was.
    """

    memory: str
    paper_id: str | None
    family: str | None
    control: bool
    unranked: str | None
    asked: int
    errors: int
    scores: dict[str, Estimate]
    figures: dict[str, float | None]
    seconds_whole: bool


@dataclass(frozen=True, slots=True)
class SubstrateTable:
    """All memories that were asked one workload's questions under one setting; families in the paper's order."""

    workload: str
    setting: str
    model: str
    protocol: str
    conversations: int
    questions: int
    rows: tuple[SubstrateRow, ...]


def substrate_tables(played: Played, meta: Mapping[str, str], quality: Quality) -> tuple[SubstrateTable, ...]:
    """One table per workload, setting and protocol."""
    asked = played.only(played.units.filter(pl.col("questions") > 0))
    ids: dict[str, str] = json.loads(meta.get("paper_ids", "{}"))
    known = {
        (table.workload, table.setting, memory.memory): memory
        for table in quality.workloads
        for memory in table.memories
    }
    replayed = asked.units.join(asked.calls.filter(pl.col("replays") > 0), on="unit", how="semi")
    partly = set(replayed.select(KEYS).iter_rows())
    tables = []
    spent = efficiency_of(asked.units, asked.calls, asked.steps)
    for names, members in spent.group_by("workload", "setting", "protocol", maintain_order=True):
        workload, setting, protocol = map(str, names)
        units = asked.units.join(members, on=["workload", "setting", "protocol"], how="semi", maintain_order="left")
        rows = [
            _row(row, ids.get(row["memory"]), known[workload, setting, row["memory"]],
                 tuple(row[key] for key in KEYS) not in partly)
            for row in members.iter_rows(named=True)
        ]  # fmt: skip
        items = units.unique("item")
        model, questions = str(units["model"][0]), int(items["questions"].sum())
        ordered = tuple(sorted(rows, key=_place))
        tables.append(SubstrateTable(workload, setting, model, protocol, len(items), questions, ordered))
    return tuple(tables)


def _row(spent: Mapping[str, Any], paper_id: str | None, known: MemoryQuality, whole: bool) -> SubstrateRow:
    found = paper.substrates().get(paper_id or "")
    figures = {name: spent[name] for name in FIGURES}
    if paper_id in _NOTHING_RETRIEVED:
        figures["read_s"] = None
    return SubstrateRow(
        memory=known.memory,
        paper_id=paper_id,
        family=found.family if found else None,
        control=known.control,
        unranked=known.unranked,
        asked=known.whole.asked,
        errors=known.whole.errors,
        scores={name: known.whole.scores[name] for name in KNOWN if name in known.whole.scores},
        figures=figures,
        seconds_whole=whole,
    )


def _place(row: SubstrateRow) -> tuple[bool, bool, int, str]:
    order = list(paper.substrates())
    place = order.index(row.paper_id) if row.paper_id in order else len(order)
    return row.control, row.family is None, place, row.memory
