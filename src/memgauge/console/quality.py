"""How well the memories remember, in a terminal of at most 100 columns."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memgauge.analysis.failures import Cause
from memgauge.analysis.intervals import Estimate
from memgauge.analysis.quality import MemoryQuality, Quality, WorkloadQuality
from memgauge.metrics.score import METRICS
from memgauge.report import words
from memgauge.report.quality.causes import OUTCOMES, UNSCORED, outcomes
from memgauge.report.quality.judge import sensitivity_words
from memgauge.report.quality.tables import Line, best_first, lines, own

WIDTH = 100
_GAP = 2
_INTERVAL = len("0.00–0.00")
_SHORT: Mapping[str, str] = {
    Cause.NOT_STORED: "not stored",
    Cause.NOT_RETRIEVED: "not retrieved",
    Cause.NOT_USED: "not used",
    Cause.ANSWERED_ANYWAY: "answered anyway",
    Cause.JUDGE_ERROR: "judge error",
    Cause.NO_EVIDENCE: "no evidence",
    Cause.UNTRACED: "untraced",
    Cause.NO_VERDICT: "no verdict",
    Cause.NO_ANSWER: "no answer",
    UNSCORED: "not scored",
}


def print_quality(found: Quality, console: Console) -> None:
    """Prints scores by category, and what became of every question; nothing where none was asked."""
    wide = min(console.width, WIDTH)

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), width=wide)

    for table in found.workloads:
        if not table.leading:
            continue
        console.print()
        say(f"{words.group(table.workload, table.setting)}: {_by(table)} by category", "bold")
        for memories in _abreast(table, wide):
            console.print(_table(table, memories), width=wide)
        console.print()
        console.print(_became(table), width=wide)
    for entry in found.judge.prompts:
        console.print()
        say(sensitivity_words(entry, several=len(found.judge.prompts) > 1))


def _by(table: WorkloadQuality) -> str:
    title = METRICS[table.leading or ""].title
    return f"{title} ({table.rubric})" if table.rubric else title


def _table(table: WorkloadQuality, memories: Sequence[MemoryQuality]) -> Table:
    leading, *others = own(table)
    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    drawn.add_column("", overflow="fold")
    drawn.add_column("asked", justify="right", no_wrap=True)
    for memory in memories:
        drawn.add_column(_name(memory), justify="right", no_wrap=True)
    for line in lines(table):
        style = "bold" if line.whole else None
        drawn.add_row(line.name, f"{line.asked:,}", *(_value(_of(line, memory, leading)) for memory in memories),
                      style=style)  # fmt: skip
        if line.name == "all":
            drawn.add_row("  95 %", "", *(_bounds(_of(line, memory, leading)) for memory in memories), style="dim")
    for name in others:
        drawn.add_row(METRICS[name].title, "", *(_value(memory.whole.scores.get(name)) for memory in memories))
    for title, counts in (
        ("no answer", [memory.whole.errors for memory in memories]),
        ("no verdict", [memory.whole.unjudged for memory in memories]),
    ):
        if any(counts):
            drawn.add_row(title, "", *(f"{number:,}" for number in counts), style="yellow")
    return drawn


def _abreast(table: WorkloadQuality, wide: int) -> Iterator[list[MemoryQuality]]:
    """The memories, as many at a time as fit beside each other."""
    names = [line.name for line in lines(table)] + [METRICS[name].title for name in own(table)[1:]]
    room = wide - max(map(len, names)) - len("asked") - 2 * _GAP
    row: list[MemoryQuality] = []
    used = 0
    for memory in best_first(table):
        width = max(len(_name(memory)), _INTERVAL) + _GAP
        if row and used + width > room:
            yield row
            row, used = [], 0
        row.append(memory)
        used += width
    if row:
        yield row


def _became(table: WorkloadQuality) -> Table:
    """What became of every question, one line per memory."""
    found = {_name(memory): outcomes(memory.failures) for memory in best_first(table)}
    used = [name for name in OUTCOMES if any(name in counts for counts in found.values())]
    drawn = _columns(*(_SHORT.get(name, name) for name in used))
    for memory, counts in found.items():
        drawn.add_row(memory, *(f"{counts.get(name, 0):,}" for name in used))
    return drawn


def _columns(*heads: str) -> Table:
    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    drawn.add_column("", overflow="fold")
    for head in heads:
        drawn.add_column(head.replace(" ", "\n"), justify="right", vertical="bottom")
    return drawn


def _name(memory: MemoryQuality) -> str:
    return f"{memory.memory}{' °' if memory.control else ' *' if memory.unranked else ''}"


def _of(line: Line, memory: MemoryQuality, metric: str) -> Estimate | None:
    return line.scores[memory.memory](metric) if memory.memory in line.scores else None


def _value(found: Estimate | None) -> str:
    return words.decimal(found.value if found else None)


def _bounds(found: Estimate | None) -> str:
    return f"{found.low:.2f}–{found.high:.2f}" if found else words.UNKNOWN
