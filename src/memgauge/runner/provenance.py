"""What a run notes of its memories: what the papers call them, and which version of which outside product played."""

import json
from collections.abc import Iterable

from memgauge.ledger.writer import Ledger
from memgauge.memories import registry
from memgauge.spec import MemoryUse

_THEN = ", then "


def paper_ids(uses: Iterable[MemoryUse]) -> str:
    """What the papers call each memory that they know, as a JSON object by the memory's title."""
    known = {use.title: registry.card(use.name).paper_id for use in uses}
    return json.dumps({title: paper_id for title, paper_id in known.items() if paper_id})


def note_products(ledger: Ledger, uses: Iterable[MemoryUse]) -> None:
    """Enters the version of every outside product; where an earlier attempt had another, both stand, in order.

    What is installed is what its lock pins: no unit begins where the two differ.
    """
    meta = ledger.meta()
    products = (product for use in uses if (product := registry.product(use.name)))
    for name, version in {product.name: f"{product.package} {product.version()}" for product in products}.items():
        key = f"provenance.product.{name}"
        before = meta.get(key)
        if before is None:
            ledger.set_meta(key, version)
        elif before.split(_THEN)[-1] != version:
            ledger.set_meta(key, f"{before}{_THEN}{version}")
