"""The figures of "Total Recall at What Cost?" (arXiv 2608.11879), tables 1–4 and 6–8.

One CSV per kind of figure in ``tables/``, entered from the paper's tables. Memories carry our names, models
the names that prices and ledgers use.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

REFERENCES = ("full-history", "rolling-window")

# The memories that the paper fitted in ranges over its four settings (table 1), with its rival's R² where the
# text states it (§4.1).
RIVAL_R2 = {"rolling-window": (0.39, 0.40)}

HINDSIGHT_CAVEAT = "in the paper its ingest ran on a backbone of its own, whatever the setting (§5.4)"


@dataclass(frozen=True, slots=True)
class Key:
    """A row of the paper: memory, backbone and reasoning effort."""

    memory: str
    model: str
    effort: str


@dataclass(frozen=True, slots=True)
class PublishedFit:
    """A row of table 6."""

    key: Key
    p: float
    q: float
    r2: float
    loocv_mape: float
    max_ape: float


@dataclass(frozen=True, slots=True)
class PublishedAccuracy:
    """A cell of table 2 with its Wilson interval."""

    key: Key
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PublishedCost:
    """A cell of tables 3 and 4: US dollars per conversation, and per correct answer (None: not given)."""

    key: Key
    turns: int
    tokens: int
    cost_usd: float
    usd_per_correct: float | None


@dataclass(frozen=True, slots=True)
class PublishedDiagnostics:
    """A row of table 7; None where the paper gives none."""

    key: Key
    gamma: float
    zeta_answer: float
    zeta_ingest: float | None


@dataclass(frozen=True, slots=True)
class PublishedBreakEven:
    """A cell of table 8: the turn, 0 from the start, None for *never*."""

    key: Key
    turns: int
    tokens: int
    turn: int | None


@dataclass(frozen=True, slots=True)
class Published:
    """The whole of it."""

    fits: tuple[PublishedFit, ...]
    accuracies: tuple[PublishedAccuracy, ...]
    costs: tuple[PublishedCost, ...]
    diagnostics: tuple[PublishedDiagnostics, ...]
    break_evens: tuple[PublishedBreakEven, ...]

    def range_of(self, memory: str, figure: str) -> tuple[float, float]:
        """Table 1: least and greatest ``figure`` (p, q, r2, loocv_mape) of a memory over the four settings."""
        values = [getattr(fit, figure) for fit in self.fits if fit.key.memory == memory]
        return min(values), max(values)


@cache
def load() -> Published:
    """Reads the figures that ship with memgauge."""
    return Published(
        fits=tuple(
            PublishedFit(_key(row), *(float(row[name]) for name in ("p", "q", "r2", "loocv_mape", "max_ape")))
            for row in _rows("fits")
        ),
        accuracies=tuple(
            PublishedAccuracy(_key(row), *(float(row[name]) for name in ("accuracy", "low", "high")))
            for row in _rows("accuracy")
        ),
        costs=tuple(
            PublishedCost(_key(row), *_cell(row), float(row["cost_usd"]), _maybe(row["usd_per_correct"]))
            for row in _rows("joint")
        ),
        diagnostics=tuple(
            PublishedDiagnostics(_key(row), float(row["gamma"]), float(row["zeta_answer"]), _maybe(row["zeta_ingest"]))
            for row in _rows("diagnostics")
        ),
        break_evens=tuple(
            PublishedBreakEven(_key(row), *_cell(row), None if row["turn"] == "never" else int(row["turn"]))
            for row in _rows("break_even")
        ),
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (resources.files("memgauge.published") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())


def _key(row: dict[str, str]) -> Key:
    return Key(row["memory"], row["model"], row["effort"])


def _cell(row: dict[str, str]) -> tuple[int, int]:
    return int(row["turns"]), int(row["tokens"])


def _maybe(text: str) -> float | None:
    return float(text) if text else None
