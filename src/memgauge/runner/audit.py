"""Holds a ledger against what the upstream said, and against prices: what ``memgauge verify`` tells."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from memgauge.backbones.base import Usage
from memgauge.backbones.wire import decode
from memgauge.ledger.faults import LedgerError
from memgauge.ledger.frames import Frames
from memgauge.ledger.verify import Finding, verify
from memgauge.prices import PRICED_COLUMNS, PriceCard, price_calls, total

_CLASSES = ("input", "cached", "cache_write", "output", "reasoning")


@dataclass(frozen=True, slots=True)
class Audit:
    """How much was looked at, and everything that was found."""

    units: int
    calls: int
    texts: int
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not any(finding.wrong for finding in self.findings)


def audit(directory: Path, card: PriceCard | None = None) -> Audit:
    """Verifies the ledger of a run; without ``card`` prices are those of the day of each call."""
    frames = Frames(directory)
    found = verify(directory)
    if not any(finding.wrong for finding in found):  # else there may be no reading it
        found += [*_misread(frames), *_served_by_others(frames), *_unpriced(frames, card)]
    units, calls, texts = (_rows(frames, name) for name in ("unit", "call", "text"))
    return Audit(units, calls, texts, tuple(found))


def _rows(frames: Frames, name: str) -> int:
    try:
        return frames.table(f"{name}s", (name,)).height
    except LedgerError:  # found already
        return 0


def _misread(frames: Frames) -> Iterator[Finding]:
    """Calls whose figures are not those of the reply on record. A retried call has the sum of its attempts'."""
    columns = ("call", "reply", "attempts", *(f"{name}_tokens" for name in _CLASSES))
    calls = frames.table("calls", columns, "WHERE outcome = 'ok' AND kind = 'chat' AND attempts = 1")
    bodies = dict(frames.table("texts").iter_rows())
    wrong = []
    for call, reply, _, *figures in calls.iter_rows():
        usage = Usage.from_wire(decode(bodies[reply].encode()).get("usage"))
        if figures != [getattr(usage, name) for name in _CLASSES]:
            wrong.append(call)
    if wrong:
        yield Finding(True, f"calls with other tokens than their reply says: {', '.join(map(str, wrong[:3]))} …")


def _served_by_others(frames: Frames) -> Iterator[Finding]:
    """Calls that another model answered than the one that was asked."""
    calls = frames.table("calls", ("model", "params"), "WHERE outcome = 'ok'")
    asked = dict(frames.table("texts", None, "WHERE text IN (SELECT params FROM calls)").iter_rows())
    served: Counter[tuple[str, str]] = Counter()
    for model, params in calls.iter_rows():
        wanted = decode(asked[params].encode()).get("model")
        if isinstance(wanted, str) and not same_model(wanted, model):
            served[wanted, model] += 1
    for (wanted, model), number in served.items():
        yield Finding(False, f"{number:,} calls to {wanted!r} were answered by {model!r}")


def _unpriced(frames: Frames, card: PriceCard | None) -> Iterator[Finding]:
    served_by = pl.when(pl.col("kind") == "chat").then("backbone").otherwise("embedder")
    every = frames.table("calls", ("unit", "attempt", *PRICED_COLUMNS))
    every = every.join(frames.units().select("unit", "backbone", "embedder"), on="unit")
    paid = every.filter((served_by == "endpoint") | (pl.col("attempt") == 0))  # local models cost nothing
    for name, calls in paid.group_by("model", maintain_order=True):
        priced = total(price_calls(calls, card))
        if not priced.complete:
            yield Finding(False, f"{priced.unpriced:,} of {len(calls):,} calls to {name[0]!r} have no price")


def same_model(asked: str, served: str) -> bool:
    """Whether a server that says ``served`` has served what was ``asked``.

    Names may differ by case, vendor, routing suffix (``:free``), quantisation (``/fp8``) and date.
    """
    one, other = (name.lower().rsplit("/", 1)[-1].split(":")[0] for name in (asked, served))
    bare = asked.lower().split("/")
    return one.startswith(other) or other.startswith(one) or other in bare or one in served.lower().split("/")
