"""Dated price cards. Money is nullable: the unknown is ``None`` and makes a total incomplete, never 0."""

from memgauge.prices.card import Price, PriceCard
from memgauge.prices.load import PriceCardError, card_names, load_card
from memgauge.prices.policy import CachePolicy
from memgauge.prices.pricing import PRICED_COLUMNS, Total, price_calls, total, worst_case

__all__ = [
    "PRICED_COLUMNS",
    "CachePolicy",
    "Price",
    "PriceCard",
    "PriceCardError",
    "Total",
    "card_names",
    "load_card",
    "price_calls",
    "total",
    "worst_case",
]
