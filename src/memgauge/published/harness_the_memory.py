"""The figures of "Harness the Memory" (arXiv 2608.15008) that its text states; the tables themselves are not in it.

``tables/substrates.csv`` has the paper's eleven memories and their families, ``tables/harness.csv`` the figures.
Figures and workloads carry our names. A figure of which only a bound is stated is a range, and so is one that holds
for every backbone (no model). The paper's read tokens are without the generator's call, as its text counts them.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

JUDGE_MODEL = "gpt-4o-mini"

# Conversations and questions of a whole workload, where the paper says over how many its totals are.
WHOLE = {"locomo": (10, 1986)}


@dataclass(frozen=True, slots=True)
class Substrate:
    """One of the memories M1 to M11, and its family."""

    id: str
    family: str
    title: str


@dataclass(frozen=True, slots=True)
class HarnessFigure:
    """One published figure: between ``low`` and ``high``, which are mostly the same.

    With ``against`` it is what the substrate has above that one. ``category`` narrows the workload to one of its
    tasks, ``model`` is None where the figure is said of every backbone. ``place`` says where it stands.
    """

    workload: str
    category: str | None
    substrate: str
    against: str | None
    model: str | None
    figure: str
    low: float
    high: float
    place: str


@cache
def substrates() -> dict[str, Substrate]:
    """The paper's memories by id, in its order."""
    return {row["id"]: Substrate(**row) for row in _rows("substrates")}


@cache
def figures() -> tuple[HarnessFigure, ...]:
    """Every figure, workload by workload."""
    return tuple(
        HarnessFigure(
            row["workload"],
            row["category"] or None,
            row["substrate"],
            row["against"] or None,
            row["model"] or None,
            row["figure"],
            float(row["low"]),
            float(row["high"]),
            row["place"],
        )
        for row in _rows("harness")
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (resources.files("memgauge.published") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
