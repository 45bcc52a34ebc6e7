"""Any ledger under any price card, cache policy and provider mix, offline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from memgauge.analysis.caching import SECONDS_PER_TURN, under_policy
from memgauge.analysis.money import LOCAL_EMBEDDERS, card_of
from memgauge.analysis.runs import CALL_COLUMNS
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.prices import CachePolicy, PriceCard, Total, price_calls, total


class Caching(StrEnum):
    """What is done with prompt caching when calls are priced."""

    SERVED = "served"  # as the provider reported it when the calls were made
    NONE = "none"  # every prompt token at the full input price
    POLICY = "policy"  # as the provider's policy on the card would have had it


class BillingError(UserError):
    """A way of billing that makes no sense."""


@dataclass(frozen=True, slots=True)
class Billing:
    """One way to bill a ledger.

    ``providers`` are the shares of a route (``{"groq": 0.9, "amazon-bedrock": 0.1}``, summing to 1), drawn
    anew for every call; empty: who served it. ``models`` prices one model as another (``{"extractive":
    "gpt-oss-20b"}``).
    """

    name: str
    card: PriceCard | None = None
    caching: Caching = Caching.SERVED
    providers: Mapping[str, float] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    seconds_per_turn: float = SECONDS_PER_TURN

    def __post_init__(self) -> None:
        shares = self.providers.values()
        if shares and (min(shares) < 0 or abs(sum(shares) - 1) > 1e-6):
            given = ", ".join(f"{provider}={share:g}" for provider, share in self.providers.items())
            raise BillingError(f"provider shares must be at least 0 and sum to 1, not {given}")
        if self.caching is Caching.POLICY and self.card is None:
            raise BillingError("pricing by cache policy needs a price card: policies stand on cards")


@dataclass(frozen=True, slots=True)
class Bill:
    """What one memory cost under one setting and protocol, its stages included."""

    memory: str
    setting: str
    protocol: str
    stage: str
    calls: int
    total: Total


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Calls that have no price: ``usage_known`` tells that the price is what is missing, not the tokens."""

    model: str
    provider: str | None
    usage_known: bool
    calls: int


@dataclass(frozen=True, slots=True)
class Repriced:
    """A ledger's bills, and their sum; ``unpriced`` says which calls the sum lacks."""

    billing: str
    bills: tuple[Bill, ...]
    total: Total
    unpriced: tuple[Unpriced, ...]


def billed(calls: pl.DataFrame, billing: Billing) -> pl.DataFrame:
    """``calls`` (with CALL_COLUMNS) and their ``cost_usd`` and ``cached_at_full_price`` under ``billing``.

    Under a mix the cost is the expected one: each provider's cost by its share, and a cached prefix is met
    again by chance only, as no provider holds another's cache.
    """
    named = calls
    if billing.models:
        named = calls.with_columns(pl.col("model").replace(dict(billing.models)))
    if not billing.providers:
        return _priced(named, billing, 1.0)
    # A mix routes chat calls; embeddings stay with whoever served them.
    at = [
        (share, _priced(named.with_columns(provider=_routed(provider)), billing, share))
        for provider, share in billing.providers.items()
        if share > 0
    ]
    cost = sum((frame["cost_usd"] * share for share, frame in at[1:]), at[0][1]["cost_usd"] * at[0][0])
    return at[0][1].with_columns(cost_usd=cost, provider=calls["provider"])


def without_local(priced: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """``priced`` with embeddings that ran in this process at 0 where they have no price: nobody sends a bill.

    A local chat model stays without a price, as it stands in for one that would be paid.
    """
    local = units.filter(pl.col("embedder").is_in(LOCAL_EMBEDDERS))["unit"]
    here = (pl.col("kind") == "embed") & pl.col("unit").is_in(local.implode()) & pl.col("cost_usd").is_null()
    return priced.with_columns(cost_usd=pl.when(here).then(0.0).otherwise("cost_usd"))


def reprice(frames: Frames, billing: Billing) -> Repriced:
    """Bills every call of a ledger that counts, by memory, setting, protocol and stage."""
    return _repriced(frames.units(), frames.calls(CALL_COLUMNS), billing)


def before_and_after(frames: Frames, billing: Billing) -> tuple[Repriced, Repriced]:
    """A ledger's bills as its run would have them, and under ``billing``; the ledger is read once.

    The run's are by the card that its spec names, else by genai-prices on the day of each call, with the caching
    that was served.
    """
    units, calls = frames.units(), frames.calls(CALL_COLUMNS)
    as_run = Billing("as run", card_of(frames.meta()))
    return _repriced(units, calls, as_run), _repriced(units, calls, billing)


def _repriced(every: pl.DataFrame, made: pl.DataFrame, billing: Billing) -> Repriced:
    units = every.select("unit", "memory", "setting", "protocol", "embedder")
    priced = without_local(billed(made, billing), units)
    calls = priced.join(units, on="unit", maintain_order="left")
    groups = calls.group_by("memory", "setting", "protocol", "stage", maintain_order=True)
    bills = tuple(
        Bill(memory, setting, protocol, stage, len(mine), total(mine))
        for (memory, setting, protocol, stage), mine in groups
    )
    return Repriced(billing.name, bills, total(calls), _unpriced(calls))


def _unpriced(calls: pl.DataFrame) -> tuple[Unpriced, ...]:
    known = pl.when(pl.col("kind") == "embed").then("embedding_tokens").otherwise("input_tokens").is_not_null()
    groups = calls.filter(pl.col("cost_usd").is_null()).group_by("model", "provider", known=known).len()
    return tuple(Unpriced(*row) for row in groups.sort("len", "model", descending=[True, False]).iter_rows())


def _policy(card: PriceCard, model: str, provider: str | None) -> CachePolicy | None:
    return next((price.cache for price in card.find(model, provider)), None)


def _routed(provider: str) -> pl.Expr:
    return pl.when(pl.col("kind") == "chat").then(pl.lit(provider)).otherwise("provider")


def _priced(calls: pl.DataFrame, billing: Billing, hit_share: float) -> pl.DataFrame:
    if billing.caching is Caching.SERVED:
        return price_calls(calls, billing.card)
    card = billing.card
    if billing.caching is Caching.NONE or card is None:
        return price_calls(under_policy(calls, None), card)
    ordered = calls.with_row_index("_order")
    pace = billing.seconds_per_turn
    at = [
        under_policy(mine, _policy(card, model, provider), hit_share=hit_share, seconds_per_turn=pace)
        for (model, provider), mine in ordered.group_by("model", "provider", maintain_order=True)
    ]
    return price_calls(pl.concat(at).sort("_order").drop("_order") if at else calls, card)
