"""Reading price cards; every fault is one line that names file, line and what was expected."""

from datetime import date
from pathlib import Path

import pytest

from memgauge.errors import UnknownNameError
from memgauge.prices import CachePolicy, PriceCardError, card_names, load_card

GOOD = """name = "mine"
date = 2026-09-01

[[price]]
model = "m"
provider = "p"
input = 1
cached_input = 0.5
output = 2.0
cache = { min_tokens = 1024, granularity = 128, ttl_s = 300 }
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "card.toml"
    path.write_text(text, encoding="utf-8")
    return path


def fault(tmp_path: Path, text: str) -> str:
    with pytest.raises(PriceCardError) as caught:
        load_card(written(tmp_path, text))
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(tmp_path))


def test_a_users_card_is_read_from_its_path(tmp_path: Path) -> None:
    card = load_card(written(tmp_path, GOOD))
    assert (card.name, card.date) == ("mine", date(2026, 9, 1))
    (price,) = card.prices
    assert (price.input, price.cached_input, price.output) == (1.0, 0.5, 2.0)
    assert price.cache == CachePolicy(min_tokens=1024, granularity=128, ttl_s=300)


def test_every_card_that_ships_loads() -> None:
    assert "total-recall" in card_names()
    assert [load_card(name).name for name in card_names()] == card_names()


def test_a_misspelt_card_suggests_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'total-recall'"):
        load_card("total-recal")


def test_a_path_without_a_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(PriceCardError, match="no price card at"):
        load_card(tmp_path / "none.toml")


def test_genai_prices_is_a_card_of_any_date() -> None:
    assert load_card("genai-prices@2026-08-01").date == date(2026, 8, 1)
    with pytest.raises(PriceCardError, match="'soon' is no date"):
        load_card("genai-prices@soon")


def test_a_negative_price_is_refused(tmp_path: Path) -> None:
    message = fault(tmp_path, GOOD.replace("output = 2.0", "output = -2.0"))
    assert message == "/card.toml, line 4: m at p: output is -2.0; expected a number of at least 0"


@pytest.mark.parametrize("nonsense", ["nan", "inf", '"cheap"', "true"])
def test_a_price_that_is_no_amount_is_refused(tmp_path: Path, nonsense: str) -> None:
    assert "line 4: m at p: output is" in fault(tmp_path, GOOD.replace("output = 2.0", f"output = {nonsense}"))


def test_a_missing_price_is_refused(tmp_path: Path) -> None:
    message = fault(tmp_path, GOOD.replace("output = 2.0\n", ""))
    assert "line 4: m at p: output price missing; expected USD per million tokens" in message


def test_an_embedding_model_needs_no_input_and_output(tmp_path: Path) -> None:
    text = 'date = 2026-09-01\n[[price]]\nmodel = "e"\nembedding = 0.01\n'
    (price,) = load_card(written(tmp_path, text)).prices
    assert (price.embedding, price.input) == (0.01, None)


def test_a_misspelt_key_names_the_right_one(tmp_path: Path) -> None:
    message = fault(tmp_path, GOOD.replace("cached_input", "cached_inptu"))
    assert "line 4" in message
    assert "did you mean 'cached_input'" in message


def test_a_model_priced_twice_names_both_lines(tmp_path: Path) -> None:
    twice = GOOD + GOOD[GOOD.index("[[price]]") :]
    assert "line 11: m is priced twice (first on line 4)" in fault(tmp_path, twice)


def test_a_card_without_date_is_refused(tmp_path: Path) -> None:
    assert "date is missing" in fault(tmp_path, GOOD.replace("date = 2026-09-01", ""))


def test_malformed_toml_names_the_line(tmp_path: Path) -> None:
    assert "line 1" in fault(tmp_path, "name =\n")


def test_a_policy_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    message = fault(tmp_path, GOOD.replace("granularity = 128", "granularity = 0"))
    assert "cache.granularity is 0; expected a whole number of at least 1" in message
