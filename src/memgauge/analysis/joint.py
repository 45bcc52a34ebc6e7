"""The joint matrix: accuracy, cost per conversation and cost per correct answer, and the Pareto front.

Paper 1 §3.5. Accuracy comes from the questions of the recall runs, cost from the served runs of a reference
cell.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from memgauge.analysis.bootstrap import percentile_interval
from memgauge.analysis.intervals import wilson
from memgauge.analysis.moments import Array
from memgauge.analysis.robust import t_quantile
from memgauge.analysis.runs import Group, Run
from memgauge.metrics.score import METRICS

_DRAWS = 4000

# In order of trust: what a judge said, then whether the gold answer stands in the answer.
_PREFERRED = ("judge", "sub_em", "exact_match")


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of right answers with 95 % intervals.

    ``wilson`` treats questions as independent, as published; ``interval`` draws whole conversations (the
    questions, where there is one conversation only). ``errors`` are questions without a verdict: neither
    right nor wrong, and not in ``questions``.
    """

    metric: str
    workload: str
    value: float
    wilson: tuple[float, float] | None
    interval: tuple[float, float]
    questions: int
    conversations: int
    errors: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Ĉ: mean US dollars per conversation with a 95 % t interval over runs (None with a single one).

    ``usd`` is None where a call has no known price; ``complete`` says whether all have. ``input_tokens`` is
    the mean model input per conversation, which needs no price.
    """

    usd: float | None
    interval: tuple[float, float] | None
    complete: bool
    runs: int
    input_tokens: float | None


@dataclass(frozen=True, slots=True)
class JointRow:
    """One memory under one setting at one reference cell.

    ``usd_per_correct`` is Ĉ/Acc, its interval carries the uncertainty of both. ``on_front``: no other row of
    the cell is at least as cheap and as accurate, and better in one of the two; where not every row has a
    price, cheap is in input tokens. None where a figure is missing, and for controls, which compete with nobody.
    """

    memory: str
    setting: str
    model: str
    effort: str | None
    cell: str
    turns: int
    tokens: int | None
    accuracy: Accuracy | None
    cost: Cost
    usd_per_correct: float | None
    usd_per_correct_interval: tuple[float, float] | None
    control: bool
    on_front: bool | None


def joint_matrix(
    runs: Sequence[Run],
    cells: Iterable[Group],
    usd: pl.DataFrame,
    tokens: pl.DataFrame,
    accuracies: dict[tuple[str, str], tuple["Answered", ...]],
    *,
    seed: int = 0,
) -> tuple[JointRow, ...]:
    """One row per reference cell, setting, memory and workload of questions.

    ``usd`` and ``tokens`` hold a ``value`` per ``unit`` (null: unknown).
    """
    dollars, inputs = dict(usd.iter_rows()), dict(tokens.iter_rows())
    rows: list[JointRow] = []
    for cell in cells:
        here: dict[tuple[str, str], list[Run]] = {}
        for run in runs:
            if run.group == cell:
                here.setdefault((run.memory, run.setting), []).append(run)
        found = [
            _row(mine, cell, dollars, inputs, answered, seed)
            for key, mine in here.items()
            for answered in accuracies.get(key) or (None,)
        ]
        rows.extend(_front(found))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Answered:
    """The verdicts on one memory's answers: right answers and questions of each conversation."""

    metric: str
    workload: str
    verdicts: tuple[Array, ...]
    errors: int

    def accuracy(self, seed: int) -> Accuracy:
        """The share of right answers and its intervals."""
        every = np.concatenate(self.verdicts)
        binary = self.metric not in METRICS or METRICS[self.metric].binary
        return Accuracy(
            self.metric, self.workload, float(every.mean()),
            wilson(round(float(every.sum())), len(every)) if binary else None,
            percentile_interval(self.draws(seed)) or (0.0, 1.0),
            len(every), len(self.verdicts), self.errors,
        )  # fmt: skip

    def draws(self, seed: int) -> Array:
        """Accuracies that whole conversations, drawn anew, would have given."""
        parts = self.verdicts if len(self.verdicts) > 1 else tuple(self.verdicts[0][:, None])
        right, size = np.array([part.sum() for part in parts]), np.array([len(part) for part in parts])
        drawn = np.random.default_rng(seed).multinomial(len(parts), np.full(len(parts), 1 / len(parts)), _DRAWS)
        return np.asarray(drawn @ right / (drawn @ size))


def answered(
    units: pl.DataFrame, scores: pl.DataFrame, metric: str | None = None
) -> dict[tuple[str, str], tuple[Answered, ...]]:
    """Verdicts by (memory, setting), one per workload, from the finished recall units.

    ``metric`` is the one asked for, else the first of judge, SubEM and exact match that the ledger has.
    """
    present = set(scores["metric"].unique())
    chosen = metric or next((name for name in _PREFERRED if name in present), None)
    by_pair: dict[tuple[str, str], tuple[Answered, ...]] = {}
    if chosen is None:
        return by_pair
    done = units.filter((pl.col("protocol") == "recall") & (pl.col("status") == "done"))
    verdicts = scores.filter(pl.col("metric") == chosen).join(done, on="unit", maintain_order="left")
    for (memory, setting, workload), mine in verdicts.group_by("memory", "setting", "workload", maintain_order=True):
        known = mine.filter(pl.col("value").is_not_null())
        if not len(known):
            continue
        of_item = tuple(part["value"].to_numpy() for _, part in known.group_by("item", maintain_order=True))
        entry = Answered(chosen, workload, of_item, len(mine) - len(known))
        by_pair[memory, setting] = (*by_pair.get((memory, setting), ()), entry)
    return by_pair


def _row(
    runs: Sequence[Run],
    cell: Group,
    usd: dict[int, float | None],
    inputs: dict[int, float | None],
    answers: Answered | None,
    seed: int,
) -> JointRow:
    head = runs[0]
    cost, drawn = _cost([usd.get(run.unit) for run in runs], [inputs.get(run.unit) for run in runs], seed)
    accuracy = answers.accuracy(seed) if answers else None
    ratio = cost.usd / accuracy.value if cost.usd is not None and accuracy and accuracy.value else None
    interval = None
    if ratio is not None and answers is not None and drawn is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            interval = _quantiles(drawn / answers.draws(seed + 1))
    return JointRow(
        head.memory, head.setting, head.model, head.effort, cell.label, cell.turns, cell.tokens,
        accuracy, cost, ratio, interval, head.control, None,
    )  # fmt: skip


def _cost(usd: Sequence[float | None], inputs: Sequence[float | None], seed: int) -> tuple[Cost, Array | None]:
    """Ĉ, and draws of it from the t distribution that its interval is of."""
    known = np.array([value for value in usd if value is not None])
    tokens = [value for value in inputs if value is not None]
    complete = len(known) == len(usd)
    mean_tokens = float(np.mean(tokens)) if len(tokens) == len(inputs) else None
    if not complete:
        return Cost(None, None, False, len(usd), mean_tokens), None
    mean = float(known.mean())
    if len(known) < 2:
        return Cost(mean, None, True, len(usd), mean_tokens), None
    error = float(known.std(ddof=1)) / np.sqrt(len(known))
    half = float(t_quantile(len(known) - 1) * error)
    drawn = mean + error * np.random.default_rng(seed).standard_t(len(known) - 1, _DRAWS)
    interval = (max(0.0, mean - half), mean + half)
    return Cost(mean, interval, True, len(usd), mean_tokens), np.clip(drawn, 0, None)


def _quantiles(ratios: Array) -> tuple[float, float] | None:
    """The middle 95 %, None where some draw had no right answer at all within it."""
    low, high = np.quantile(np.nan_to_num(ratios, nan=np.inf), (0.025, 0.975))
    return (float(low), float(high)) if np.isfinite(high) else None


def _front(rows: Sequence[JointRow]) -> list[JointRow]:
    """Marks the rows that no other dominates."""
    rivals = [row for row in rows if row.accuracy and not row.control]
    in_usd = all(row.cost.usd is not None for row in rivals)
    places = {
        place: (cost, row.accuracy.value)
        for place, row in enumerate(rows)
        if row in rivals and row.accuracy and (cost := row.cost.usd if in_usd else row.cost.input_tokens) is not None
    }
    return [
        replace(row, on_front=not any(_beats(rival, places[place]) for rival in places.values()))
        if place in places
        else row
        for place, row in enumerate(rows)
    ]


def _beats(rival: tuple[float, float], row: tuple[float, float]) -> bool:
    return rival != row and rival[0] <= row[0] and rival[1] >= row[1]
