"""Two runs, or two memories, held against each other in a terminal of at most 100 columns."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memgauge.analysis.compare import ERRORS, Compared, Comparison, CostChange, Flip, MetricChange
from memgauge.analysis.paired import Change
from memgauge.analysis.unit_costs import COSTS
from memgauge.metrics.score import METRICS
from memgauge.report import words

WIDTH = 100
FLIPS = 20  # listed each way; --json has them all
_ONE_SIDED = 5

Say = Callable[[str, str], None]


def print_compared(found: Compared, console: Console) -> None:
    """Prints every comparison: what changed, how sure that is, which questions flipped."""
    wide = min(console.width, WIDTH)

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), width=wide)

    for place, comparison in enumerate(found.comparisons):
        if place:
            console.print()
        _print(comparison, console, wide, say)


def _print(comparison: Comparison, console: Console, wide: int, say: Say) -> None:
    say(_title(comparison), "bold")
    say(_asked(comparison), "dim")
    changed = [entry for entry in comparison.metrics if _changed(entry)]
    if changed:
        console.print(_metrics(changed), width=wide)
    if same := [_metric(entry.metric) for entry in comparison.metrics if not _changed(entry)]:
        say(f"unchanged: {', '.join(same)}", "dim")
    if costs := [entry for entry in comparison.costs if entry.paired.change.value]:
        console.print(_costs(costs), width=wide)
    if same := [entry.cost for entry in comparison.costs if not entry.paired.change.value]:
        say(f"unchanged: {', '.join(same)}", "dim")
    _flips(comparison, say)
    _one_sided(comparison, say)


def _title(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    setting = a.setting if a.setting == b.setting else f"{a.setting} → {b.setting}"
    where = words.group(comparison.workload, setting)
    if a.run == b.run:
        return f"{a.memory} → {b.memory} in {a.run}, {where}"
    memories = a.memory if a.memory == b.memory else f"{a.memory} → {b.memory}"
    return f"{memories}, {a.run} → {b.run}, {where}"


def _asked(comparison: Comparison) -> str:
    told = (
        f"{words.plural(comparison.questions, 'question')} of both about"
        f" {words.plural(comparison.conversations, 'conversation')}; without an answer: {comparison.errors_a} →"
        f" {comparison.errors_b}; right is what the {comparison.decided_by} says"
    )
    if comparison.unfinished:
        told += f"; {words.percent(comparison.unfinished)} of the conversations were not finished"
    return told


def _metrics(found: Sequence[MetricChange]) -> Table:
    table = _table("metric", "A", "B", "change [95 %]", "p", "better", "worse", "pairs")
    for entry in found:
        paired = entry.paired
        if paired is None:
            table.add_row(_metric(entry.metric), *["–"] * 6, "0")
            continue
        flips = ["" if count is None else f"{count:,}" for count in (entry.better, entry.worse)]
        table.add_row(
            _metric(entry.metric), f"{paired.a:.3f}", f"{paired.b:.3f}", _change(paired.change, _signed),
            _probability(paired.p_value), *flips, f"{paired.n:,}",
        )  # fmt: skip
    return table


def _costs(found: Sequence[CostChange]) -> Table:
    table = _table("cost", "A", "B", "change [95 %]", "p", "conversations")
    for entry in found:
        paired, told = entry.paired, _unit(entry.cost)
        change = _change(paired.relative, _percent) if paired.relative else _UNKNOWN
        table.add_row(
            COSTS[entry.cost].name, told(paired.a), told(paired.b), change, _probability(paired.p_value),
            f"{paired.n:,}",
        )  # fmt: skip
    return table


def _flips(comparison: Comparison, say: Say) -> None:
    if not comparison.flips:
        say("No question flipped.", "")
    for better, sign, style in ((True, "✓", "green"), (False, "✗", "red")):
        flips = [flip for flip in comparison.flips if flip.better == better]
        if not flips:
            continue
        more = f", the first {FLIPS}" if len(flips) > FLIPS else ""
        say(f"{words.plural(len(flips), 'question')} {'wrong → right' if better else 'right → wrong'}{more}:", style)
        for flip in flips[:FLIPS]:
            say(f"  {sign} {_where(flip)} {_cut(flip.text, 70)}", "")
            golds = _cut(" / ".join(flip.golds) or "no answer", 28)
            say(f"      gold: {golds} · A: {_cut(flip.a, 24)} · B: {_cut(flip.b, 24)}", "dim")


def _one_sided(comparison: Comparison, say: Say) -> None:
    for side in "AB":
        alone = [entry for entry in comparison.one_sided if entry.answered == side]
        if alone:
            first = "; ".join(f"{entry.question}: {_cut(entry.why, 60)}" for entry in alone[:_ONE_SIDED])
            more = "; …" if len(alone) > _ONE_SIDED else ""
            say(f"{words.plural(len(alone), 'question')} only {side} answered: {first}{more}", "yellow")


def _changed(entry: MetricChange) -> bool:
    return entry.paired is None or bool(entry.paired.change.value or entry.better or entry.worse)


def _metric(name: str) -> str:
    return "errors" if name == ERRORS else METRICS[name].title


def _change(change: Change, told: Callable[[float], str]) -> str:
    if change.low is None or change.high is None:
        return told(change.value)
    return f"{told(change.value)} [{told(change.low)}, {told(change.high)}]"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _percent(value: float) -> str:
    return f"{value * 100:+.1f} %".replace("-", "−")


def _probability(p: float | None) -> str:
    return _UNKNOWN if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _unit(cost: str) -> Callable[[float | None], str]:
    if cost.startswith("usd"):
        return words.usd
    if cost.startswith("seconds"):
        return words.seconds
    return words.size if cost.endswith("bytes") else words.count


def _where(flip: Flip) -> str:
    return flip.question if flip.question.startswith(flip.item) else f"{flip.item} {flip.question}"


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True)
    return table


_UNKNOWN = words.UNKNOWN
