"""What earlier attempts of a run spent, calls that were under way when their process died included."""

from collections import defaultdict
from contextlib import AsyncExitStack

import polars as pl

from memgauge.ledger.flights import FILE_NAME, Flight, Flights
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.meter.budget import BudgetExceeded, Spend
from memgauge.meter.stops import Stop
from memgauge.prices import PRICED_COLUMNS, PriceCard, price_calls
from memgauge.runner.models import OPENROUTER, at_most_usd

_AT_MOST = ("input_at_most", "output_at_most")


def open_flights(ledger: Ledger, stack: AsyncExitStack) -> tuple[Flights, list[Flight]]:
    """The notes on calls under way, and those that a process which died left behind: they are calls now."""
    flights = Flights(ledger.path.with_name(FILE_NAME))
    stack.callback(flights.close)
    left = [flight for flight in flights.left() if ledger.add_flight(flight)]
    ledger.commit()
    flights.clear()
    return flights, left


def spent_by_unit(ledger: Ledger, card: PriceCard | None) -> dict[int, Spend]:
    """What each unit spent, lost calls included; what is unknown counts with the most that it can have been."""
    calls = Frames(ledger.path).table("calls", ("unit", *PRICED_COLUMNS, *_AT_MOST))
    used = pl.sum_horizontal(pl.selectors.ends_with("_tokens"), *_AT_MOST).alias("used")
    spends: dict[int, Spend] = defaultdict(Spend)
    for row in price_calls(calls, card).with_columns(used).iter_rows(named=True):
        spends[row["unit"]] += Spend(row["used"], _usd(row, card))
    return spends


def stop_words(stop: Stop) -> str:
    """Why a run stopped, as its user is told."""
    return f"budget spent: {stop}" if isinstance(stop, BudgetExceeded) else str(stop)


def _usd(row: dict[str, object], card: PriceCard | None) -> float:
    def most(read: int, written: int, cached: int = 0) -> float:
        return at_most_usd(str(row["model"]), card, (None, OPENROUTER), read, written, cached) or 0.0

    def figure(*names: str) -> int:
        return sum(int(row[name] or 0) for name in names)  # type: ignore[call-overload]

    known = row["cost_usd"]
    if known is None:  # the provider is not on the card, or a figure is missing
        read = figure("input_tokens", "cached_tokens", "cache_write_tokens", "embedding_tokens")
        known = most(read, figure("output_tokens", "reasoning_tokens"), figure("cached_tokens"))
    assert isinstance(known, float)
    return known + most(figure("input_at_most"), figure("output_at_most"))
