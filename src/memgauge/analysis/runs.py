"""The served runs of a ledger, and their cost turn by turn: what every figure of paper 1 is computed from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.turn_costs import SERVING, billed_input, series_by_turn

Series = NDArray[np.float64]  # one figure per turn, from turn 1

# What the analysis needs of the calls.
CALL_COLUMNS = (
    "unit", "turn", "question", "stage", "kind", "model", "provider", "outcome", "started_at", "input_tokens",
    "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "embedding_tokens",
    "counted_tokens", "prefix_tokens", "prefix_turns_ago",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that are repeats of one another: a cell of the cost grid, or one conversation.

    ``turns`` is N. ``tokens`` is the cell's L and ``item`` empty; of a conversation that was not made for a
    cell, ``item`` is its id and ``tokens`` None.
    """

    workload: str
    turns: int
    tokens: int | None
    item: str = ""

    @property
    def label(self) -> str:
        """``400 × 200`` for a cell, else the conversation's id."""
        return self.item if self.tokens is None else f"{self.turns} × {self.tokens}"


@dataclass(frozen=True, slots=True)
class Run:
    """One served conversation. ``measured`` is the last turn that was answered: below ``turns`` if cut
    off."""

    unit: int
    memory: str
    setting: str
    model: str
    effort: str | None
    control: bool
    group: Group
    message_tokens: float
    turns: int
    measured: int


@dataclass(frozen=True, slots=True)
class Excluded:
    """Units that are in no figure, and why. ``error`` is what the first of them reported."""

    memory: str
    setting: str
    where: str
    status: str
    units: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Served:
    """The runs that count. ``cut_off`` are runs of full history that failed on the way, measured until then:
    they are in no fit and no mean cost, only in break-even, up to the turn that they reached.
    """

    runs: tuple[Run, ...]
    cut_off: tuple[Run, ...]
    excluded: tuple[Excluded, ...]


def served(units: pl.DataFrame, calls: pl.DataFrame, *, measured_size: bool = False) -> Served:
    """The serve units of a ledger; failed and unfinished ones are excluded and counted.

    L is the cell's target, as in the paper, or with ``measured_size`` the conversation's measured mean, which
    is always taken where there is no cell.
    """
    answered = (
        calls.filter((pl.col("stage") == "answer") & (pl.col("outcome") == "ok") & pl.col("question").is_null())
        .group_by("unit")
        .agg(pl.col("turn").max())
    )
    reached = dict(answered.iter_rows())
    runs: list[Run] = []
    cut_off: list[Run] = []
    left_out: list[dict[str, Any]] = []
    for unit in units.filter(pl.col("protocol") == "serve").iter_rows(named=True):
        if unit["status"] == "done":
            runs.append(_run(unit, unit["turns"], measured_size))
            continue
        left_out.append(unit)
        last = reached.get(unit["unit"], 0)
        if unit["memory"] == REFERENCE and unit["status"] == "failed" and last:
            cut_off.append(_run(unit, last, measured_size))
    return Served(tuple(runs), tuple(cut_off), _excluded(left_out))


def serving_calls(calls: pl.DataFrame, runs: Iterable[Run]) -> pl.DataFrame:
    """The calls that were made while the dialogues of ``runs`` were served; what a judge or a later question
    costs is not among them.
    """
    wanted = pl.DataFrame({"unit": [run.unit for run in runs]}, schema={"unit": pl.Int64})
    return calls.filter(pl.col("stage").is_in(SERVING) & pl.col("question").is_null()).join(
        wanted, on="unit", how="semi"
    )


def input_series(serving: pl.DataFrame, runs: Sequence[Run]) -> dict[int, Series]:
    """C(1) … C(n) of every run: input tokens over write, manage, read and answer; cached input is input."""
    return by_turn(serving.select("unit", "turn", value=billed_input()), runs)


def by_turn(values: pl.DataFrame, runs: Sequence[Run]) -> dict[int, Series]:
    """Sums of ``value`` (columns unit, turn, value) per turn of each run: 0 without a call, NaN where unknown."""
    return series_by_turn(values, {run.unit: run.measured for run in runs})


def matrix(series: Mapping[int, Series], runs: Sequence[Run], turns: int) -> Series:
    """The runs' series one below another, shape (runs, turns); NaN where a run was not measured."""
    table = np.full((len(runs), turns), np.nan)
    for row, run in enumerate(runs):
        known = series[run.unit][:turns]
        table[row, : len(known)] = known
    return table


def _run(unit: Mapping[str, Any], measured: int, measured_size: bool) -> Run:
    group = _group(unit)
    size = float(unit["mean_turn_tokens"] if measured_size or group.tokens is None else group.tokens)
    return Run(
        unit["unit"], unit["memory"], unit["setting"], unit["model"], unit["effort"], bool(unit["control"]),
        group, size, unit["turns"], measured,
    )  # fmt: skip


def _group(unit: Mapping[str, Any]) -> Group:
    if unit["cell_turns"] is None or unit["cell_tokens"] is None:
        return Group(unit["workload"], unit["turns"], None, unit["item"])
    return Group(unit["workload"], unit["cell_turns"], unit["cell_tokens"])


def _excluded(units: Iterable[Mapping[str, Any]]) -> tuple[Excluded, ...]:
    counts: Counter[tuple[str, str, str, str]] = Counter()
    errors: dict[tuple[str, str, str, str], str | None] = {}
    for unit in units:
        key = (unit["memory"], unit["setting"], _group(unit).label, unit["status"])
        counts[key] += 1
        errors.setdefault(key, unit["error"])
    return tuple(Excluded(*key, count, errors[key]) for key, count in counts.items())
