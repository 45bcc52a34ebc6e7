"""Figures as words: how tokens, seconds, bytes, dollars and shares are written, everywhere alike."""

from collections.abc import Sequence
from math import floor, log10

from memgauge.analysis.break_even import BreakEven
from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import MemoryRow, Seconds
from memgauge.analysis.money import Money

UNKNOWN = "–"


def count(value: float | None) -> str:
    """A count of tokens or calls: ``0.25``, ``7.5``, ``1,340``, ``48k``, ``2.1M``."""
    if value is None:
        return UNKNOWN
    if value >= 999_500:
        return f"{value / 1e6:.1f}M"
    if value >= 99_950:
        return f"{value / 1e3:.0f}k"
    if value >= 10 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def ratio(value: float | None) -> str:
    """One cost over another's: ``46 %``, or ``1.3×`` where it is dearer."""
    if value is None:
        return UNKNOWN
    return f"{value * 100:.0f} %" if value < 1.005 else f"{value:.2g}×"


def percent(value: float | None) -> str:
    """A share in whole per cent."""
    return UNKNOWN if value is None else f"{value * 100:.0f} %"


def interval(estimate: Estimate | None) -> str:
    """A share between 0 and 1 with its interval: ``0.42 [0.18, 0.67]``."""
    if estimate is None:
        return UNKNOWN
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def seconds(value: float | None) -> str:
    """A duration: ``0.4 ms``, ``57 ms``, ``0.91 s``, ``12 s``."""
    if value is None:
        return UNKNOWN
    if value < 0.0095:
        return f"{value * 1000:.1f} ms"
    if value < 0.0995:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 9.95 else f"{value:,.0f} s"


def latency(durations: Seconds | None) -> str:
    """Mean and 90th percentile: ``0.91 s, 1.50 s``."""
    return UNKNOWN if durations is None else f"{seconds(durations.mean)}, {seconds(durations.p90)}"


def size(value: float | None) -> str:
    """Bytes: ``0 B``, ``3.6 kB``, ``1.2 MB``."""
    if value is None:
        return UNKNOWN
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{value / scale:.1f} {unit}"
    return f"{value:.0f} B"


def dollars(money: Money | None) -> str:
    """US dollars; ``≥`` marks a sum that lacks some calls, and no price is never written as 0."""
    if money is None:
        return UNKNOWN
    if money.usd is None:
        return money.note or "no price known"
    return f"{'' if money.complete else '≥ '}{usd(money.usd)}"


def decimal(value: float | None, digits: int = 2) -> str:
    """A figure without a unit: ``0.97``, ``−0.04``."""
    if value is None:
        return UNKNOWN
    told = f"{value:.{digits}f}"
    return told.replace("-", "−" if told.strip("-0.") else "")


def usd(value: float | None) -> str:
    """US dollars in three digits or whole cents: ``$0.000412``, ``$0.0352``, ``$12.40``."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "$0"
    digits = 2 if value >= 1 else min(9, 2 - floor(log10(value)))
    return f"${value:,.{digits}f}"


def usd_tick(value: float) -> str:
    """A round sum on an axis: ``$0.05``, ``$12``."""
    return f"${value:,.6g}"


def error(value: float | None) -> str:
    """A relative error: ``3.2 %``, ``48 %``."""
    if value is None:
        return UNKNOWN
    return f"{value * 100:.1f} %" if value < 0.0995 else f"{value * 100:.0f} %"


def break_even(found: BreakEven | None) -> str:
    """The turn from which a memory is cheaper: ``from the start``, ``turn 7``, ``never in 24``."""
    if found is None or not found.last_turn:
        return UNKNOWN
    if found.turn is None:
        return f"never in {found.last_turn}"
    return f"turn {found.turn}" if found.turn else "from the start"


def group(workload: str, setting: str, cell: tuple[int, int] | None = None) -> str:
    """``sample · default``, with the cell where it is one of the cost grid."""
    return f"{workload} · {setting}{f' · {cell[0]} turns × {cell[1]} tokens' if cell else ''}"


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def errors(row: MemoryRow) -> str:
    """How many questions got no answer and how many units failed: ``0``, ``1 of 10``, ``1 unit``."""
    parts = []
    if row.quality and row.quality.errors:
        parts.append(f"{row.quality.errors} of {row.quality.asked}")
    if row.units.get("failed"):
        parts.append(plural(row.units["failed"], "unit"))
    return ", ".join(parts) or "0"


def plural(number: int, noun: str) -> str:
    """``1 turn``, ``24 turns``, ``5 memories``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
