"""Prints what can be named, and the data sets."""

from collections.abc import Sequence

import msgspec
from rich.table import Table

from memgauge.catalogue import Dataset, Entry
from memgauge.console.screen import wide_console


def print_catalogue(entries: Sequence[Entry], as_json: bool) -> None:
    """One line per name, grouped by kind."""
    if as_json:
        print(msgspec.json.encode(entries).decode())
        return
    table = _table()
    kind = None
    for entry in entries:
        if entry.kind != kind:
            kind = entry.kind
            table.add_section()
            table.add_row(f"[bold]{kind}[/bold]", "", "")
        table.add_row(f"  {entry.name}", entry.paper_id or "", entry.summary)
    wide_console().print(table)


def print_datasets(datasets: Sequence[Dataset], as_json: bool) -> None:
    """One line per file."""
    if as_json:
        print(msgspec.json.encode(datasets).decode())
        return
    table = _table()
    for entry in datasets:
        size = f"{entry.bytes / 1e6:.1f} MB" if entry.bytes else ""
        optional = " (optional)" if entry.optional else ""
        table.add_row(entry.workload, f"{entry.file}{optional}", size, entry.state, entry.licence, entry.source)
    wide_console().print(table)


def _table() -> Table:
    return Table(show_header=False, box=None, pad_edge=False)
