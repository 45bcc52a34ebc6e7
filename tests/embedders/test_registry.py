"""Embedders by name."""

import subprocess
import sys

import msgspec
import pytest

from embedded_model import needs_embedded_model
from memgauge.embedders import registry
from memgauge.errors import UnknownNameError, UserError
from memgauge.spec import Setting

ENDPOINT = Setting(embedder="endpoint", base_url="http://127.0.0.1:9/v1", embedding_model="some-embedder")


def test_hashing_is_made_by_name() -> None:
    assert registry.create(Setting(embedder="hashing")).model == "hashing-256"


@needs_embedded_model
async def test_minilm_is_made_by_name() -> None:
    embedder = registry.create(Setting(embedder="minilm"))
    assert (embedder.model, embedder.paid, embedder.dimensions) == ("all-minilm-l6-v2-int8", False, 384)
    await embedder.close()


async def test_endpoint_shares_the_backbones_address() -> None:
    registry.check(ENDPOINT)
    embedder = registry.create(ENDPOINT)
    assert (embedder.model, embedder.paid) == ("some-embedder", True)
    await embedder.close()


@pytest.mark.parametrize("missing", ["base_url", "embedding_model"])
def test_endpoint_without_address_or_model_is_refused(missing: str) -> None:
    with pytest.raises(UserError, match="needs base_url and embedding_model"):
        registry.check(msgspec.structs.replace(ENDPOINT, **{missing: None}))


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown embedder 'minlm'; did you mean 'minilm'"):
        registry.check(Setting(embedder="minlm"))


def test_every_name_is_listed() -> None:
    assert registry.names() == ("endpoint", "hashing", "minilm")


def test_looking_at_the_registry_loads_no_model_runtime() -> None:
    code = "import sys, memgauge.embedders.registry; sys.exit(bool({'onnxruntime', 'aiohttp'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
