"""The summary in a terminal: at most 100 columns, and nothing is said by colour alone."""

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memgauge.analysis.memory_rows import MemoryRow
from memgauge.analysis.summary import Group, Ran, Spend, Spent, Summary
from memgauge.metrics.score import TOKEN_F1
from memgauge.report import headline, words
from memgauge.report.tables import ordered

WIDTH = 100


def print_summary(summary: Summary, console: Console) -> None:
    """Prints what was run, a table for each group, and what to know before believing it."""
    wide = min(console.width, WIDTH)
    for line in _ran(summary.ran):
        console.print(Text(line, style="dim"), width=wide)
    for group in summary.groups:
        console.print()
        if len(summary.groups) > 1:
            console.print(Text(group_title(group), style="bold"), width=wide)
        start, chosen, rest = headline.title(group)
        console.print(Text.assemble((start, "bold"), (chosen, "bold green"), (f"{rest}.", "bold")), width=wide)
        console.print(Text(headline.knows(group)), width=wide)
        if pays := headline.pays(group):
            console.print(Text(pays), width=wide)
        console.print()
        console.print(_table(group, wide), width=wide)
        for note in _notes(group):
            console.print(Text(note, style="dim"), width=wide)
    console.print()
    console.print(Text(_spend(summary.spend)), width=wide)
    for failure in summary.ran.failures:
        text = f"failed: {failure.memory} {failure.protocol} {failure.item}: {failure.error}"
        console.print(Text(text, style="red"), width=wide)
    for caveat in summary.caveats:
        console.print(Padding(Text(f"! {caveat}", style="yellow"), (0, 0)), width=wide)


def group_title(group: Group) -> str:
    """``sample · default``, with the cell where it is one of the cost grid."""
    return words.group(group.workload, group.setting, group.cell)


def _table(group: Group, width: int) -> Table:
    served = group.per_turn
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("memory", overflow="fold", min_width=min(20, max(len(row.memory) + 2 for row in group.rows)))
    table.add_column("tok/turn" if served else "tok/question", justify="right", no_wrap=True)
    if served:
        table.add_column("break-even", justify="right", no_wrap=True)
    accuracy = "token F1" if group.metric == TOKEN_F1 else group.metric
    for name in (f"{accuracy} [95 %]", "evidence", "errors", "latency, p90" if width >= 92 else "latency"):
        table.add_column(name, justify="right", no_wrap=name != "errors")
    for row in ordered(group):
        cells = [f"{row.memory}{mark(row)}", words.count(row.cost) + ("" if complete(row) else " ?")]
        if served:
            cells.append("reference" if row.reference else words.break_even(row.break_even))
        evidence = row.quality.scores.get("evidence_recall") if row.quality else None
        cells += [
            words.interval(row.accuracy),
            words.percent(evidence.value if evidence else None),
            words.errors(row),
            words.latency(row.latency) if width >= 92 else words.seconds(row.latency.mean if row.latency else None),
        ]
        chosen = group.choice is not None and group.choice.memory == row.memory
        table.add_row(*cells, style="bold" if chosen else "dim" if row.unranked else None)
    return table


def mark(row: MemoryRow) -> str:
    """A sign behind the name of a memory that takes part in no ranking: ° for controls, * for the rest."""
    return " °" if row.control else " *" if row.unranked else ""


def complete(row: MemoryRow) -> bool:
    """Whether every call told its input tokens."""
    ran = row.serving or row.asking
    return ran is None or ran.complete


def _notes(group: Group) -> list[str]:
    served = group.per_turn
    notes = [
        f"{'tok/turn' if served else 'tok/question'}: model input, cached included; evidence: share of the turns"
        " that hold the answer and were recalled; latency: model calls of one"
        f" {'turn' if served else 'question'}, mean and 90th percentile"
    ]
    if any(row.control for row in group.rows):
        notes.append("° control: bounds the table, competes with nobody")
    notes += [f"* {row.memory} is not ranked: {row.unranked}" for row in group.rows if row.unranked and not row.control]
    return notes


def _ran(ran: Ran) -> list[str]:
    models = "; ".join(f"{setting.backbone} ({setting.model}), embedder {setting.embedder}" for setting in ran.settings)
    done = sum(ran.units.values())
    return [
        f"{ran.name}: {words.plural(len(ran.memories), 'memory')} on {', '.join(ran.workloads)}"
        f" ({words.plural(ran.items, 'conversation')}, {words.plural(ran.turns, 'turn')},"
        f" {words.plural(ran.questions, 'question')}; {' and '.join(ran.protocols)})",
        f"{models}; {ran.units.get('done', 0)} of {words.plural(done, 'unit')} done; memgauge {ran.memgauge_version}",
    ]


def _spend(spend: Spend) -> str:
    parts = [f"spent {spent_words(spend.fresh)}"]
    if spend.replayed.calls:
        parts.append(f"reused from earlier attempts {spent_words(spend.replayed)}")
    if spend.lost.calls:
        parts.append(f"lost with attempts that died {spent_words(spend.lost)}")
    return "; ".join(parts)


def spent_words(spent: Spent) -> str:
    """``287 calls, 80k tokens in, 2,771 out (local, no price)``."""
    unknown = f", {spent.unknown} with unknown tokens" if spent.unknown else ""
    embedded = f", {words.count(spent.embedding_tokens)} embedded" if spent.embedding_tokens else ""
    return (
        f"{words.plural(spent.calls, 'call')}, {words.count(spent.input_tokens)} tokens in,"
        f" {words.count(spent.output_tokens)} out{embedded}{unknown} ({words.dollars(spent.money)})"
    )
