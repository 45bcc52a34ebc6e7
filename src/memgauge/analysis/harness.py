"""Our figures beside those of "Harness the Memory", and the tables that they come from.

A published figure is judged only where ours means the same: the same backbone and, for the judge's accuracy, the same
judge; for a total, the whole of a workload whose size the paper states. What a memory's mechanism sets whatever the
backbone (a flat memory sends nothing to write) is judged on any. Seconds and bytes are shown and never judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import Played
from memgauge.analysis.quality import Quality, quality_of
from memgauge.analysis.side_by_side import Bounds, SideBySide, Verdict
from memgauge.analysis.substrates import SubstrateRow, SubstrateTable, substrate_tables
from memgauge.ledger.frames import Frames
from memgauge.metrics.efficiency import CALL_COLUMNS, FIGURES
from memgauge.metrics.score import JUDGE, scores_frame_of
from memgauge.published.harness_the_memory import JUDGE_MODEL, WHOLE, HarnessFigure, figures, substrates

_OURS = "our 95 % interval"
_THEIRS = "what the paper states"
_NOTES = {
    "evidence_recall": "over all that was recalled; the paper does not state its k",
    "wall_s_per_question": "E15 is our reading: all seconds over all questions",
    "total_tokens": "E12 is our reading: every stage, the answers included",
    "auxiliary_calls": "E13 is our reading: the answers left out",
}
# The paper books the building of M6's tree, which the first read sets off, as writing; we as managing (E10, E11).
_FILED = {("M6", "write_tokens"): "manage_tokens", ("M6", "write_calls"): "manage_calls"}


@dataclass(frozen=True, slots=True)
class Harness:
    """The paper's tables from this ledger, and every published figure of their workloads beside ours."""

    tables: tuple[SubstrateTable, ...]
    side_by_side: tuple[SideBySide, ...]


def harness(frames: Frames) -> Harness:
    """Computes both from a ledger, of which it reads only the units that were asked something."""
    asked = "unit IN (SELECT unit FROM units WHERE questions > 0)"
    units = frames.units().filter(pl.col("questions") > 0)
    columns = (*CALL_COLUMNS, "model")
    calls = frames.table("calls", columns, f"WHERE claimed = 1 AND {asked} ORDER BY unit, seq, call")
    steps = frames.table("steps", None, f"WHERE {asked} ORDER BY unit, step")
    answers, verdicts = frames.answers(), frames.table("verdicts")
    played = Played(units, calls, steps, answers, scores_frame_of(answers, units, verdicts))
    return harness_of(played, frames.meta(), quality_of(units, answers, verdicts, played.scores))


def harness_of(played: Played, meta: Mapping[str, str], quality: Quality) -> Harness:
    """The same, of frames read already."""
    tables = substrate_tables(played, meta, quality)
    calls = played.calls
    judges = tuple(calls.filter(calls["stage"] == "judge")["model"].unique(maintain_order=True))
    tasks = {
        (table.workload, table.setting, memory.memory, category): scored.scores
        for table in quality.workloads
        for memory in table.memories
        for category, scored in memory.categories.items()
    }
    known = {table.workload for table in tables}
    rows = [
        row
        for figure in figures()
        if figure.workload in known
        for row in _beside(figure, [table for table in tables if table.workload == figure.workload], tasks, judges)
    ]
    return Harness(tables, tuple(rows))


Tasks = Mapping[tuple[str, str, str, str], Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class _Ours:
    """What we have for a published figure."""

    table: SubstrateTable
    memory: str
    value: float | None
    interval: Bounds | None


def _beside(
    theirs: HarnessFigure, tables: Sequence[SubstrateTable], tasks: Tasks, judges: Sequence[str]
) -> Iterator[SideBySide]:
    found = [ours for table in tables for ours in _ours(theirs, table, tasks)]
    same = [ours for ours in found if theirs.model in (None, _plain(ours.table.model))]
    if not found:
        yield _row(theirs, None, None, "", Verdict.NOT_RUN, "not in this ledger")
    for ours in same or found[:1]:
        reason = _other(theirs, ours, judges)
        filed = "ours is what managing took: the paper books the tree as written"
        note = filed if (theirs.substrate, theirs.figure) in _FILED else _NOTES.get(theirs.figure, "")
        if reason:
            yield _row(theirs, ours, None, "", Verdict.NOT_COMPARABLE, reason)
        elif ours.value is None:
            yield _row(theirs, ours, None, "", Verdict.NOT_COMPARABLE, "we have no figure")
        elif theirs.model is None:
            yield _judged(theirs, ours, ours.value, (theirs.low, theirs.high), _THEIRS, note)
        elif ours.interval is None:
            yield _row(theirs, ours, None, "", Verdict.NO_BOUNDS, note)
        else:
            yield _judged(theirs, ours, theirs.low, ours.interval, _OURS, note)


def _ours(theirs: HarnessFigure, table: SubstrateTable, tasks: Tasks) -> Iterator[_Ours]:
    """Ours in one table: of every memory that is the substrate, or of every pair where two are compared."""
    mine = [row for row in table.rows if row.paper_id == theirs.substrate]
    if theirs.against is None:
        for row in mine:
            value, interval = _found(theirs, table, row, tasks)
            yield _Ours(table, row.memory, value, interval)
        return
    for row in mine:
        for other in table.rows:
            if other.paper_id == theirs.against:
                ends = [_found(theirs, table, each, tasks)[0] for each in (row, other)]
                value = None if None in ends else ends[0] - ends[1]  # type: ignore[operator]
                yield _Ours(table, f"{row.memory} − {other.memory}", value, None)


def _found(
    theirs: HarnessFigure, table: SubstrateTable, row: SubstrateRow, tasks: Tasks
) -> tuple[float | None, Bounds | None]:
    if theirs.figure in FIGURES:
        return row.figures[_FILED.get((theirs.substrate, theirs.figure), theirs.figure)], None
    scores: Mapping[str, Estimate] = row.scores
    if theirs.category:
        scores = tasks.get((table.workload, table.setting, row.memory, theirs.category), {})
    estimate = scores.get(theirs.figure)
    return (estimate.value, (estimate.low, estimate.high)) if estimate else (None, None)


def _other(theirs: HarnessFigure, ours: _Ours, judges: Sequence[str]) -> str:
    """Why the two figures do not mean the same; empty where they do."""
    unit = FIGURES[theirs.figure].unit if theirs.figure in FIGURES else ""
    if theirs.model not in (None, _plain(ours.table.model)):
        return f"run with {ours.table.model}, the paper with {theirs.model}"
    if theirs.figure == JUDGE and JUDGE_MODEL not in {_plain(name) for name in judges}:
        told = f"judged by {', '.join(judges)}" if judges else "not judged"
        return f"{told}, the paper by {JUDGE_MODEL}"
    if unit == "seconds":
        return "seconds of another machine"
    if unit in ("tokens", "calls") and theirs.high:
        whole = WHOLE.get(theirs.workload)
        played = (ours.table.conversations, ours.table.questions)
        if whole is None:
            return "a total, and the paper does not say over how many questions"
        if whole != played:
            return f"a total over {_size(*played)}, the paper's over {_size(*whole)}"
    return ""


def _judged(theirs: HarnessFigure, ours: _Ours, within: float, bounds: Bounds, bounds_of: str, note: str) -> SideBySide:
    digits = 2 if theirs.figure == "compression" else 3  # as the paper prints them
    inside = round(bounds[0], digits) <= round(within, digits) <= round(bounds[1], digits)
    return _row(theirs, ours, bounds, bounds_of, Verdict.INSIDE if inside else Verdict.OUTSIDE, note)


def _row(
    theirs: HarnessFigure, ours: _Ours | None, bounds: Bounds | None, bounds_of: str, verdict: Verdict, why: str
) -> SideBySide:
    value = ours.value if ours else None
    middle = (theirs.low + theirs.high) / 2
    names = [name for name in (theirs.substrate, theirs.against) if name]
    titled = " − ".join(f"{name} {known.title}" if (known := substrates().get(name)) else name for name in names)
    return SideBySide(
        table=f"{theirs.workload} {theirs.category}" if theirs.category else theirs.workload,
        memory=f"{' − '.join(names)} {ours.memory}" if ours else titled,
        setting=ours.table.setting if ours else theirs.model or "every backbone",
        cell="",
        figure=theirs.figure,
        ours=value,
        theirs=middle,
        difference=None if value is None else value - middle,
        bounds=bounds,
        bounds_of=bounds_of,
        verdict=verdict,
        why=why,
    )


def _size(conversations: int, questions: int) -> str:
    return f"{conversations:,} conversation{'s' * (conversations != 1)} and {questions:,} questions"


def _plain(model: str) -> str:
    return model.rsplit("/", 1)[-1].lower().removesuffix("-it").removesuffix("-a4b")
