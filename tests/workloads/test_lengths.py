"""A turn is brought to its length, whatever it was before."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge import tokens
from memgauge.workloads.grammar import Draw, Scenes
from memgauge.workloads.lengths import bounds, fitted
from memgauge.workloads.phrases import TAGS


def test_the_bounds_are_fifteen_percent_in_whole_tokens() -> None:
    assert bounds(100) == (85, 115)  # 1.15 * 100 is 114.99999999999999 in floating point
    assert bounds(10) == (9, 11)  # 8.5 and 11.5
    assert bounds(50) == (43, 57)  # 42.5 and 57.5


def test_a_turn_within_the_bounds_stays_as_it_is() -> None:
    text = "My cousin Nora moved to Ghent in the spring of last year."
    assert fitted(text, tokens.count(text), lambda: "", TAGS) == text


def test_a_long_turn_is_cut_behind_a_word() -> None:
    # Each word of this text is one token, so of 40 words 23 (1.15 * 20) remain.
    text = " ".join(["house"] * 40)
    assert fitted(text, 20, lambda: "", TAGS) == " ".join(["house"] * 23)


def test_a_short_turn_is_padded_before_its_full_stop() -> None:
    # Of the tags in order, the first that brings the 7 tokens to between 9 and 11.
    padded = fitted("Nora lives in Ghent.", 10, lambda: "", ["and I am told it rains there a lot", "honestly"])
    assert padded == "Nora lives in Ghent, honestly."


def test_a_much_too_short_turn_gets_whole_sentences() -> None:
    padded = fitted("Nora lives in Ghent.", 50, lambda: "The kettle is on and it rains.", TAGS)
    assert padded.startswith("Nora lives in Ghent. The kettle is on and it rains. The kettle")


@settings(max_examples=150, deadline=None)
@given(text=st.text(min_size=1, max_size=400), length=st.integers(10, 60), seed=st.integers(0, 9))
def test_any_text_ends_within_the_bounds(text: str, length: int, seed: int) -> None:
    low, high = bounds(length)
    assert low <= tokens.count(fitted(text, length, Scenes(Draw(str(seed))), TAGS)) <= high


@pytest.mark.parametrize("length", [10, 11, 13, 17, 25, 64, 130, 333, 1000])
@pytest.mark.parametrize("text", ["Hi.", "x" * 9000, "word " * 3000, "日本語の文" * 900, "…", ":::"])
def test_odd_texts_end_within_the_bounds_at_any_length(text: str, length: int) -> None:
    low, high = bounds(length)
    assert low <= tokens.count(fitted(text, length, Scenes(Draw("0")), TAGS)) <= high
