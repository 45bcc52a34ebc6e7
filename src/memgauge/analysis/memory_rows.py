"""One memory in one group: what it cost to serve, how long it took, what it knew."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from memgauge.analysis.break_even import REFERENCE, BreakEven, Series, mean_by_turn
from memgauge.analysis.intervals import Estimate, cluster_mean
from memgauge.analysis.money import Money, bill
from memgauge.analysis.turn_costs import COLUMNS, SERVING, billed_input, call_costs, series_by_turn
from memgauge.metrics.efficiency import timed_steps, waits
from memgauge.metrics.score import METRICS, TOKEN_F1
from memgauge.prices import PRICED_COLUMNS, PriceCard

STAGES = ("answer", "read", "write", "manage")
# Above this share of errors a memory is shown, and not ranked.
MOST_ERRORS = 0.05

CALL_COLUMNS = tuple(dict.fromkeys((*COLUMNS, *PRICED_COLUMNS, "replays")))


@dataclass(frozen=True, slots=True)
class Played:
    """The ledger's frames, cut down to some units. ``calls`` come from money.priced."""

    units: pl.DataFrame
    calls: pl.DataFrame
    steps: pl.DataFrame
    answers: pl.DataFrame
    scores: pl.DataFrame

    def only(self, units: pl.DataFrame) -> Self:
        """The same, of ``units`` alone, which are some of its own."""
        tables = (self.calls, self.steps, self.answers, self.scores)
        if len(units) == len(self.units):
            return type(self)(units, *tables)
        return type(self)(units, *(table.join(units, on="unit", how="semi", maintain_order="left") for table in tables))


@dataclass(frozen=True, slots=True)
class Seconds:
    """Mean and 90th percentile of ``n`` durations."""

    mean: float
    p90: float
    n: int


@dataclass(frozen=True, slots=True)
class Serving:
    """The dialogue replayed turn by turn. Tokens are means per turn over every turn of every finished unit.

    ``calls_per_turn`` counts chat calls. ``cumulative`` is the mean cumulative model input after turn 1, 2, …;
    it ends where a cost is unknown, and then ``complete`` is false and the means cover the calls that did
    report. ``latency`` is the seconds of model calls from read to answer, without queueing and retries;
    ``waited`` is what the protocol waited.
    """

    units: int
    turns: int
    input_per_turn: float
    input_by_stage: dict[str, float]
    output_per_turn: float
    embedding_per_turn: float
    calls_per_turn: float
    failed_calls: int
    complete: bool
    cumulative: tuple[float, ...]
    latency: Seconds | None
    waited: Seconds | None
    money: Money


@dataclass(frozen=True, slots=True)
class Asking:
    """The questions. ``input_per_question`` covers read and answer, ``writing_input`` all that came before."""

    units: int
    questions: int
    input_per_question: float
    output_per_question: float
    writing_input: int
    complete: bool
    latency: Seconds | None
    waited: Seconds | None
    money: Money


@dataclass(frozen=True, slots=True)
class Quality:
    """What was known. ``asked`` counts planned questions; ``errors`` are those that got no answer.

    ``scores`` holds the metrics of metrics.score.METRICS over the answered ones.
    """

    asked: int
    answered: int
    errors: int
    scores: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory in one group. ``unranked`` says why it takes part in no ranking; None where it does.

    ``cost`` is model input tokens per turn in a group where turns were served, per question elsewhere, and
    ``latency`` likewise: the same unit for all memories of the group, None where this one has none of it.
    ``metric`` is the score that the group ranks by.
    """

    memory: str
    options: str
    control: bool
    reference: bool
    unranked: str | None
    units: dict[str, int]
    error_share: float
    cost: float | None
    latency: Seconds | None
    serving: Serving | None
    asking: Asking | None
    quality: Quality | None
    store_bytes: float | None
    break_even: BreakEven | None = None
    metric: str = TOKEN_F1

    @property
    def accuracy(self) -> Estimate | None:
        """What reports rank by: the group's ``metric``."""
        return self.quality.scores.get(self.metric) if self.quality else None


def memory_row(played: Played, series: Series, card: PriceCard | None, per_turn: bool) -> MemoryRow:
    """The row of one memory's units, all of one group; its break-even is left open.

    ``series`` are their served_costs; ``per_turn`` says whether the group's costs are counted per turn, else per
    question.
    """
    units = played.units
    first = units.row(0, named=True)
    done = units.filter(pl.col("status") == "done")
    serve = played.only(done.filter(pl.col("protocol") == "serve"))
    asked = played.only(done.filter(pl.col("questions") > 0))
    errors = _error_share(units, played.answers)
    stores = done["store_bytes"].drop_nulls()
    serving = _serving(serve, series, card) if len(serve.units) else None
    asking = _asking(asked, card) if len(asked.units) else None
    if per_turn:
        cost, latency = (serving.input_per_turn, serving.latency) if serving else (None, None)
    else:
        cost, latency = (asking.input_per_question, asking.latency) if asking else (None, None)
    return MemoryRow(
        memory=first["memory"],
        options=first["memory_options"],
        control=bool(first["control"]),
        reference=first["memory"] == REFERENCE,
        unranked=_unranked(bool(first["control"]), errors, len(done)),
        units=dict(units.group_by("status", maintain_order=True).len().iter_rows()),
        error_share=errors,
        cost=cost,
        latency=latency,
        serving=serving,
        asking=asking,
        quality=_quality(played),
        store_bytes=_per(_sum(stores), len(stores)) if len(stores) else None,
    )


def served_costs(played: Played) -> Series:
    """C(t) of every finished ``serve`` unit, by conversation and seed."""
    served = played.units.filter((pl.col("status") == "done") & (pl.col("protocol") == "serve") & (pl.col("turns") > 0))
    turns = dict(served.select("unit", "turns").iter_rows())
    serving = played.calls.filter(pl.col("question").is_null() & pl.col("stage").is_in(SERVING))
    series = series_by_turn(serving.select("unit", "turn", value=billed_input()), turns)
    return {(item, seed): series[unit] for unit, item, seed in served.select("unit", "item", "seed").iter_rows()}


def _serving(played: Played, series: Series, card: PriceCard | None) -> Serving:
    turns = int(played.units["turns"].sum())
    calls = played.calls.filter(pl.col("question").is_null() & pl.col("stage").is_in(SERVING))
    costs = call_costs(calls)
    by_stage = dict(costs.group_by("stage").agg(pl.col("input_tokens").sum()).iter_rows())
    cumulative = np.cumsum(mean_by_turn(series)) if series else np.zeros(0)
    known = cumulative[: int(np.isnan(cumulative).argmax())] if np.isnan(cumulative).any() else cumulative
    return Serving(
        units=len(played.units),
        turns=turns,
        input_per_turn=_per(_sum(costs["input_tokens"]), turns),
        input_by_stage={stage: _per(by_stage.get(stage, 0), turns) for stage in STAGES},
        output_per_turn=_per(_sum(costs["output_tokens"]), turns),
        embedding_per_turn=_per(_sum(costs["embedding_tokens"]), turns),
        calls_per_turn=_per(len(calls.filter(pl.col("kind") == "chat")), turns),
        failed_calls=len(calls.filter(pl.col("outcome") != "ok")),
        complete=costs["input_tokens"].null_count() == 0,
        cumulative=tuple(known.tolist()),
        latency=_latency(calls),
        waited=_waited(played, pl.col("question").is_null()),
        money=bill(calls, card).per(turns),
    )


def _asking(played: Played, card: PriceCard | None) -> Asking:
    questions = int(played.units["questions"].sum())
    # A judge's calls belong to a question too, and are no cost of the memory's.
    calls = played.calls.filter(pl.col("question").is_not_null() & pl.col("stage").is_in(("read", "answer")))
    before = played.calls.filter(pl.col("question").is_null())
    sent = calls.select(input=billed_input(), output=pl.col("output_tokens"))
    written = before.select(billed_input()).to_series()
    return Asking(
        units=len(played.units),
        questions=questions,
        input_per_question=_per(_sum(sent["input"]), questions),
        output_per_question=_per(_sum(sent["output"]), questions),
        writing_input=int(written.sum()),
        complete=sent["input"].null_count() + written.null_count() == 0,
        latency=_latency(calls),
        waited=_waited(played, pl.col("question").is_not_null()),
        money=bill(calls, card).per(questions),
    )


def _quality(played: Played) -> Quality | None:
    ended = played.units.filter(pl.col("status").is_in(("done", "failed")))
    asked = int(ended["questions"].sum())
    if not asked:
        return None
    mine = played.only(ended)
    answered = mine.answers.filter(pl.col("outcome") == "ok")
    places = ["unit", "ordinal"]
    where = mine.answers.select(places).join(mine.units.select("unit", "item"), on="unit")
    scored = mine.scores.join(where, on=places, maintain_order="left").drop_nulls("value")
    scores = {}
    for name in METRICS:
        rows = scored.filter(pl.col("metric") == name)
        if estimate := cluster_mean(rows["value"].to_list(), rows["item"].to_list()):
            scores[name] = estimate
    return Quality(asked, len(answered), asked - len(answered), scores)


def _error_share(units: pl.DataFrame, answers: pl.DataFrame) -> float:
    """Share of what was to be done that ended in an error: questions without an answer, turns of failed units."""
    ended = units.filter(pl.col("status").is_in(("done", "failed")))
    asked = int(ended["questions"].sum())
    unanswered = 0.0
    if asked:
        good = answers.join(ended, on="unit", how="semi").filter(pl.col("outcome") == "ok")
        unanswered = (asked - len(good)) / asked
    served = ended.filter(pl.col("protocol") == "serve")
    turns = int(served["turns"].sum())
    failed = int(served.filter(pl.col("status") == "failed")["turns"].sum())
    return max(unanswered, failed / turns if turns else 0.0)


def _unranked(control: bool, errors: float, done: int) -> str | None:
    if control:
        return "control: bounds the table, competes with nobody"
    if errors > MOST_ERRORS:
        return f"{errors * 100:.0f} % ended in an error, more than {MOST_ERRORS * 100:.0f} %"
    return None if done else "nothing finished"


def _latency(calls: pl.DataFrame) -> Seconds | None:
    asked = calls.filter(pl.col("stage").is_in(("read", "answer")))
    each = asked.group_by("unit", "turn", "question").agg(
        pl.col("latency_s").sum(), fresh=(pl.col("replays") == 0).all()
    )
    return _seconds(each.filter("fresh")["latency_s"])


def _waited(played: Played, which: pl.Expr) -> Seconds | None:
    return _seconds(waits(timed_steps(played.steps, played.calls)).filter(which)["seconds"])


def _seconds(durations: pl.Series) -> Seconds | None:
    if not len(durations):
        return None
    values = durations.to_numpy()
    return Seconds(float(values.mean()), float(np.quantile(values, 0.9)), len(values))


def _sum(figures: pl.Series) -> float:
    """The sum of the known ones."""
    return float(figures.fill_null(0).to_numpy().sum())


def _per(total: float, count: int) -> float:
    return total / count if count else 0.0
