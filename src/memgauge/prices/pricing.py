"""Prices calls from a ledger, offline, as often as you like."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

import polars as pl

from memgauge.prices.card import Price, PriceCard

# What price_calls needs of a calls frame.
PRICED_COLUMNS = (
    "model", "provider", "kind", "outcome", "started_at", "input_tokens", "cached_tokens",
    "cache_write_tokens", "output_tokens", "reasoning_tokens", "embedding_tokens",
)  # fmt: skip

# Outcomes that no provider bills: refused by us before sending, answered by an error status, or never reached.
_NOT_BILLED = ("http", "connection", "context", "budget")

_RATES = ("input", "cached_input", "cache_write", "output", "embedding")


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of money. ``usd`` covers the ``priced`` calls only; it is the whole bill where ``complete``.

    ``full_price_cached_tokens`` counts cached input that was billed at the full input price, because the
    price gives no price for cached input.
    """

    usd: float
    priced: int
    unpriced: int
    full_price_cached_tokens: int = 0

    @property
    def complete(self) -> bool:
        """Whether every call has a price."""
        return self.unpriced == 0


def price_calls(calls: pl.DataFrame, card: PriceCard | None) -> pl.DataFrame:
    """``calls`` (with PRICED_COLUMNS) and two more columns: ``cost_usd`` and ``cached_at_full_price``.

    ``cost_usd`` is null where the usage or the price is unknown. Without a card every call is looked up in
    genai-prices as of the day it was made. Cached input has its own price where the provider has one, else
    the full input price, and then ``cached_at_full_price`` is true. Classes that a server does not report
    apart (cached, cache-write, reasoning) are contained in input or output, so they need no price.
    """
    keys = ["model", "provider", "_day"]
    day = pl.from_epoch("started_at").dt.date() if card is None else pl.lit(card.date)
    keyed = calls.with_columns(day.alias("_day")).with_row_index("_row")
    rates = _rates(keyed.select(keys).unique().iter_rows(), card)
    priced = keyed.join(rates, on=keys, how="left", nulls_equal=True, maintain_order="left_right")
    if rates.select(keys).is_duplicated().any():
        reached = pl.col("_above").is_null() | (pl.col("_above") == 0) | (_prompt() > pl.col("_above"))
        priced = priced.filter(reached).unique("_row", keep="last", maintain_order=True)
    return priced.with_columns(
        cost_usd=_cost(),
        cached_at_full_price=(pl.col("cached_tokens") > 0)
        & pl.col("_cached_input").is_null()
        & pl.col("_input").is_not_null(),
    ).drop("_row", "_day", "_above", *(f"_{rate}" for rate in _RATES))


def total(priced: pl.DataFrame) -> Total:
    """The sum of a frame from price_calls."""
    cost = priced["cost_usd"]
    full = priced.filter("cached_at_full_price")["cached_tokens"].sum()
    return Total(float(cost.sum()), len(cost) - cost.null_count(), cost.null_count(), int(full))


def worst_case(
    input_tokens: int,
    output_tokens: int,
    model: str,
    provider: str | None = None,
    card: PriceCard | None = None,
    *,
    cached_tokens: int = 0,
) -> float | None:
    """The most a call can cost: nothing cached, every allowed token written; ``None`` if no price is known.

    Of a call that is over, ``cached_tokens`` are those of its input that are known to have come from a cache.

    Where the provider is open, the dearest on the card counts. Without a card, prices are today's.
    """
    book = card or PriceCard("today", datetime.now(UTC).date())
    prices: Iterable[Price] = book.of_model(model) if provider is None else ()
    costs = [_most(price, input_tokens, cached_tokens, output_tokens) for price in prices or book.find(model, provider)]
    return max((cost for cost in costs if cost is not None), default=None)


def _most(price: Price, input_tokens: int, cached_tokens: int, output_tokens: int) -> float | None:
    if price.input is None or price.output is None:
        return None if price.embedding is None else price.embedding * input_tokens / 1e6
    cached_rate = price.input if price.cached_input is None else price.cached_input
    dearest = max(price.input, price.cache_write or 0.0, cached_rate)
    fresh_tokens = max(0, input_tokens - cached_tokens)
    return (dearest * fresh_tokens + cached_rate * cached_tokens + price.output * output_tokens) / 1e6


def _rates(keys: Iterable[tuple[str, str | None, date]], card: PriceCard | None) -> pl.DataFrame:
    rows = [
        (model, provider, day, price.above_tokens, *(getattr(price, rate) for rate in _RATES))
        for model, provider, day in keys
        for price in sorted(
            (card or PriceCard("of the day", day)).find(model, provider), key=lambda price: price.above_tokens
        )
    ]
    schema = {"model": pl.String, "provider": pl.String, "_day": pl.Date, "_above": pl.Int64}
    return pl.DataFrame(rows, {**schema, **{f"_{rate}": pl.Float64 for rate in _RATES}}, orient="row")


def _prompt() -> pl.Expr:
    return pl.sum_horizontal("input_tokens", "cached_tokens", "cache_write_tokens")


def _cost() -> pl.Expr:
    read = pl.col("_input")
    parts = (
        _part(pl.col("input_tokens"), read),
        _part(pl.col("cached_tokens").fill_null(0), pl.coalesce("_cached_input", read)),
        _part(pl.col("cache_write_tokens").fill_null(0), pl.coalesce("_cache_write", read)),
        _part(pl.col("output_tokens") + pl.col("reasoning_tokens").fill_null(0), pl.col("_output")),
    )
    chat = parts[0] + parts[1] + parts[2] + parts[3]
    embed = _part(pl.col("embedding_tokens"), pl.col("_embedding"))
    cost = pl.when(pl.col("kind") == "embed").then(embed).otherwise(chat) / 1e6
    used = pl.sum_horizontal("input_tokens", "output_tokens", "embedding_tokens")
    free = pl.col("outcome").is_in(_NOT_BILLED) & (used == 0)
    return pl.when(free).then(0.0).otherwise(cost)


def _part(tokens: pl.Expr, rate: pl.Expr) -> pl.Expr:
    """Tokens times rate; nothing used costs nothing, also where its rate is unknown — but not if all are."""
    return pl.when((tokens == 0) & pl.any_horizontal(_known())).then(0.0).otherwise(tokens * rate)


def _known() -> list[pl.Expr]:
    return [pl.col(f"_{rate}").is_not_null() for rate in _RATES]
