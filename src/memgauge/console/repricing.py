"""Dollars before and after repricing, in a terminal of at most 100 columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memgauge.analysis.reprice import Bill, Repriced
from memgauge.prices import Total
from memgauge.report import words

WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Row:
    """One memory under one setting and protocol, all stages together."""

    memory: str
    setting: str
    protocol: str
    calls: int
    before: Total
    after: Total


def print_repricing(before: Repriced, after: Repriced, console: Console) -> None:
    """Prints what each memory cost as run and costs under the new billing, and what either sum lacks."""
    wide = min(console.width, WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for head in ("memory", "setting", "played"):
        table.add_column(head, overflow="fold")
    for head in ("calls", "before", "after", "ratio", "complete"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in _rows(before.bills, after.bills):
        table.add_row(Text(row.memory), Text(row.setting), row.protocol, *_figures(row.calls, row.before, row.after))
    table.add_section()
    calls = sum(bill.calls for bill in after.bills)
    table.add_row("total", "", "", *_figures(calls, before.total, after.total), style="bold")
    console.print(Text(f"before: {before.billing}; after: {after.billing}", style="dim"), width=wide)
    console.print(table, width=wide)
    for note in (*_lacking("before", before), *_lacking("after", after)):
        console.print(Text(f"! {note}", style="yellow"), width=wide)


def dollars(total: Total) -> str:
    """The sum; ``≥`` where it lacks calls, ``no price`` where it has none."""
    if total.unpriced and not total.usd:
        return "no price"
    return f"{'' if total.complete else '≥ '}{words.usd(total.usd)}"


def _rows(before: Sequence[Bill], after: Sequence[Bill]) -> Iterator[_Row]:
    keys = dict.fromkeys((bill.memory, bill.setting, bill.protocol) for bill in after)
    for key in keys:
        old, new = (
            [bill for bill in bills if (bill.memory, bill.setting, bill.protocol) == key] for bills in (before, after)
        )
        yield _Row(*key, sum(bill.calls for bill in new), _sum(old), _sum(new))


def _sum(bills: Sequence[Bill]) -> Total:
    totals = [bill.total for bill in bills]
    return Total(
        sum(total.usd for total in totals),
        sum(total.priced for total in totals),
        sum(total.unpriced for total in totals),
        sum(total.full_price_cached_tokens for total in totals),
    )


def _figures(calls: int, before: Total, after: Total) -> list[str]:
    whole = before.complete and after.complete and before.usd > 0
    complete = "yes" if after.complete else f"{after.unpriced:,} unpriced"
    ratio = words.ratio(after.usd / before.usd) if whole else words.UNKNOWN
    return [f"{calls:,}", dollars(before), dollars(after), ratio, complete]


def _lacking(when: str, found: Repriced) -> Iterator[str]:
    """Which calls have no price and why, and what was billed dearer than it may have been."""
    for entry in found.unpriced:
        at = f" at {entry.provider}" if entry.provider else ""
        why = "no price is known; put it on a price card" if entry.usage_known else "its tokens were not reported"
        yield f"{when}: {words.plural(entry.calls, 'call')} of {entry.model}{at} without a price: {why}"
    if tokens := found.total.full_price_cached_tokens:
        yield f"{when}: {words.count(tokens)} cached tokens at the full input price, as no cached price is known"
