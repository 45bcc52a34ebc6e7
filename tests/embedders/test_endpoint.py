"""Any OpenAI-compatible server as an embedder."""

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from memgauge.backbones.base import UpstreamError
from memgauge.embedders.endpoint import EndpointEmbedder
from memgauge.errors import UserError
from scripted_upstream import EMBEDDING_MODEL, KEY, Fail, Say, ScriptedUpstream, Send


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(dimensions=3) as server:
        yield server


@pytest.fixture
async def embedder(upstream: ScriptedUpstream) -> AsyncIterator[EndpointEmbedder]:
    embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY, first_wait_s=0.001)
    yield embedder
    await embedder.close()


async def test_vectors_come_in_the_order_of_their_texts(upstream: ScriptedUpstream, embedder: EndpointEmbedder) -> None:
    reply = await embedder.embed(["one", "two words"])  # the upstream hands them out last first
    np.testing.assert_array_equal(reply.vectors, np.array([[3, 0.5, 0.5], [9, 0.5, 0.5]], np.float32))
    assert reply.vectors.dtype == np.float32
    assert (reply.usage.embedding, reply.usage.input, reply.model) == (3, None, EMBEDDING_MODEL)
    assert embedder.dimensions == 3
    assert "dimensions" not in upstream.log[0].body


async def test_dimensions_are_asked_for_where_they_are_set(upstream: ScriptedUpstream) -> None:
    embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY, dimensions=3)
    await embedder.embed(["one"])
    await embedder.close()
    assert upstream.log[0].body["dimensions"] == 3


async def test_base64_is_read_too(upstream: ScriptedUpstream, embedder: EndpointEmbedder) -> None:
    # 1.0 and 2.0 as float32, little endian: 0000803f 00000040.
    body = b'{"data": [{"index": 0, "embedding": "AACAPwAAAEA="}]}'
    upstream.script(Send(body, "application/json"))
    reply = await embedder.embed(["x"])
    np.testing.assert_array_equal(reply.vectors, np.array([[1, 2]], np.float32))
    assert reply.usage.embedding is None


async def test_an_overloaded_server_is_asked_again(upstream: ScriptedUpstream, embedder: EndpointEmbedder) -> None:
    upstream.script(Fail(503), Say())
    assert (await embedder.embed(["x"])).attempts == 2


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": []}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [None]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1}],
        None,
    ],
)
async def test_vectors_that_do_not_fit_the_texts_are_malformed(
    data: Any, upstream: ScriptedUpstream, embedder: EndpointEmbedder
) -> None:
    upstream.script(Say(extra={"data": data}))
    with pytest.raises(UpstreamError, match="embeddings") as caught:
        await embedder.embed(["three small words", "x"])
    assert (caught.value.kind, caught.value.status) == ("malformed", 502)
    assert caught.value.usage.embedding == 4  # it was charged all the same


async def test_the_check_names_the_model_that_is_meant(upstream: ScriptedUpstream) -> None:
    embedder = EndpointEmbedder(upstream.base_url, "scripted-embedd", KEY)
    with pytest.raises(UserError, match="did you mean 'scripted-embed'"):
        await embedder.check()
    await embedder.close()


async def test_the_check_embeds_a_word_where_no_models_are_listed() -> None:
    async with ScriptedUpstream(models=None) as upstream:
        embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY)
        await embedder.check()
        await embedder.close()
        assert [served.path for served in upstream.log] == ["/v1/embeddings"]
