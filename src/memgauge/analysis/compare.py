"""Is B worse than A? Two memories of one run, or a memory of two runs, on the same questions and conversations.

Every change is B less A. Only what both sides have counts: for a metric the questions that it scored on both
sides, for a cost the conversations that both finished. What only one side has is counted and listed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import polars as pl

from memgauge.analysis.bounds import Bound, BoundError, parse_bound
from memgauge.analysis.memory_rows import MOST_ERRORS
from memgauge.analysis.paired import Change, Paired, mcnemar, paired_means, paired_ratio
from memgauge.analysis.pairing import ABSENT, ERROR, OK, Pair, Run, Side, matched
from memgauge.analysis.unit_costs import COSTS
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.metrics.score import METRICS

ERRORS = "error_share"
# Every figure that a bound may name, and whether it is better when higher.
DIRECTIONS: dict[str, bool] = {
    **{name: metric.higher_is_better for name, metric in METRICS.items()},
    ERRORS: False,
    **dict.fromkeys(COSTS, False),
}

_strings = msgspec.json.Decoder(tuple[str, ...]).decode


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A quality metric on both sides. Where it is 0 or 1, ``better`` and ``worse`` count the questions that changed.

    ``lost`` is the share of the questions scored on side A that side B has no score for; ``paired`` is None where
    that is all of them. ``mcnemar`` is the exact p-value of McNemar's test, which takes questions as independent;
    the bootstrap's does not.
    """

    metric: str
    paired: Paired | None
    lost: float
    better: int | None = None
    worse: int | None = None
    mcnemar: float | None = None


@dataclass(frozen=True, slots=True)
class CostChange:
    """A cost on both sides, over ``paired.n`` conversations; without interval below ENOUGH of them."""

    cost: str
    paired: Paired


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that one side got right and the other wrong; ``better`` where that is B's merit."""

    item: str
    question: str
    text: str
    golds: tuple[str, ...]
    a: str
    b: str
    better: bool


@dataclass(frozen=True, slots=True)
class OneSided:
    """A question that only side ``answered`` (A or B) answered; ``why`` is the error of the other, or not asked."""

    item: str
    question: str
    answered: str
    why: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A on one workload. ``decided_by`` says what made an answer right for ``flips``: judge or rule.

    ``questions`` counts those that both were asked, ``errors_a`` and ``errors_b`` those without an answer.
    ``unfinished`` is the share of the conversations that A finished which B began, or was to begin, in vain.
    """

    a: Side
    b: Side
    workload: str
    questions: int
    conversations: int
    errors_a: int
    errors_b: int
    unfinished: float
    metrics: tuple[MetricChange, ...]
    costs: tuple[CostChange, ...]
    decided_by: str
    flips: tuple[Flip, ...]
    one_sided: tuple[OneSided, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A bound that does not hold, where, and in one line why."""

    bound: str
    memory: str
    workload: str
    why: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Every comparison that was made, and the bounds that are broken in one of them."""

    comparisons: tuple[Comparison, ...]
    broken: tuple[Broken, ...]


def bound(text: str) -> Bound:
    """Reads ``token_f1=-0.02`` or ``input_tokens_per_turn=+5%``; raises BoundError or UnknownNameError."""
    return parse_bound(text, DIRECTIONS)


def compare(
    a: Frames,
    b: Frames,
    *,
    memories: Sequence[tuple[str, str]] = (),
    settings: tuple[str, str] | None = None,
    bounds: Sequence[Bound] = (),
    certain: bool = False,
    names: tuple[str, str] = ("A", "B"),
) -> Compared:
    """Compares ``b`` with the baseline ``a``, which may be the same run.

    ``memories`` are pairs of names, of A and of B; without them every memory that both have, controls left out.
    A setting that both have is compared with itself; where a side has one setting only, it need not be named.

    A bound is broken where the change is beyond it: the observed one, or with ``certain`` its whole 95 %
    interval (where a figure has none, the observed one). It is also broken where B lacks more than MOST_ERRORS of
    what A has: of the questions that a metric scored, of the conversations that a cost is counted over. A crash
    must not pass as quality, nor as thrift. Raises BoundError where a figure is in no comparison, UserError where
    nothing can be compared.
    """
    left, other = Run.read(a, names[0]), Run.read(b, names[1])
    comparisons = tuple(
        comparison
        for pair in matched(left, other, memories, settings)
        if (comparison := _comparison(pair)).questions or comparison.costs or comparison.unfinished
    )
    if not comparisons:
        raise UserError(f"{names[0]} and {names[1]} have no question and no finished conversation in common")
    for stated in bounds:
        if not any(stated.figure in _figures(entry) or _lost(entry, stated.figure) for entry in comparisons):
            raise BoundError(f"bound {stated}: no comparison has {stated.figure} on both sides")
    broken = tuple(
        Broken(str(stated), entry.b.memory, entry.workload, why)
        for entry in comparisons
        for stated in bounds
        if (why := _why_broken(entry, stated, certain))
    )
    return Compared(comparisons, broken)


def _comparison(pair: Pair) -> Comparison:
    asked = pair.questions()
    both = asked.filter((pl.col("state_a") != ABSENT) & (pl.col("state_b") != ABSENT))
    errors = [int((both[f"state_{side}"] == ERROR).sum()) for side in "ab"]
    return Comparison(
        a=pair.a,
        b=pair.b,
        workload=pair.workload,
        questions=len(both),
        conversations=both["item"].n_unique(),
        errors_a=errors[0],
        errors_b=errors[1],
        unfinished=pair.lost(),
        metrics=tuple(_metric_changes(both)),
        costs=tuple(_cost_changes(pair.units())),
        decided_by=pair.decided_by,
        flips=tuple(_flips(both)),
        one_sided=tuple(_one_sided(asked)),
    )


def _metric_changes(both: pl.DataFrame) -> Iterator[MetricChange]:
    names = [name for name in METRICS if f"{name}_a" in both.columns]
    failed = both.with_columns(
        *((pl.col(f"state_{side}") == ERROR).alias(f"{ERRORS}_{side}") for side in "ab"),
        *(pl.lit(None).alias(f"{name}_b") for name in names if f"{name}_b" not in both.columns),
    )
    names.append(ERRORS)
    a, b = (
        failed.select(pl.col(f"{name}_{side}").cast(pl.Float64) for name in names)
        .fill_null(np.nan)
        .to_numpy()
        .reshape(-1, len(names))
        for side in "ab"
    )
    if not len(both):
        return
    for place, (name, paired) in enumerate(zip(names, paired_means(a, b, both["item"].to_list()), strict=True)):
        known = ~np.isnan(a[:, place])
        if not known.any():
            continue
        lost = float(np.isnan(b[known, place]).mean())
        if paired is None or (name != ERRORS and not METRICS[name].binary):
            yield MetricChange(name, paired, lost)
            continue
        up, down = int((b[:, place] > a[:, place]).sum()), int((b[:, place] < a[:, place]).sum())
        better, worse = (up, down) if DIRECTIONS[name] else (down, up)
        yield MetricChange(name, paired, lost, better, worse, mcnemar(better, worse))


def _cost_changes(units: pl.DataFrame) -> Iterator[CostChange]:
    for cost in COSTS.values():
        count = [pl.lit(1.0) if cost.per is None else pl.col(f"{cost.per}_{side}").cast(pl.Float64) for side in "ab"]
        a, b = (
            units.select(pl.col(f"{cost.name}_{side}").cast(pl.Float64), count=each).fill_null(np.nan).to_numpy()
            for side, each in zip("ab", count, strict=True)
        )
        if paired := paired_ratio(a, b, units["item"].to_list()):
            yield CostChange(cost.name, paired)


def _flips(both: pl.DataFrame) -> Iterator[Flip]:
    for row in both.filter(pl.col("right_a") != pl.col("right_b")).iter_rows(named=True):
        yield Flip(
            row["item"], row["question"], row["text"], _strings(row["golds"]), row["answer_a"], row["answer_b"],
            better=row["right_b"] > row["right_a"],
        )  # fmt: skip


def _one_sided(asked: pl.DataFrame) -> Iterator[OneSided]:
    for row in asked.filter((pl.col("state_a") == OK) != (pl.col("state_b") == OK)).iter_rows(named=True):
        answered, silent = ("A", "b") if row["state_a"] == OK else ("B", "a")
        why = "not asked" if row[f"state_{silent}"] == ABSENT else row[f"error_{silent}"] or "no reason was recorded"
        yield OneSided(row["item"], row["question"], answered, why)


def _figures(comparison: Comparison) -> dict[str, Paired]:
    metrics = {entry.metric: entry.paired for entry in comparison.metrics if entry.paired}
    return metrics | {entry.cost: entry.paired for entry in comparison.costs}


def _lost(comparison: Comparison, figure: str) -> float:
    """The share of what A has of ``figure`` that B has not."""
    if figure in COSTS:
        return comparison.unfinished
    return next((entry.lost for entry in comparison.metrics if entry.metric == figure), 0.0)


def _why_broken(comparison: Comparison, stated: Bound, certain: bool) -> str | None:
    figure, lost = stated.figure, _lost(comparison, stated.figure)
    if lost > MOST_ERRORS:
        what = "conversations" if figure in COSTS else "questions"
        return f"{comparison.b.run} has no {figure} of {lost * 100:.0f} % of the {what} that {comparison.a.run} has"
    paired = _figures(comparison).get(figure)
    if paired is None:
        return None
    change = paired.relative if stated.relative else paired.change
    if change is None:  # no share of nothing: whatever is worse than nothing is beyond every share
        change = Change(float("-inf" if stated.higher_is_better else "inf"), None, None)
        if paired.change.value == 0 or (paired.change.value > 0) == stated.higher_is_better:
            return None
    end = change.high if stated.higher_is_better else change.low
    if not stated.worse(end if certain and end is not None else change.value):
        return None
    told = f"{figure} went from {paired.a:.4g} to {paired.b:.4g}"
    spans = f", 95 % of {paired.change.low:+.3g} to {paired.change.high:+.3g}" if paired.change.low is not None else ""
    return f"{told} ({paired.change.value:+.3g}{spans}); allowed is {str(stated).partition('=')[2]}"
