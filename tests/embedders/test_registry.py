"""Embedders by name."""

import subprocess
import sys

import pytest

from embedded_model import needs_embedded_model
from memgauge.embedders import registry
from memgauge.errors import UnknownNameError, UserError


def test_hashing_is_made_by_name() -> None:
    assert registry.create("hashing").model == "hashing-256"


@needs_embedded_model
async def test_minilm_is_made_by_name() -> None:
    embedder = registry.create("minilm")
    assert (embedder.model, embedder.paid, embedder.dimensions) == ("all-minilm-l6-v2-int8", False, 384)
    await embedder.close()


async def test_endpoint_is_made_with_its_address_and_model() -> None:
    embedder = registry.create("endpoint", base_url="http://127.0.0.1:9/v1", model="some-embedder", api_key="k")
    assert (embedder.model, embedder.paid) == ("some-embedder", True)
    await embedder.close()


@pytest.mark.parametrize("given", [{"base_url": "http://127.0.0.1:9/v1"}, {"model": "some-embedder"}])
def test_endpoint_without_address_or_model_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(UserError, match="needs a base URL and a model"):
        registry.create("endpoint", **given)


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown embedder 'minlm'; did you mean 'minilm'"):
        registry.create("minlm")


def test_every_name_is_listed() -> None:
    assert registry.names() == ("endpoint", "hashing", "minilm")


def test_looking_at_the_registry_loads_no_model_runtime() -> None:
    code = "import sys, memgauge.embedders.registry; sys.exit(bool({'onnxruntime', 'aiohttp'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
