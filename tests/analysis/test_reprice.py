"""One ledger under several bills."""

from datetime import date
from pathlib import Path

import pytest

from memgauge.analysis.reprice import Billing, BillingError, Caching, before_and_after, billed, reprice
from memgauge.analysis.runs import CALL_COLUMNS
from memgauge.ledger.frames import Frames
from memgauge.prices import CachePolicy, Price, PriceCard, load_card
from served_ledgers import Memory, prompt, served_ledger

M = 1_000_000
CARD = PriceCard(
    "c",
    date(2026, 8, 1),
    (
        Price("gpt-oss-20b", "first", input=0.10, cached_input=0.05, output=1.0, cache=CachePolicy(min_tokens=1000)),
        Price("gpt-oss-20b", "second", input=0.20, output=1.0),
    ),
)


def ledger(tmp_path: Path, **call: object) -> Frames:
    """Two calls of a million input tokens each and no output; the second one's prefix of half was met before."""
    return served_ledger(
        tmp_path,
        [Memory("m", lambda size, turn, seed: M, [(2, 10)], call={"output_tokens": 0, "reasoning_tokens": 0, **call})],
    )


def usd(frames: Frames, billing: Billing) -> list[float | None]:
    found: list[float | None] = billed(frames.calls(CALL_COLUMNS), billing)["cost_usd"].to_list()
    return found


HALF = prompt(M, M // 2, 1)


def test_without_caching_every_prompt_token_costs_the_full_price(tmp_path: Path) -> None:
    frames = ledger(tmp_path, provider="first", cached_tokens=M)
    assert usd(frames, Billing("b", CARD, Caching.NONE)) == pytest.approx([0.20, 0.20])
    assert usd(frames, Billing("b", CARD, Caching.SERVED)) == pytest.approx([0.15, 0.15])


def test_by_policy_the_prefix_costs_the_cached_price(tmp_path: Path) -> None:
    frames = ledger(tmp_path, provider="first", prompt=HALF)
    assert usd(frames, Billing("b", CARD, Caching.POLICY)) == pytest.approx([0.075, 0.075])


def test_a_provider_without_a_policy_caches_nothing(tmp_path: Path) -> None:
    frames = ledger(tmp_path, provider="second", prompt=HALF)
    assert usd(frames, Billing("b", CARD, Caching.POLICY)) == pytest.approx([0.20, 0.20])


def test_a_provider_mix_is_billed_by_share_and_breaks_the_cache(tmp_path: Path) -> None:
    frames = ledger(tmp_path, prompt=HALF)
    # Uncached: 0.8 * 0.10 + 0.2 * 0.20. By policy first's half prefix is met in 8 of 10 calls:
    # first costs 0.10 * 0.6 + 0.05 * 0.4 = 0.08, so 0.8 * 0.08 + 0.2 * 0.20.
    mix = {"first": 0.8, "second": 0.2}
    assert usd(frames, Billing("b", CARD, Caching.NONE, mix)) == pytest.approx([0.12, 0.12])
    assert usd(frames, Billing("b", CARD, Caching.POLICY, mix)) == pytest.approx([0.104, 0.104])


def test_a_model_can_be_priced_as_another(tmp_path: Path) -> None:
    frames = ledger(tmp_path, model="extractive")
    assert usd(frames, Billing("b", CARD)) == [None, None]
    priced = Billing("b", CARD, providers={"first": 1.0}, models={"extractive": "gpt-oss-20b"})
    assert usd(frames, priced) == pytest.approx([0.10, 0.10])


def test_a_price_that_is_not_known_leaves_the_total_incomplete(tmp_path: Path) -> None:
    frames = ledger(tmp_path, provider="nobody")
    found = reprice(frames, Billing("b", CARD))
    assert (found.total.usd, found.total.unpriced, found.total.complete) == (0.0, 2, False)


def test_bills_are_split_by_memory_and_stage_and_sum_to_the_total(tmp_path: Path) -> None:
    found = reprice(ledger(tmp_path, provider="first"), Billing("b", CARD))
    assert [(bill.memory, bill.protocol, bill.stage, bill.calls) for bill in found.bills] == [
        ("m", "serve", "answer", 2)
    ]
    assert found.total.usd == pytest.approx(sum(bill.total.usd for bill in found.bills))


def test_the_papers_cache_halves_a_repeated_prefix_at_groq(tmp_path: Path) -> None:
    frames = ledger(tmp_path, prompt=HALF)
    at_groq = Billing("b", load_card("total-recall"), Caching.POLICY, {"groq": 1.0})
    assert usd(frames, at_groq) == pytest.approx([0.075 * 0.75] * 2)


def test_shares_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(BillingError, match=r"sum to 1, not first=0\.5"):
        Billing("b", CARD, providers={"first": 0.5})


def test_a_policy_without_a_card_is_refused() -> None:
    with pytest.raises(BillingError, match="needs a price card"):
        Billing("b", None, Caching.POLICY)


def test_what_has_no_price_is_counted_by_model_and_reason(tmp_path: Path) -> None:
    frames = served_ledger(
        tmp_path,
        [
            Memory("m", lambda size, turn, seed: None if turn == 2 else M, [(3, 10)], call={"model": "unheard-of"}),
            Memory("n", lambda size, turn, seed: M, [(2, 10)], call={"provider": "first"}),
        ],
    )
    found = reprice(frames, Billing("b", CARD))
    assert [(entry.model, entry.usage_known, entry.calls) for entry in found.unpriced] == [
        ("unheard-of", True, 2),
        ("unheard-of", False, 1),
    ]


def test_before_is_what_the_run_itself_would_say(tmp_path: Path) -> None:
    before, after = before_and_after(ledger(tmp_path, provider="first"), Billing("new", CARD))
    # Without a card of the run's own, gpt-oss-20b at a provider that nobody has heard of has no price.
    assert (before.billing, before.total.unpriced, after.total.usd) == ("as run", 2, pytest.approx(0.20))
