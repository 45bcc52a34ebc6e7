"""Which price on a card a call is given."""

from datetime import date

from memgauge.prices import Price, PriceCard, load_card

CARD = PriceCard(
    "c",
    date(2026, 8, 1),
    (
        Price("gpt-oss-20b", "groq", input=0.075, output=0.30),
        Price("gpt-oss-20b", "google-vertex", input=0.07, output=0.25, aliases=("google",)),
        Price("embed-1", embedding=0.004),
        Price("solo", "groq", input=1.0, output=2.0),
    ),
)


def inputs(model: str, provider: str | None) -> list[float | None]:
    return [price.input for price in CARD.find(model, provider)]


def test_vendor_prefix_case_and_quantisation_suffix_do_not_matter() -> None:
    assert inputs("openai/GPT-OSS-20B", "Groq/bf16") == [0.075]


def test_an_alias_of_a_provider_is_the_provider() -> None:
    assert inputs("gpt-oss-20b", "Google") == [0.07]


def test_a_call_that_does_not_say_who_served_it_has_no_price_where_the_card_leaves_a_choice() -> None:
    assert inputs("gpt-oss-20b", None) == []
    assert inputs("solo", None) == [1.0]


def test_a_price_without_provider_holds_wherever_the_model_is_served() -> None:
    assert [price.embedding for price in CARD.find("embed-1", "anyone")] == [0.004]
    assert [price.embedding for price in CARD.find("embed-1", None)] == [0.004]


def test_a_model_that_runs_locally_has_no_price() -> None:
    assert CARD.find("SmolLM2-135M-Instruct", None) == ()


def test_open_weights_without_provider_are_not_looked_up_elsewhere() -> None:
    empty = PriceCard("empty", date(2026, 8, 1))
    assert empty.find("gpt-oss-20b", None) == ()
    assert empty.find("openai/gpt-oss-20b", None) == ()


def test_a_model_that_is_not_on_the_card_is_looked_up_as_of_the_cards_date() -> None:
    (price,) = CARD.find("gpt-4o-mini", "openai")
    assert (price.input, price.cached_input, price.output) == (0.15, 0.075, 0.60)
    assert price.cache is not None
    assert price.cache.granularity == 128


def test_a_long_context_price_is_looked_up_with_its_tiers() -> None:
    card = PriceCard("empty", date(2026, 1, 1))
    prices = card.find("claude-sonnet-4-5", "anthropic")
    assert [(price.above_tokens, price.input) for price in prices] == [(0, 3.0), (200_000, 6.0)]


def test_the_papers_card_has_its_providers_and_only_groq_discounts_cached_input() -> None:
    card = load_card("total-recall")
    listed = {(price.model, price.provider): price for price in card.prices}
    assert len(listed) == 7
    assert listed["gpt-oss-20b", "groq"].cached_input == 0.0375
    assert listed["gemma-4-26b-a4b-it", "io-net/bf16"].cached_input == 0.15
    assert listed["gpt-oss-20b", "amazon-bedrock"].cached_input is None
    assert [price.provider for price in card.prices if price.cache] == ["groq"]
