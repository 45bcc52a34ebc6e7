"""What calls cost under a card. Prices per million tokens, so 1,000,000 tokens cost the price itself."""

from datetime import UTC, date, datetime
from typing import Any

import polars as pl
import pytest

from memgauge.prices import Price, PriceCard, price_calls, total, worst_case

M = 1_000_000
CARD = PriceCard(
    "c",
    date(2026, 8, 1),
    (
        Price("chat", "discount", input=0.10, cached_input=0.04, cache_write=0.125, output=0.50),
        Price("chat", "plain", input=0.20, output=0.40),
        Price("long", "p", input=1.0, output=2.0),
        Price("long", "p", input=3.0, output=4.0, above_tokens=200_000),
        Price("embed", embedding=0.02),
    ),
)
SCHEMA = {
    "model": pl.String, "provider": pl.String, "kind": pl.String, "outcome": pl.String, "started_at": pl.Float64,
    "input_tokens": pl.Int64, "cached_tokens": pl.Int64, "cache_write_tokens": pl.Int64, "output_tokens": pl.Int64,
    "reasoning_tokens": pl.Int64, "embedding_tokens": pl.Int64,
}  # fmt: skip


def calls(*rows: dict[str, Any]) -> pl.DataFrame:
    base = {"model": "chat", "provider": "discount", "kind": "chat", "outcome": "ok", "started_at": 0.0}
    return pl.DataFrame([{**dict.fromkeys(SCHEMA), **base, **row} for row in rows], schema=SCHEMA)


def cost(**row: Any) -> float | None:
    value: float | None = price_calls(calls(row), CARD)["cost_usd"][0]
    return value


def test_each_class_of_tokens_has_its_own_price_and_reasoning_is_billed_as_output() -> None:
    # 0.10 + 0.04 + 0.125 + (1 + 2) * 0.50
    spent = cost(input_tokens=M, cached_tokens=M, cache_write_tokens=M, output_tokens=M, reasoning_tokens=2 * M)
    assert spent == pytest.approx(1.765)


def test_cached_input_without_a_price_of_its_own_is_billed_in_full_and_marked() -> None:
    priced = price_calls(calls({"provider": "plain", "input_tokens": M, "cached_tokens": M, "output_tokens": 0}), CARD)
    assert priced["cost_usd"][0] == pytest.approx(0.40)
    assert priced["cached_at_full_price"][0]
    assert total(priced).full_price_cached_tokens == M


def test_classes_that_the_server_does_not_report_apart_are_contained_in_the_others() -> None:
    assert cost(input_tokens=M, output_tokens=M) == pytest.approx(0.60)


def test_embedding_tokens_are_billed_at_the_embedding_price() -> None:
    assert cost(model="embed", provider=None, kind="embed", embedding_tokens=M) == pytest.approx(0.02)


def test_unknown_usage_and_unknown_price_are_null_and_never_zero() -> None:
    priced = price_calls(
        calls(
            {"input_tokens": None, "output_tokens": 5},
            {"input_tokens": 5, "output_tokens": None},
            {"model": "stranger", "provider": None, "input_tokens": 5, "output_tokens": 5},
            {"model": "stranger", "provider": None, "input_tokens": 0, "output_tokens": 0},
            {"input_tokens": M, "output_tokens": 0},
        ),
        CARD,
    )
    assert priced["cost_usd"].to_list() == [None, None, None, None, pytest.approx(0.10)]
    whole = total(priced)
    assert (whole.usd, whole.priced, whole.unpriced, whole.complete) == (pytest.approx(0.10), 1, 4, False)


def test_a_refused_request_costs_nothing_but_one_that_timed_out_is_unknown() -> None:
    assert cost(outcome="http", input_tokens=None) == 0.0
    assert cost(outcome="budget", input_tokens=None) == 0.0
    assert cost(outcome="timeout", input_tokens=None) is None


def test_a_long_prompt_is_billed_at_the_long_context_price() -> None:
    assert cost(model="long", provider="p", input_tokens=200_000, output_tokens=0) == pytest.approx(0.2)
    assert cost(
        model="long", provider="p", input_tokens=100_000, cached_tokens=100_001, output_tokens=0
    ) == pytest.approx(3 * 0.200001)


def test_rows_keep_their_order_and_columns() -> None:
    frame = calls(
        *({"model": name, "provider": "p", "input_tokens": 1, "output_tokens": 1} for name in ("long", "x") * 3)
    )
    priced = price_calls(frame, CARD)
    assert priced.select(frame.columns).equals(frame)
    assert priced.columns == [*frame.columns, "cost_usd", "cached_at_full_price"]


def test_an_empty_frame_sums_to_nothing_and_is_complete() -> None:
    whole = total(price_calls(calls().clear(), CARD))
    assert (whole.usd, whole.complete) == (0.0, True)


def test_without_a_card_a_call_is_priced_as_of_the_day_it_was_made() -> None:
    made = datetime(2026, 8, 1, 12, tzinfo=UTC).timestamp()
    row = {"model": "gpt-4o-mini", "provider": "openai", "started_at": made, "input_tokens": M, "output_tokens": M}
    assert price_calls(calls(row), None)["cost_usd"][0] == pytest.approx(0.75)


def test_the_worst_case_takes_the_dearest_class_and_the_dearest_provider() -> None:
    # At discount the dearest input is the cache write; where the provider is open, plain's 0.20 is dearer.
    assert worst_case(M, M, "chat", "discount", CARD) == pytest.approx(0.125 + 0.50)
    assert worst_case(M, M, "chat", None, CARD) == pytest.approx(max(0.125 + 0.50, 0.20 + 0.40))
    assert worst_case(M, 0, "chat", None, CARD) == pytest.approx(0.20)
    assert worst_case(M, 0, "embed", None, CARD) == pytest.approx(0.02)


def test_a_model_without_price_has_no_worst_case() -> None:
    assert worst_case(10, 10, "stranger", None, CARD) is None
