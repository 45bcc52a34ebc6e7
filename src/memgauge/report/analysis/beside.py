"""Our figures beside the paper's, one table per published table."""

from collections import Counter
from collections.abc import Sequence

from memgauge.analysis.side_by_side import SideBySide, Verdict
from memgauge.metrics.efficiency import FIGURES as EFFICIENCY
from memgauge.metrics.score import METRICS
from memgauge.report import words
from memgauge.report.columns import Column, sortable_table
from memgauge.report.efficiency import teller
from memgauge.report.markup import Markup, Part, element, joined

TITLES = {
    "table 1": "Table 1: exponents and fit, in ranges over the paper's settings",
    "table 2": "Table 2: accuracy on LoCoMo",
    "table 3": "Table 3: joint matrix at (100, 100)",
    "table 4": "Table 4: joint matrix at (400, 200)",
    "table 6": "Table 6: exponents and fit by setting",
    "table 7": "Table 7: token accounting",
    "table 8": "Table 8: break-even turns",
    "locomo": "LoCoMo",
    "longmemeval": "LongMemEval-S",
    "memoryagentbench icl_banking77_5900shot_balance": "MemoryAgentBench, test-time learning",
    "memoryagentbench factconsolidation_sh_6k": "MemoryAgentBench, conflict resolution",
}

FIGURES = {
    "r2": "R²", "rival_r2": "R², N·L alone", "rival_turn_r2": "R², t·L alone", "loocv_mape": "held-out error",
    "max_ape": "worst cell", "cost_usd": "dollars", "usd_per_correct": "dollars / right answer", "gamma": "γ",
    "zeta_answer": "ζ answer", "zeta_ingest": "ζ ingest",
}  # fmt: skip

MOST_OPEN = 24  # rows of a table that is open from the start

# A sign and a class of the answer list for each verdict, so that nothing is said by colour alone.
SIGNS = {
    Verdict.INSIDE: ("✓", "right"),
    Verdict.OUTSIDE: ("✗", "wrong"),
    Verdict.NO_BOUNDS: ("≈", "partly"),
    Verdict.NOT_COMPARABLE: ("≠", "error"),
    Verdict.NOT_RUN: ("·", "unscored"),
}


def side_by_side_tables(found: Sequence[SideBySide]) -> Markup:
    """Every published table: what is inside and outside, and what cannot be compared and why."""
    parts = []
    for table in dict.fromkeys(row.table for row in found):
        rows = [row for row in found if row.table == table]
        parts.append(_table(TITLES.get(table, table), rows))
    return joined(parts)


def tally(rows: Sequence[SideBySide]) -> str:
    """``4 inside, 1 outside, 9 not comparable``."""
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])


def figure_name(figure: str) -> str:
    """What a figure is called: ``R²``, ``E5 write tokens``, ``P4 judge accuracy``."""
    if figure in EFFICIENCY:
        return f"{EFFICIENCY[figure].id or ''} {EFFICIENCY[figure].title}".strip()
    if figure in METRICS:
        return f"{METRICS[figure].id or 'P6'} {METRICS[figure].title}"
    return FIGURES.get(figure, figure)


def figure_words(value: float | str | None, figure: str) -> str:
    """A figure as the paper prints its kind."""
    if value is None:
        return words.UNKNOWN
    if isinstance(value, str):
        return value
    if figure in ("cost_usd", "usd_per_correct"):
        return words.usd(value)
    if figure == "break-even turn":
        return f"{value:.0f}"
    if figure in EFFICIENCY:
        return teller(figure)(value)
    return words.decimal(value, 2 if figure in _TWO_DIGITS else 3)


def difference_words(row: SideBySide) -> str:
    """Ours less theirs, with its sign."""
    if row.difference is None:
        return words.UNKNOWN
    told = figure_words(abs(row.difference), row.figure)
    sign = ("−" if row.difference < 0 else "+") if told.strip("$0.") else ""
    return f"{sign}{told}"


def bounds_words(row: SideBySide) -> str:
    """The bounds that the verdict is about."""
    if row.bounds is None:
        return words.UNKNOWN
    low, high = (figure_words("never" if bound == float("inf") else bound, row.figure) for bound in row.bounds)
    return f"[{low}, {high}]"


_TWO_DIGITS = ("p", "q", "rival_r2", "rival_turn_r2", "gamma", "zeta_answer", "zeta_ingest")


def _table(title: str, rows: Sequence[SideBySide]) -> Markup:
    ours = [row for row in rows if row.verdict is not Verdict.NOT_RUN]
    missing = [row for row in rows if row.verdict is Verdict.NOT_RUN]
    heading = element("summary", element("b", title), element("span", f" {tally(rows)}", class_="faint"))
    parts: list[Part] = [heading]
    if ours:
        parts.append(sortable_table(ours, _head(), _columns(ours), title, captioned=False))
    if missing:
        memories = words.listed(list(dict.fromkeys(row.memory for row in missing)))
        parts.append(
            element("p", f"{words.plural(len(missing), 'figure')} not in this ledger: of {memories}.", class_="sub")
        )
    judged = any(row.verdict in (Verdict.INSIDE, Verdict.OUTSIDE) for row in rows)
    return element("details", *parts, class_="published", open="" if judged and len(ours) <= MOST_OPEN else None)


def _head() -> Column[SideBySide]:
    return Column.of_text("Memory", "by name", lambda row: row.memory)


def _columns(rows: Sequence[SideBySide]) -> list[Column[SideBySide]]:
    columns: list[Column[SideBySide]] = [Column.of_text("Setting", "ours", lambda row: row.setting)]
    if any(row.cell for row in rows):
        columns.append(Column.of_text("Cell", "turns N × tokens per message L", lambda row: row.cell))
    return [
        *columns,
        Column.of_text("Figure", "what is compared", lambda row: figure_name(row.figure)),
        Column("Ours", "from this ledger", lambda row: figure_words(row.ours, row.figure), lambda row: _key(row.ours)),
        Column("Paper", "as published; of a range its middle", lambda row: figure_words(row.theirs, row.figure),
               lambda row: _key(row.theirs)),
        Column("Difference", "ours less the paper's", difference_words, lambda row: row.difference),
        _bounds_column(rows),
        Column("Verdict", "whether the figure lies within the bounds", _verdict,
               lambda row: row.verdict.value, "text"),
    ]  # fmt: skip


def _bounds_column(rows: Sequence[SideBySide]) -> Column[SideBySide]:
    """What the verdict is about; headed by whose bounds they are, where that is the same for all."""
    whose = {row.bounds_of for row in rows if row.bounds}
    if len(whose) == 1:
        told = whose.pop()
        title = told[0].upper() + told[1:]
        return Column(title, "what the verdict is about", bounds_words, lambda row: None)
    return Column("Bounds", "what the verdict is about", _bounds, lambda row: None)


def _bounds(row: SideBySide) -> Part:
    small = element("small", row.bounds_of) if row.bounds else None
    return joined([element("span", bounds_words(row), class_="figure"), small])


def _verdict(row: SideBySide) -> Markup:
    sign, css = SIGNS[row.verdict]
    told = f" {row.verdict.value}"
    why = element("small", row.why, class_="why") if row.why else None
    return joined([element("b", sign, class_=f"verdict {css}"), told, why])


def _key(value: float | str | None) -> float | None:
    return float("inf") if isinstance(value, str) else value
