"""What a call may cost at most is read where it is written: on the card, else in the lists of who sells the model."""

from datetime import date

import pytest

from memgauge.prices import Price, PriceCard
from memgauge.runner.models import pricer
from memgauge.spec import Setting

M = 1_000_000
OPENROUTER = Setting(base_url="https://openrouter.ai/api/v1")
CARD = PriceCard("card", date(2026, 1, 1), (Price("gpt-oss-20b", "x", input=7.0, output=9.0),))


def test_the_card_comes_first() -> None:
    assert pricer(OPENROUTER, "openai/gpt-oss-20b", CARD)(M, M, 0) == pytest.approx(16.0)


def test_what_only_openrouter_lists_is_priced_there_and_nowhere_else() -> None:
    listed = pricer(OPENROUTER, "openai/gpt-oss-20b", None)(M, 0, 0)
    assert listed is not None
    assert listed > 0
    assert pricer(Setting(base_url="http://127.0.0.1:8000/v1"), "openai/gpt-oss-20b", None)(M, 0, 0) is None


def test_what_came_from_the_cache_costs_what_cached_tokens_cost() -> None:
    card = PriceCard("card", date(2026, 1, 1), (Price("m", None, input=1.0, cached_input=0.1, output=2.0),))
    price = pricer(OPENROUTER, "m", card)
    assert price(M, M, 0) == pytest.approx(3.0)
    assert price(M, M, M) == pytest.approx(2.1)  # of the million read, all came from the cache
