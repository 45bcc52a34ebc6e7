"""What was served, cell by cell: cumulative cost turn by turn (paper 1, figure 2), and cost by stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.cost_model import Fit
from memgauge.analysis.memory_rows import STAGES
from memgauge.analysis.runs import Group, Run, Series, matrix
from memgauge.analysis.sustained import Costs, comparable, extended, known_turns, mean_costs
from memgauge.analysis.turn_costs import billed_input


@dataclass(frozen=True, slots=True)
class Curve:
    """Mean cumulative cost of one memory in one cell under one setting, in one unit of cost.

    ``measured`` holds it after turn 1, 2, …, up to the last turn that is known; ``fitted`` goes on from there by
    the fitted model, for full history where it was cut off.
    """

    memory: str
    setting: str
    cell: str
    turns: int
    tokens: int | None
    control: bool
    cost: str
    runs: int
    measured: tuple[float, ...]
    fitted: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StageCosts:
    """Mean model input tokens per turn of one memory in one cell under one setting, by stage.

    Not ``complete``: a call did not report its tokens, which the means then lack.
    """

    memory: str
    setting: str
    cell: str
    control: bool
    input_by_stage: dict[str, float]
    complete: bool


def curves(
    runs: Sequence[Run],
    cut_off: Sequence[Run],
    costs: Sequence[Costs],
    fits: Mapping[str, Fit],
    tokens: Mapping[int, Series],
) -> tuple[Curve, ...]:
    """One per setting, cell, memory and unit of cost; arguments as of sustained.compare."""
    return tuple(
        _curve(mine, group, cost, fits.get(setting) if memory == REFERENCE else None, tokens)
        for (setting, group), by_memory in comparable(runs, cut_off).items()
        for memory, mine in by_memory.items()
        for cost in costs
        if all(run.unit in cost.series for run in mine)
    )


def stage_costs(runs: Sequence[Run], serving: pl.DataFrame) -> tuple[StageCosts, ...]:
    """One per setting, cell and memory; ``serving`` are the calls of ``runs`` (memgauge.analysis.runs)."""
    sums = serving.group_by("unit", "stage").agg(
        tokens=billed_input().sum(), unknown=billed_input().is_null().sum()
    )  # fmt: skip
    by_unit: dict[int, dict[str, tuple[int, int]]] = {}
    for unit, stage, total, unknown in sums.iter_rows():
        by_unit.setdefault(unit, {})[stage] = (total, unknown)
    return tuple(
        _stages(memory, setting, group, mine, by_unit)
        for (setting, group), by_memory in comparable(runs, ()).items()
        for memory, mine in by_memory.items()
    )


def _curve(runs: Sequence[Run], group: Group, cost: Costs, fit: Fit | None, tokens: Mapping[int, Series]) -> Curve:
    head = runs[0]
    means = mean_costs(matrix(cost.series, runs, group.turns))
    reached = max(run.measured for run in runs)
    last = min(known_turns(means), reached)
    longer = means
    if fit is not None and last == reached < group.turns:
        longer = extended(means, mean_costs(matrix(tokens, runs, group.turns)), reached, head.message_tokens, fit)
    end = known_turns(longer)
    sums = np.cumsum(longer[:end])
    return Curve(
        head.memory, head.setting, group.label, group.turns, group.tokens, head.control, cost.name, len(runs),
        tuple(sums[:last].tolist()), tuple(sums[last:].tolist()),
    )  # fmt: skip


def _stages(
    memory: str, setting: str, group: Group, runs: Sequence[Run], by_unit: Mapping[int, Mapping[str, tuple[int, int]]]
) -> StageCosts:
    turns = sum(run.turns for run in runs) or 1
    tokens: dict[str, float] = {}
    complete = True
    for run in runs:
        for stage, (total, unknown) in by_unit.get(run.unit, {}).items():
            tokens[stage] = tokens.get(stage, 0.0) + total / turns
            complete &= not unknown
    by_stage = {stage: tokens[stage] for stage in STAGES if stage in tokens}
    return StageCosts(memory, setting, group.label, runs[0].control, by_stage, complete)
