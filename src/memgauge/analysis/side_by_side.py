"""Our figures beside the paper's, table by table: ours, theirs, difference, inside or outside."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import TypeVar

from memgauge.analysis.cost_model import CostModel, Fit
from memgauge.analysis.diagnostics import Diagnostics
from memgauge.analysis.joint import JointRow
from memgauge.analysis.sustained import Sustained
from memgauge.published.total_recall import (
    HINDSIGHT_CAVEAT,
    REFERENCES,
    RIVAL_R2,
    Key,
    Published,
)

NEVER = "never"

# Decimals that the paper prints; 3 for every other figure.
_DIGITS = {"p": 2, "q": 2, "rival_r2": 2, "rival_turn_r2": 2, "gamma": 2, "zeta_answer": 2, "zeta_ingest": 2}

_Row = TypeVar("_Row", CostModel, Diagnostics, JointRow)

Bounds = tuple[float, float]


class Verdict(StrEnum):
    """``inside`` and ``outside`` are of the bounds that the row names."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    NO_BOUNDS = "no interval"
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One published figure and ours.

    ``setting`` is our setting (the paper's, where we have none). A break-even turn may be ``never``.
    ``difference`` is ours less theirs. ``bounds`` is what the verdict is about and ``bounds_of`` says what it
    is: our 95 % interval (theirs is inside or not), or the paper's interval or range (ours is). ``why`` gives
    the reason where there is no verdict, and what else must be known.
    """

    table: str
    memory: str
    setting: str
    cell: str
    figure: str
    ours: float | str | None
    theirs: float | str | None
    difference: float | None
    bounds: Bounds | None
    bounds_of: str
    verdict: Verdict
    why: str


def side_by_side(
    published: Published,
    models: Sequence[CostModel],
    diagnostics: Sequence[Diagnostics],
    joint: Sequence[JointRow],
    break_evens: Sequence[Sustained],
) -> tuple[SideBySide, ...]:
    """Every published figure of tables 1–4 and 6–8, in the paper's order."""
    names = {(entry.memory, entry.setting): Key(entry.memory, entry.model, entry.effort or "") for entry in models}
    return (
        *_table_1(published, models),
        *_table_2(published, joint),
        *_tables_3_and_4(published, joint),
        *_table_6(published, models),
        *_table_7(published, diagnostics),
        *_table_8(published, break_evens, names),
    )


def _table_1(published: Published, models: Sequence[CostModel]) -> Iterator[SideBySide]:
    for memory in dict.fromkeys(fit.key.memory for fit in published.fits):
        ranges = {figure: published.range_of(memory, figure) for figure in ("p", "q", "r2", "loocv_mape")}
        if memory in RIVAL_R2:
            ranges |= {"rival_r2": RIVAL_R2[memory], "rival_turn_r2": RIVAL_R2[memory]}
        mine = [entry for entry in models if entry.memory == memory]
        for figure, (low, high) in ranges.items():
            middle = (low + high) / 2
            place = _Place("table 1", memory, "all settings", "", figure)
            if not mine:
                yield place.not_run(middle)
            for entry in mine:
                here = place.at(entry.setting)
                ours = _figure(entry, figure)
                same_model = _plain(entry.model) in {_plain(fit.key.model) for fit in published.fits}
                if not (same_model or memory in REFERENCES):
                    yield here.not_comparable(ours, middle, f"run with {entry.model}, which the paper has not")
                    continue
                why = "" if same_model else "another model; this strategy's cost is set by the transcript"
                yield here.judged(ours, middle, (low, high), "the paper's range", ours, why)


def _table_2(published: Published, joint: Sequence[JointRow]) -> Iterator[SideBySide]:
    rows = {(row.memory, row.setting): row for row in joint if row.accuracy}
    for entry in published.accuracies:
        place = _Place("table 2", entry.key.memory, _setting(entry.key), "", "accuracy")
        found = _match(entry.key, list(rows.values()))
        if found is None:
            yield place.not_run(entry.accuracy)
            continue
        accuracy = found.accuracy
        assert accuracy is not None
        here = place.at(found.setting)
        if reason := _other_model(entry.key, found) or _other_questions(accuracy.metric, accuracy.workload):
            yield here.not_comparable(accuracy.value, entry.accuracy, reason)
        else:
            bounds = (entry.low, entry.high)
            yield here.judged(accuracy.value, entry.accuracy, bounds, "the paper's 95 % interval", accuracy.value)


def _tables_3_and_4(published: Published, joint: Sequence[JointRow]) -> Iterator[SideBySide]:
    for entry in published.costs:
        table = "table 3" if (entry.turns, entry.tokens) == (100, 100) else "table 4"
        cell = f"{entry.turns} × {entry.tokens}"
        here = [row for row in joint if (row.turns, row.tokens) == (entry.turns, entry.tokens)]
        found = _match(entry.key, here)
        for figure, theirs in (("cost_usd", entry.cost_usd), ("usd_per_correct", entry.usd_per_correct)):
            place = _Place(table, entry.key.memory, _setting(entry.key), cell, figure)
            if theirs is None:
                continue
            if found is None:
                yield place.not_run(theirs)
                continue
            own = place.at(found.setting)
            in_cost = figure == "cost_usd"
            ours = found.cost.usd if in_cost else found.usd_per_correct
            bounds = found.cost.interval if in_cost else found.usd_per_correct_interval
            reason = _other_model(entry.key, found)
            if not (reason or in_cost) and found.accuracy:
                reason = _other_questions(found.accuracy.metric, found.accuracy.workload)
            if reason:
                yield own.not_comparable(ours, theirs, reason)
            else:
                yield own.judged(ours, theirs, bounds, "our 95 % interval", theirs)


def _table_6(published: Published, models: Sequence[CostModel]) -> Iterator[SideBySide]:
    for entry in published.fits:
        found = _match(entry.key, models)
        for figure in ("p", "q", "r2", "loocv_mape", "max_ape"):
            theirs = float(getattr(entry, figure))
            place = _Place("table 6", entry.key.memory, _setting(entry.key), "", figure)
            if found is None:
                yield place.not_run(theirs)
                continue
            here, ours = place.at(found.setting), _figure(found, figure)
            if reason := _other_model(entry.key, found):
                yield here.not_comparable(ours, theirs, reason)
            elif figure in ("p", "q"):
                bounds = getattr(found.fit, figure).interval if found.fit else None
                yield here.judged(ours, theirs, bounds, "our 95 % interval", theirs)
            else:
                bounds = published.range_of(entry.key.memory, figure)
                yield here.judged(ours, theirs, bounds, "the paper's range", ours)


def _table_7(published: Published, diagnostics: Sequence[Diagnostics]) -> Iterator[SideBySide]:
    figures = ("gamma", "zeta_answer", "zeta_ingest")
    for entry in published.diagnostics:
        found = _match(entry.key, diagnostics)
        for figure in figures:
            theirs = getattr(entry, figure)
            place = _Place("table 7", entry.key.memory, _setting(entry.key), "", figure)
            if theirs is None:
                continue
            if found is None:
                yield place.not_run(theirs)
                continue
            here, ours = place.at(found.setting), getattr(found, figure)
            if reason := _other_model(entry.key, found):
                yield here.not_comparable(ours, theirs, reason)
                continue
            of_memory = [row for row in published.diagnostics if row.key.memory == entry.key.memory]
            known = [value for row in of_memory if (value := getattr(row, figure)) is not None]
            yield here.judged(ours, theirs, (min(known), max(known)), "the paper's range", ours)


def _table_8(
    published: Published, break_evens: Sequence[Sustained], names: dict[tuple[str, str], Key]
) -> Iterator[SideBySide]:
    for entry in published.break_evens:
        cell = f"{entry.turns} × {entry.tokens}"
        theirs: float | str = NEVER if entry.turn is None else entry.turn
        place = _Place("table 8", entry.key.memory, _setting(entry.key), cell, "break-even turn")
        here = [
            row
            for row in break_evens
            if row.memory == entry.key.memory and (row.turns, row.tokens) == (entry.turns, entry.tokens)
        ]
        if not here:
            yield place.not_run(theirs)
            continue
        same = [row for row in here if _same(entry.key, names[row.memory, row.setting])]
        row = next((row for row in same or here if row.cost != "tokens"), (same or here)[0])
        own = place.at(row.setting)
        ours: float | str = NEVER if row.turn is None else row.turn
        if not same:
            model = names[row.memory, row.setting].model
            yield own.not_comparable(ours, theirs, f"run with {model}, the paper with {entry.key.model}")
            continue
        bounds = None
        if row.repeats:
            ends = (row.repeats.low, row.repeats.high)
            bounds = (inf if ends[0] is None else float(ends[0]), inf if ends[1] is None else float(ends[1]))
        in_cost = f"compared in {row.cost}"
        yield own.judged(ours, theirs, bounds, "our 95 % interval over repeats", theirs, in_cost)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a figure stands in the paper; makes the row once the figures are known."""

    table: str
    memory: str
    setting: str
    cell: str
    figure: str

    def at(self, setting: str) -> "_Place":
        return _Place(self.table, self.memory, setting, self.cell, self.figure)

    def not_run(self, theirs: float | str) -> SideBySide:
        return self._row(None, theirs, None, "", Verdict.NOT_RUN, "not in this ledger")

    def not_comparable(self, ours: float | str | None, theirs: float | str, why: str) -> SideBySide:
        return self._row(ours, theirs, None, "", Verdict.NOT_COMPARABLE, why)

    def judged(
        self,
        ours: float | str | None,
        theirs: float | str,
        bounds: Bounds | None,
        bounds_of: str,
        within: float | str | None,
        why: str = "",
    ) -> SideBySide:
        """Whether ``within``, theirs or ours, lies between the bounds, at the digits that the paper prints."""
        if self.memory == "hindsight":
            why = f"{why}; {HINDSIGHT_CAVEAT}" if why else HINDSIGHT_CAVEAT
        if ours is None:
            return self._row(None, theirs, None, "", Verdict.NOT_COMPARABLE, f"we have no figure{why and '; '}{why}")
        if bounds is None or within is None:
            return self._row(ours, theirs, None, "", Verdict.NO_BOUNDS, why)
        value = inf if within == NEVER else float(within)
        least, most = (round(bound, _DIGITS.get(self.figure, 3)) for bound in bounds)
        inside = least <= round(value, _DIGITS.get(self.figure, 3)) <= most
        verdict = Verdict.INSIDE if inside else Verdict.OUTSIDE
        return self._row(ours, theirs, bounds, bounds_of, verdict, why)

    def _row(
        self,
        ours: float | str | None,
        theirs: float | str,
        bounds: Bounds | None,
        bounds_of: str,
        verdict: Verdict,
        why: str,
    ) -> SideBySide:
        both = isinstance(ours, (int, float)) and isinstance(theirs, (int, float))
        difference = float(ours) - float(theirs) if both and ours is not None else None
        return SideBySide(
            self.table, self.memory, self.setting, self.cell, self.figure, ours, theirs, difference,
            bounds, bounds_of, verdict, why,
        )  # fmt: skip


def _figure(entry: CostModel, figure: str) -> float | None:
    if figure in ("loocv_mape", "max_ape"):
        return entry.loocv_mape if figure == "loocv_mape" else entry.max_ape
    fit: Fit | None = entry.fit
    if fit is None:
        return None
    return {"p": fit.p.value, "q": fit.q.value, "r2": fit.r2, "rival_r2": fit.rival_r2,
            "rival_turn_r2": fit.rival_turn_r2}[figure]  # fmt: skip


def _match(key: Key, rows: Sequence[_Row]) -> _Row | None:
    """Our row of the same memory, model and effort, else any row of that memory."""
    mine = [row for row in rows if row.memory == key.memory]
    same = (row for row in mine if _same(key, Key(row.memory, row.model, row.effort or "")))
    return next(same, mine[0] if mine else None)


def _same(key: Key, ours: Key) -> bool:
    return _plain(key.model) == _plain(ours.model) and key.effort == ours.effort


def _other_model(key: Key, row: CostModel | Diagnostics | JointRow) -> str:
    if _same(key, Key(row.memory, row.model, row.effort or "")):
        return ""
    ours = f"{row.model} {row.effort or ''}".strip()
    return f"run with {ours}, the paper with {_setting(key)}"


def _other_questions(metric: str, workload: str) -> str:
    if metric != "judge":
        return f"scored by {metric}, the paper by a judge"
    return "" if workload == "locomo" else f"asked on {workload}, the paper on LoCoMo"


def _setting(key: Key) -> str:
    return f"{key.model} {key.effort}"


def _plain(model: str) -> str:
    return model.rsplit("/", 1)[-1].lower().removesuffix("-it")
