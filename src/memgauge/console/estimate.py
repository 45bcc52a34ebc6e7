"""Prints what a plan will use."""

from collections.abc import Sequence

import msgspec
from rich.table import Table

from memgauge.console.screen import wide_console
from memgauge.runner.foresee import Foreseen, Foresight

_SUMMED = ("units", "calls", "input_tokens", "output_tokens", "embedding_tokens")


def print_estimate(foresight: Foresight, as_json: bool) -> None:
    """One row per memory, workload and cell, and the sum."""
    if as_json:
        print(msgspec.json.encode(foresight).decode())
        return
    lines = foresight.lines
    several = len({line.estimate.setting for line in lines}) > 1
    table = Table(box=None, pad_edge=False)
    for heading in ("workload", "memory", *(["setting"] if several else [])):
        table.add_column(heading, no_wrap=True)
    for heading in ("units", "calls", "tokens in", "out", "embedded", "dollars", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        estimate = line.estimate
        setting = [estimate.setting] if several else []
        table.add_row(_played(line), estimate.memory, *setting, *_figures([line]))
    table.add_section()
    table.add_row("total", "", *([""] if several else []), *_figures(lines), style="bold")
    console = wide_console()
    console.print(table)
    most = [line.usd_at_most for line in lines if line.usd_at_most is not None]
    console.print(
        "Rehearsed with rules in place of the model: tokens as o200k counts them, dollars uncached"
        f"{f', at most ${sum(most):,.2f} if every reply is as long as it may be' if most else ' (–: no price known)'};"
        " time a rough guess, one unit at a time.",
        style="dim",
    )
    for word in foresight.left_out:
        console.print(word, style="yellow")


def _played(line: Foreseen) -> str:
    estimate = line.estimate
    cell = " {}×{}".format(*estimate.cell) if estimate.cell else ""
    return f"{estimate.workload} {estimate.protocol}{cell}"


def _figures(lines: Sequence[Foreseen]) -> list[str]:
    sums = [sum(getattr(line.estimate, name) for line in lines) for name in _SUMMED]
    known = [line.usd for line in lines if line.usd is not None]
    at_least = "≥ " if len(known) < len(lines) else ""
    total = sum(known)
    dollars = f"{at_least}${total:,.2f}" if total >= 1 else f"{at_least}${total:.4f}"
    return [*map(_short, sums), dollars if known else "–", _duration(sum(line.seconds for line in lines))]


def _short(figure: int) -> str:
    return f"{figure / 1e6:,.1f}M" if figure >= 1e6 else f"{figure:,}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
