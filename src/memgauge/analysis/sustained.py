"""When a memory pays: break-even per setting, cell and memory, in tokens and dollars, with an interval.

The turn from which on the cumulative cost, averaged over repeats, stays below full history's (METRICS; paper
1 table 8). Measured costs only; where full history was cut off, a second figure extends it by the fitted
model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.analysis.bootstrap import RESAMPLES, draws
from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.cost_model import Fit
from memgauge.analysis.moments import Array
from memgauge.analysis.runs import Group, Run, Series, matrix

# Turns at the end of what was measured whose dollars per token price the turns that the model adds.
_TAIL = 20

_BLOCK = 64  # resamples at a time, so that a conversation of thousands of turns stays small in memory


@dataclass(frozen=True, slots=True)
class Costs:
    """Cost per turn of runs in one unit: ``tokens``, or dollars under a way of billing named here.

    A run that is not in ``series`` cannot be billed that way and is not compared.
    """

    name: str
    series: Mapping[int, Series]


@dataclass(frozen=True, slots=True)
class Extended:
    """Break-even with full history extended by the fitted model beyond ``measured_turns``: not measured."""

    turn: int | None
    ratio: float | None
    last_turn: int
    measured_turns: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """What resampling the repeats makes of the break-even turn.

    ``low`` and ``high`` bound the middle 95 %, None standing for *never*; ``never`` is the share of resamples
    in which it is never reached.
    """

    low: int | None
    high: int | None
    never: float


@dataclass(frozen=True, slots=True)
class Sustained:
    """Break-even of one memory in one cell (or conversation) under one setting, in one unit of cost.

    ``turn`` is 0 where the memory is cheaper from the start and None where it is still costlier at
    ``last_turn`` (*never*); ``ratio`` is its cumulative cost over full history's there. ``repeats`` is None
    with a single run on both sides, ``extended`` where full history was measured to the end.
    """

    memory: str
    setting: str
    cell: str
    turns: int
    tokens: int | None
    cost: str
    runs: int
    reference_runs: int
    turn: int | None
    ratio: float | None
    last_turn: int
    repeats: Repeats | None
    extended: Extended | None


@dataclass(frozen=True, slots=True)
class Missing:
    """A comparison that could not be made, and why."""

    memory: str
    setting: str
    cell: str
    cost: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Every break-even that the ledger allows, and what it does not allow."""

    rows: tuple[Sustained, ...]
    missing: tuple[Missing, ...]


def compare(
    runs: Sequence[Run],
    cut_off: Sequence[Run],
    costs: Sequence[Costs],
    fits: Mapping[str, Fit],
    tokens: Mapping[int, Series],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparisons:
    """Compares every memory with full history, cell by cell.

    ``cut_off`` are full history's failed runs, which count where none was finished; ``fits`` its cost models
    by setting, with which it is extended; ``tokens`` the input tokens per turn, from which extended dollars
    are scaled. Controls are compared as well.
    """
    rows: list[Sustained] = []
    missing: list[Missing] = []
    for (setting, group), by_memory in comparable(runs, cut_off).items():
        reference = by_memory.get(REFERENCE)
        for memory, own in by_memory.items():
            if memory == REFERENCE:
                continue
            for cost in costs:
                if own[0].unit not in cost.series:
                    continue
                where = (memory, setting, group.label, cost.name)
                if reference is None:
                    missing.append(Missing(*where, f"no finished {REFERENCE} here; add it to the memories"))
                    continue
                if not all(run.unit in cost.series for run in reference):
                    missing.append(Missing(*where, f"{REFERENCE} cannot be billed in this way"))
                    continue
                pair = _Pair(own, reference, cost, tokens, group.turns)
                if not pair.last:
                    missing.append(Missing(*where, "usage or price unknown from the first turn"))
                    continue
                rows.append(pair.row(group, fits.get(setting), resamples, seed))
    return Comparisons(tuple(rows), tuple(missing))


def comparable(runs: Sequence[Run], cut_off: Sequence[Run]) -> dict[tuple[str, Group], dict[str, list[Run]]]:
    """Repeats by (setting, cell) and memory; full history's cut off runs where it finished none."""
    groups: dict[tuple[str, Group], dict[str, list[Run]]] = {}
    for run in runs:
        groups.setdefault((run.setting, run.group), {}).setdefault(run.memory, []).append(run)
    whole = {key for key, by_memory in groups.items() if REFERENCE in by_memory}
    for run in cut_off:
        key = (run.setting, run.group)
        if key not in whole:
            groups.setdefault(key, {}).setdefault(REFERENCE, []).append(run)
    return groups


def extended(costs: Array, tokens: Array, reached: int, message_tokens: float, fit: Fit) -> Array:
    """Mean ``costs`` per turn that go on after turn ``reached`` by the fitted model of tokens.

    Where costs are dollars, the model's tokens are priced as the last measured ones were (``tokens`` per turn).
    """
    beyond = np.arange(reached + 1, len(costs) + 1, dtype=np.float64)
    tail = slice(max(0, reached - _TAIL), reached)
    read = float(tokens[tail].sum())
    longer = costs.copy()
    longer[reached:] = fit.predict(message_tokens, beyond) * (float(costs[tail].sum()) / read if read else 0.0)
    return longer


def mean_costs(costs: Array) -> Array:
    """Mean cost of each turn over the runs (rows) that reach it; NaN from where none does."""
    return np.asarray(_weighted(np.ones((1, len(costs))), costs)[0])


def known_turns(costs: Array) -> int:
    """The last turn up to which ``costs`` are known without a gap."""
    unknown = np.isnan(costs)
    return int(unknown.argmax()) if unknown.any() else len(costs)


def sustained_turn(own: Array, full: Array) -> int | None:
    """The break-even turn of two costs per turn of the same length: 0 from the start, None for never."""
    return _turn(_sustained(own[None], full[None], len(own))[0])


class _Pair:
    """A memory's repeats and full history's in one cell, as matrices (runs, turns)."""

    def __init__(
        self,
        own: Sequence[Run],
        reference: Sequence[Run],
        cost: Costs,
        tokens: Mapping[int, Series],
        turns: int,
    ) -> None:
        self.own_runs, self.reference_runs, self.cost = own, reference, cost
        self.own = matrix(cost.series, own, turns)
        self.reference = matrix(cost.series, reference, turns)
        self.reference_tokens = matrix(tokens, reference, turns)
        self.reached = max(run.measured for run in reference)
        own_costs, reference_costs = self._mean_costs()
        self.last = known_turns(own_costs + reference_costs)

    def row(self, group: Group, fit: Fit | None, resamples: int, seed: int) -> Sustained:
        own, full = self._mean_costs()
        point = _sustained(own[None], full[None], self.last)
        head = self.own_runs[0]
        return Sustained(
            head.memory, head.setting, group.label, group.turns, group.tokens, self.cost.name,
            runs=len(self.own_runs),
            reference_runs=len(self.reference_runs),
            turn=_turn(point[0]),
            ratio=_ratio(own[: self.last], full[: self.last]),
            last_turn=self.last,
            repeats=self._repeats(resamples, seed),
            extended=self._extended(own, full, fit),
        )  # fmt: skip

    def _mean_costs(self) -> tuple[Array, Array]:
        return mean_costs(self.own), mean_costs(self.reference)

    def _repeats(self, resamples: int, seed: int) -> Repeats | None:
        if len(self.own_runs) == len(self.reference_runs) == 1:
            return None
        mine = draws(len(self.own_runs), resamples, seed)
        theirs = draws(len(self.reference_runs), resamples, seed + 1)
        turns = np.concatenate(
            [
                _sustained(
                    _weighted(mine[start : start + _BLOCK], self.own[:, : self.last]),
                    _weighted(theirs[start : start + _BLOCK], self.reference[:, : self.last]),
                    self.last,
                )
                for start in range(0, resamples, _BLOCK)
            ]
        )
        low, high = np.quantile(turns, (0.025, 0.975), method="inverted_cdf")
        return Repeats(_turn(low), _turn(high), float(np.isinf(turns).mean()))

    def _extended(self, own: Array, full: Array, fit: Fit | None) -> Extended | None:
        if fit is None or self.reached >= len(full) or self.last < self.reached:
            return None
        tokens = mean_costs(self.reference_tokens)
        longer = extended(full, tokens, self.reached, self.reference_runs[0].message_tokens, fit)
        last = known_turns(own + longer)
        turn = _turn(_sustained(own[None], longer[None], last)[0])
        return Extended(turn, _ratio(own[:last], longer[:last]), last, self.reached)


def _weighted(weights: Array, costs: Array) -> Array:
    reached = np.isfinite(costs)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ np.where(reached, costs, 0.0)) / (weights @ reached))


def _sustained(own: Array, full: Array, last: int) -> Array:
    """The break-even turn of each row of mean costs per turn; infinite where it is never reached.

    A row that knows its costs for fewer turns than ``last`` is judged at the last turn that it knows.
    """
    mine, theirs = np.cumsum(own[:, :last], axis=1), np.cumsum(full[:, :last], axis=1)
    known = np.isfinite(mine) & np.isfinite(theirs)
    dearer = known & ~(mine < theirs)
    ends = known.sum(axis=1)
    never = (ends == 0) | dearer[np.arange(len(dearer)), ends - 1]
    last_dearer = last - np.argmax(dearer[:, ::-1], axis=1)
    turns = np.where(dearer.any(axis=1), last_dearer + 1.0, 0.0)
    return np.asarray(np.where(never, np.inf, turns))


def _turn(value: float) -> int | None:
    return None if np.isinf(value) else int(value)


def _ratio(own: Array, full: Array) -> float | None:
    whole = float(full.sum())
    return float(own.sum()) / whole if whole > 0 else None
