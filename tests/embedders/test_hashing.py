"""Vectors without a model."""

import numpy as np
import pytest

from memgauge.backbones.base import Usage
from memgauge.embedders.hashing import Hashing


async def test_texts_that_share_words_lie_closer_than_texts_that_do_not() -> None:
    query, near, far = (await Hashing().embed(["adopted a dog", "she adopted the dog", "rain over Lisbon"])).vectors
    assert query @ near > query @ far + 0.3


async def test_words_that_share_letters_lie_closer_than_words_that_do_not() -> None:
    singular, plural, other = (await Hashing().embed(["concert", "concerts", "umbrella"])).vectors
    assert singular @ plural > singular @ other + 0.3


async def test_case_and_punctuation_do_not_count() -> None:
    plain, loud = (await Hashing().embed(["hello world", "HELLO, world!"])).vectors
    assert np.array_equal(plain, loud)


async def test_vectors_have_length_one_and_the_asked_dimensions() -> None:
    vectors = (await Hashing(64).embed(["one", "two three"])).vectors
    assert vectors.shape == (2, 64)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


async def test_the_hash_is_the_same_on_every_machine_and_in_every_run() -> None:
    # crc32("a") = 3904355907: place 67 of 256, top bit set, so +. Its only trigram "<a>" has crc32 1874297515:
    # place 171, top bit clear, so -. Word and trigrams weigh 1 each; at length 1 both become 1/sqrt(2).
    (vector,) = (await Hashing().embed(["a"])).vectors
    assert {int(i): float(vector[i]) for i in np.flatnonzero(vector)} == pytest.approx({67: 0.5**0.5, 171: -(0.5**0.5)})


async def test_a_text_without_words_is_the_zero_vector() -> None:
    assert not (await Hashing().embed(["", "?!"])).vectors.any()


async def test_lone_surrogates_are_no_trouble() -> None:
    assert (await Hashing().embed(["a\ud800b"])).vectors.shape == (1, 256)


async def test_usage_is_the_tokens_of_all_texts() -> None:
    # "hello world" is two o200k tokens, "hello" one.
    assert (await Hashing().embed(["hello world", "hello"])).usage == Usage(embedding=3, source="tokenizer")
