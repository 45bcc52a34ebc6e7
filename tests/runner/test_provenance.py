"""What a run notes of its memories."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.memories import registry
from memgauge.memories.base import Card
from memgauge.runner.provenance import note_products, paper_ids
from memgauge.spec import MemoryUse


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        yield ledger


def _product(version: str) -> SimpleNamespace:
    return SimpleNamespace(name="shop", package="shopmem", version=lambda: version)


def test_memories_go_by_their_title_and_only_those_that_the_papers_know() -> None:
    uses = [MemoryUse(name="dense", label="dense, k 20"), MemoryUse(name="bm25"), MemoryUse(name="none")]
    assert json.loads(paper_ids(uses)) == {"dense, k 20": "M1", "bm25": "M2"}


def test_a_card_of_another_package_links_its_memory_to_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "card", lambda name: Card(name, name, "", paper_id="M6"))
    assert json.loads(paper_ids([MemoryUse(name="tree")])) == {"tree": "M6"}


def test_a_product_is_noted_with_its_version_and_what_is_ours_is_not(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "product", {"shop": _product("1.4"), "dense": None}.get)
    note_products(ledger, [MemoryUse(name="shop"), MemoryUse(name="shop", label="shop, k 5"), MemoryUse(name="dense")])
    noted = {key: value for key, value in ledger.meta().items() if key.startswith("provenance.")}
    assert noted == {"provenance.product.shop": "shopmem 1.4"}


def test_a_run_that_is_resumed_on_another_version_names_both(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1.4", "1.4", "1.5", "1.5"):
        monkeypatch.setattr(registry, "product", {"shop": _product(version)}.get)
        note_products(ledger, [MemoryUse(name="shop")])
    assert ledger.meta()["provenance.product.shop"] == "shopmem 1.4, then shopmem 1.5"


def test_mem0_is_noted_as_its_lock_pins_it(ledger: Ledger) -> None:
    note_products(ledger, [MemoryUse(name="mem0-v1")])
    assert ledger.meta()["provenance.product.mem0-v1"].startswith("mem0ai 1.0.")
