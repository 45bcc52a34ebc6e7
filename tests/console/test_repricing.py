"""Dollars before and after, in a terminal."""

import io
from datetime import date

import pytest
from rich.console import Console

from memgauge.analysis.reprice import Billing, Caching, before_and_after
from memgauge.console.repricing import print_repricing
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.prices import Price, PriceCard
from served_ledgers import Memory, served_ledger

M = 1_000_000
CARD = PriceCard("half", date(2026, 8, 1), (Price("gpt-oss-20b", None, input=0.10, output=1.0),))
NO_OUTPUT = {"output_tokens": 0, "reasoning_tokens": 0, "provider": "groq"}


def printed(before, after, width=100):
    out = io.StringIO()
    print_repricing(before, after, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def rows(text):
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.fixture
def frames(tmp_path):
    """Two turns of a million tokens at $0.075 by the run's own card, and a model that no card has."""
    found = served_ledger(
        tmp_path,
        [
            Memory("mem0", lambda size, turn, seed: M, [(2, 10)], call=NO_OUTPUT),
            Memory(
                "om", lambda size, turn, seed: M, [(2, 10)], unit={"model": "x-1"}, call=NO_OUTPUT | {"model": "x-1"}
            ),
        ],
    )
    with Ledger.open(tmp_path / FILE_NAME) as ledger:
        ledger.set_meta("spec", '{"prices": "total-recall"}')
    return found


def test_before_and_after_stand_side_by_side_and_no_price_is_no_zero(frames):
    text = printed(*before_and_after(frames, Billing("card half", CARD, Caching.NONE)))
    lines = rows(text)
    assert "before: as run; after: card half" in lines
    assert "mem0 low serve 2 $0.150 $0.200 1.3× yes" in lines
    assert "om low serve 2 no price no price – 2 unpriced" in lines
    assert "total 4 ≥ $0.150 ≥ $0.200 – 2 unpriced" in lines


def test_what_has_no_price_is_named(frames):
    text = " ".join(printed(*before_and_after(frames, Billing("card half", CARD))).split())
    assert "! before: 2 calls of x-1 at groq without a price: no price is known; put it on a price card" in text
    assert "! after: 2 calls of x-1 at groq without a price: no price is known; put it on a price card" in text


def test_calls_that_did_not_report_their_tokens_are_another_matter(tmp_path):
    frames = served_ledger(tmp_path, [Memory("mem0", lambda size, turn, seed: None, [(2, 10)])])
    text = printed(*before_and_after(frames, Billing("card half", CARD)))
    assert "! after: 2 calls of gpt-oss-20b without a price: its tokens were not reported" in text


def test_cached_tokens_that_are_billed_in_full_are_told(tmp_path):
    frames = served_ledger(
        tmp_path, [Memory("mem0", lambda size, turn, seed: 10, [(2, 10)], call={"cached_tokens": 90})]
    )
    text = printed(*before_and_after(frames, Billing("card half", CARD)))
    assert "! after: 180 cached tokens at the full input price, as no cached price is known" in text


def test_it_stays_within_a_hundred_columns(frames):
    found = before_and_after(frames, Billing("card half", CARD))
    assert max(map(len, printed(*found, width=200).splitlines())) <= 100
