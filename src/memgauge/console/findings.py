"""Prints what the doctor found."""

from collections.abc import Sequence

import msgspec
from rich.table import Table

from memgauge.console.screen import wide_console
from memgauge.products.doctor import Finding

_COLOURS = {"installed": "green", "missing": "dim", "drifted": "red"}


def print_findings(findings: Sequence[Finding], as_json: bool) -> None:
    """One line per thing; below it what is wrong, and what to run."""
    if as_json:
        print(msgspec.json.encode(findings).decode())
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for finding in findings:
        state = f"[{_COLOURS[finding.state]}]{finding.state}[/]"
        table.add_row(finding.name, finding.version or "", state, finding.where or f"run: {finding.remedy}")
        if finding.why:
            table.add_row("", "", "", f"{finding.why}; run: {finding.remedy}")
    wide_console().print(table)
