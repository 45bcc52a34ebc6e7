"""The presets name memories that are there, with options that they take."""

import pytest

from memgauge.errors import MissingExtraError
from memgauge.memories import registry
from memgauge.memories.base import Evidence
from memgauge.spec import MemoryUse, load

HARNESS = load("harness-the-memory")
BUILT_IN = registry.Services(None, None, 1000, Evidence({}))  # type: ignore[arg-type]


@pytest.mark.parametrize("use", HARNESS.memory_uses(), ids=lambda use: use.title)
def test_every_memory_of_harness_the_memory_takes_its_options(use: MemoryUse) -> None:
    try:
        registry.check(use.name, use.options)
    except MissingExtraError as absent:
        assert use.optional
        pytest.skip(str(absent))
    if not registry.wants(use.name, "gateway"):
        registry.create(use.name, use.options, BUILT_IN)


def test_harness_the_memory_has_every_substrate_of_the_paper_that_a_hosted_model_can_serve() -> None:
    known = [registry.card(use.name).paper_id for use in HARNESS.memory_uses()]
    assert [one for one in known if one and one.startswith("M")] == [f"M{number}" for number in (*range(1, 9), 10)]
