"""What each finished unit cost: per turn where a dialogue was served, per question where questions were asked."""

from dataclasses import dataclass

import polars as pl

from memgauge.analysis.money import priced
from memgauge.analysis.turn_costs import SERVING, billed_input
from memgauge.prices import PRICED_COLUMNS, PriceCard

CALL_COLUMNS = tuple(dict.fromkeys((
    "unit", "turn", "question", "stage", "kind", "input_tokens", "cached_tokens", "cache_write_tokens",
    "output_tokens", "reasoning_tokens", "embedding_tokens", "outcome", "latency_s", "replays", *PRICED_COLUMNS,
)))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost of a conversation, in units of what it is counted ``per``: ``turns``, ``questions`` or neither."""

    name: str
    title: str
    per: str | None


COSTS = {
    cost.name: cost
    for cost in (
        Cost("input_tokens_per_turn", "model input tokens per served turn", "turns"),
        Cost("output_tokens_per_turn", "model output tokens per served turn", "turns"),
        Cost("usd_per_turn", "US dollars per served turn", "turns"),
        Cost("seconds_per_turn", "seconds of model calls from read to answer, per served turn", "turns"),
        Cost("input_tokens_per_question", "model input tokens per question, read and answer", "questions"),
        Cost("output_tokens_per_question", "model output tokens per question, read and answer", "questions"),
        Cost("usd_per_question", "US dollars per question, read and answer", "questions"),
        Cost("seconds_per_question", "seconds of model calls from read to answer, per question", "questions"),
        Cost("ingest_tokens_per_turn", "model input tokens per turn taken in before the questions", "turns"),
        Cost("store_bytes", "bytes of the store after the last write", None),
    )
}


def unit_costs(units: pl.DataFrame, calls: pl.DataFrame, card: PriceCard | None) -> pl.DataFrame:
    """One row per finished unit: ``unit`` and the sum over the conversation of every cost in COSTS.

    Null where a call did not tell, where money has no known price, where seconds were not waited for because a
    call was served from the record, and where the unit has none of it: nothing was served, or nothing asked.
    Judging costs nobody's memory anything and is left out.
    """
    done = units.filter(pl.col("status") == "done")
    told = priced(calls.join(done, on="unit", how="semi"), units, card)
    asking = pl.col("stage").is_in(("read", "answer"))
    rows = told.select(
        "unit",
        "local",
        asked=pl.col("question").is_not_null() & asking,
        before=pl.col("question").is_null() & pl.col("stage").is_in(SERVING),
        asking=asking,
        input_tokens=billed_input(),
        output_tokens=_billed_output(),
        usd="cost_usd",
        seconds=pl.when(pl.col("replays") == 0).then("latency_s"),
    )
    asked, before = pl.col("asked"), pl.col("before")
    sums = rows.group_by("unit").agg(
        *(_sum(name, asked).alias(f"{name}_per_question") for name in ("input_tokens", "output_tokens", "seconds")),
        *(_sum(name, before).alias(f"{name}_per_turn") for name in ("input_tokens", "output_tokens")),
        _usd(asked).alias("usd_per_question"),
        _usd(before).alias("usd_per_turn"),
        _sum("seconds", before & pl.col("asking")).alias("seconds_per_turn"),
        ingest_tokens_per_turn=_sum("input_tokens", before),
    )
    each = done.select("unit", "protocol", "turns", "questions", store_bytes=pl.col("store_bytes").cast(pl.Float64))
    served = (pl.col("protocol") == "serve") & (pl.col("turns") > 0)
    has = {"turns": served, "questions": pl.col("questions") > 0, None: pl.lit(True)}
    only = {cost.name: has[cost.per] for cost in COSTS.values()}
    only["ingest_tokens_per_turn"] = ~served & (pl.col("turns") > 0)
    found = each.join(sums, on="unit", how="left", maintain_order="left")
    return found.select("unit", *(pl.when(there).then(name).alias(name) for name, there in only.items()))


def _billed_output() -> pl.Expr:
    """Visible and reasoning tokens of a chat call; null where unknown, 0 where a failed call told of none."""
    nothing = (pl.col("kind") != "chat") | (pl.col("output_tokens").is_null() & (pl.col("outcome") != "ok"))
    return pl.when(nothing).then(0).otherwise(pl.col("output_tokens") + pl.col("reasoning_tokens").fill_null(0))


def _sum(name: str, where: pl.Expr) -> pl.Expr:
    values = pl.col(name).filter(where)
    return pl.when(values.null_count() == 0).then(values.sum().cast(pl.Float64))


def _usd(where: pl.Expr) -> pl.Expr:
    """Dollars; a local model beside priced ones costs nothing, local models alone have no price."""
    unknown = (pl.col("usd").is_null() & ~pl.col("local")).filter(where).any()
    return pl.when(~unknown & (pl.col("usd").filter(where).count() > 0)).then(pl.col("usd").filter(where).sum())
