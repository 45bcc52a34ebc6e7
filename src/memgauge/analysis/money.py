"""Dollars of a run: what has a price is priced, what runs on the reader's own machine has none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from memgauge.prices import PriceCard, load_card, price_calls

# Models that run on this machine, in this process, for nothing: no price is not a price of 0.
LOCAL_BACKBONES = ("embedded", "extractive", "constant")
LOCAL_EMBEDDERS = ("minilm", "hashing")

LOCAL = "local, no price"


@dataclass(frozen=True, slots=True)
class Money:
    """US dollars; ``usd`` is None where no call has a price, and the whole bill only where ``complete``.

    ``note`` says what the reader must know of it: that the models are local, or that a card was applied to them.
    """

    usd: float | None
    complete: bool
    note: str = ""

    def per(self, count: float) -> "Money":
        """The same, shared out over ``count`` turns or questions."""
        return Money(None if self.usd is None or not count else self.usd / count, self.complete, self.note)


def card_of(meta: Mapping[str, str]) -> PriceCard | None:
    """The price card that the run's spec names, if it names one. Raises UserError where it cannot be read."""
    named = json.loads(meta.get("spec", "{}")).get("prices")
    return load_card(named) if named else None


def priced(calls: pl.DataFrame, units: pl.DataFrame, card: PriceCard | None) -> pl.DataFrame:
    """``calls`` with ``cost_usd`` (nullable) and ``local``; without a card no local call is looked up."""
    chat = pl.col("kind") == "chat"
    local = (chat & pl.col("backbone").is_in(LOCAL_BACKBONES)) | (~chat & pl.col("embedder").is_in(LOCAL_EMBEDDERS))
    marked = calls.join(
        units.select("unit", "backbone", "embedder"), on="unit", how="left", maintain_order="left"
    ).with_columns(local=local.fill_null(False))
    if card is None and marked["local"].all():
        return marked.with_columns(cost_usd=pl.lit(None, pl.Float64))
    found = price_calls(marked, card)
    hidden = pl.col("local") if card is None else pl.lit(False)
    return found.with_columns(pl.when(~hidden).then("cost_usd").alias("cost_usd"))


def bill(calls: pl.DataFrame, card: PriceCard | None) -> Money:
    """The sum of a frame from ``priced``. Local calls without a price do not make it incomplete."""
    known = calls["cost_usd"].is_not_null()
    local = calls["local"]
    complete = bool((known | local).all())
    if not known.any():
        return Money(None, complete, LOCAL if len(calls) and local.all() else "")
    as_if = f"priced as if, by card {card.name}" if card is not None and (known & local).any() else ""
    return Money(float(calls["cost_usd"].sum()), complete, as_if)
