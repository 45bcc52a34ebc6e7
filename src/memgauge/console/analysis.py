"""An analysis in a terminal: at most 100 columns, and nothing is said by colour alone."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memgauge.analysis.analyze import Analysis
from memgauge.analysis.cost_model import CostModel, Exponent
from memgauge.analysis.diagnostics import Diagnostics
from memgauge.analysis.joint import JointRow
from memgauge.analysis.side_by_side import Verdict
from memgauge.analysis.sustained import Sustained
from memgauge.report import words
from memgauge.report.analysis import sentences
from memgauge.report.analysis.beside import FIGURES, TITLES, bounds_words, figure_words, tally
from memgauge.report.analysis.tables import interval_words, metric_words

WIDTH = 100
_ROOMY = 94  # columns from which on every table fits as it is; below, the widest leave something out

_Row = TypeVar("_Row")


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Prints the finding, every table, and what could not be done."""
    wide = min(console.width, WIDTH)

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style=style), width=wide)

    say(f"{sentences.title(analysis)}.", "bold")
    say(sentences.explains(analysis))
    told = sentences.pays(analysis)
    for cost, text in told.items():
        say(f"Cheaper than resending everything, in {cost}: {text}.")
    if not told:
        say(sentences.no_break_even(analysis))
    for heading, table, note in _tables(analysis, roomy=wide >= _ROOMY):
        console.print()
        say(heading, "bold")
        console.print(table, width=wide)
        if note:
            say(note, "dim")
    console.print()
    _print_beside(analysis, say)
    for entry in analysis.cost_model:
        for note in entry.notes:
            say(f"! {entry.memory}, {entry.setting}: {note}", "yellow")
    for note in analysis.notes:
        say(f"! {note}", "yellow")


def _tables(analysis: Analysis, *, roomy: bool) -> list[tuple[str, Table, str]]:
    """The tables that have a row, each with its heading and what explains it."""
    costs = list(dict.fromkeys(row.cost for row in analysis.break_even.rows))
    beside = 3 if roomy else 2  # units of cost side by side
    found = [
        ("What explains the cost", _cost_models(analysis.cost_model, roomy),
         "log(C+1) = a + p·log(L+1) + q·log(t+1), 95 % by CR2; held out: error of cells that the fit has not seen,"
         " mean and worst; R² N·L: of the whole content alone"),
        *(("When each memory pays", _break_even(analysis.break_even.rows, costs[start : start + beside]),
           "turn from which the cumulative cost stays below full history's [95 % over repeats], and the ratio at the"
           " end; 0: from the start; * full history was cut off, and is fitted beyond")
          for start in range(0, len(costs), beside)),
        ("Where the tokens go", _diagnostics(analysis.diagnostics),
         "γ: output over input; ζ: reasoning over visible output; in …: the stage's share of all prompt tokens"),
        ("Accuracy for its price", _joint(analysis.joint),
         f"{_metric(analysis.joint)}; cost per conversation of the cell; front ✓: none beats it on both"),
    ]  # fmt: skip
    return [entry for entry in found if entry[1].row_count]


_MORE = ("R² N·L", "folds", "runs")


def _cost_models(models: Sequence[CostModel], roomy: bool) -> Table:
    def cells(entry: CostModel) -> list[str]:
        fit = entry.fit
        exponents = [_exponent(found) for found in ((fit.p, fit.q) if fit else (None, None))]
        more = [_decimals(fit.rival_r2 if fit else None), str(len(entry.held_out)), str(entry.runs)]
        return [
            entry.memory, *exponents, _decimals(fit.r2 if fit else None), words.error(entry.loocv_mape),
            words.error(entry.max_ape), *(more if roomy else ()),
        ]  # fmt: skip

    table = _table(("memory", "p [95 %]", "q [95 %]", "R²", "held out", "worst", *(_MORE if roomy else ())))
    _fill(table, models, lambda entry: entry.setting, cells)
    return table


def _break_even(rows: Sequence[Sustained], costs: Sequence[str]) -> Table:
    found = {(row.setting, row.memory, row.cell, row.cost): row for row in rows}

    def cells(key: tuple[str, str, str]) -> list[str]:
        mine = [found.get((*key, cost)) for cost in costs]
        told = [part for row in mine for part in ((_turn(row), words.ratio(row.ratio)) if row else ("–", "–"))]
        return [key[1], key[2], *told]

    table = _table(("memory", "cell", *(part for cost in costs for part in (_short(cost), "ratio"))))
    _fill(table, list(dict.fromkeys(key[:3] for key in found)), lambda key: key[0], cells)
    return table


def _diagnostics(rows: Sequence[Diagnostics]) -> Table:
    stages = list(dict.fromkeys(stage.stage for row in rows for stage in row.stages if stage.input_share))

    def cells(row: Diagnostics) -> list[str]:
        shares = {stage.stage: stage.input_share for stage in row.stages}
        figures = (row.gamma, row.gamma_visible, row.zeta_answer, row.zeta_ingest)
        return [row.memory, *map(_decimals, figures), *(words.percent(shares.get(stage)) for stage in stages)]

    table = _table(("memory", "γ", "γ visible", "ζ answer", "ζ ingest", *(f"in {stage}" for stage in stages)))
    _fill(table, rows, lambda row: row.setting, cells)
    return table


def _joint(rows: Sequence[JointRow]) -> Table:
    def cells(row: JointRow) -> list[str]:
        found = row.accuracy
        accuracy = f"{found.value:.2f} [{found.interval[0]:.2f}, {found.interval[1]:.2f}]" if found else words.UNKNOWN
        return [
            row.memory + (" °" if row.control else ""), row.cell, accuracy, words.count(row.cost.input_tokens),
            words.usd(row.cost.usd), words.usd(row.usd_per_correct), "✓" if row.on_front else "",
        ]  # fmt: skip

    table = _table(("memory", "cell", "accuracy [95 %]", "input tokens", "dollars", "per right answer", "front"))
    _fill(table, rows, lambda row: row.setting, cells)
    return table


def _print_beside(analysis: Analysis, say: Callable[[str, str], None]) -> None:
    say("Beside the paper", "bold")
    for table, rows in groupby(analysis.side_by_side, lambda row: row.table):
        mine = list(rows)
        say(f"{TITLES.get(table, table)}: {tally(mine)}", "")
        for row in mine:
            if row.verdict is Verdict.OUTSIDE and table == "table 1":
                ours, theirs = figure_words(row.ours, row.figure), bounds_words(row)
                figure = FIGURES.get(row.figure, row.figure)
                say(f"  ✗ {row.memory}, {row.setting}: {figure} {ours} outside {theirs}, {row.bounds_of}", "dim")


def _table(heads: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if place == 0 or head == "cell" else "right", overflow="fold")
    return table


def _fill(
    table: Table, rows: Sequence[_Row], setting: Callable[[_Row], str], cells: Callable[[_Row], list[str]]
) -> None:
    """Adds the rows, setting by setting, each under its name where there are several."""
    settings = list(dict.fromkeys(map(setting, rows)))
    for name in settings:
        if len(settings) > 1:
            table.add_row(Text(name, style="italic"))
        for row in rows:
            if setting(row) == name:
                table.add_row(*map(Text, cells(row)))


def _exponent(found: Exponent | None) -> str:
    if found is None or found.interval is None:
        return words.decimal(found.value if found else None)
    value, low, high = map(words.decimal, (found.value, *found.interval))
    return f"{value} [{low}, {high}]"


def _turn(row: Sustained) -> str:
    shown, mark = row.turn, ""
    if row.turn is None and row.extended:
        shown, mark = row.extended.turn, "*"
    told = f"{'never' if shown is None else shown}{mark}"
    return f"{told} {interval_words(row.repeats.low, row.repeats.high)}" if row.repeats else told


def _short(cost: str) -> str:
    """A unit of cost as a heading: ``tokens``, ``usd uncached``, ``usd, groq``."""
    return cost.removesuffix(" cache")


def _metric(rows: Sequence[JointRow]) -> str:
    names = dict.fromkeys(
        f"{metric_words(row.accuracy.metric)} on {row.accuracy.workload}" for row in rows if row.accuracy
    )
    return f"accuracy: {words.listed(list(names))}" if names else "accuracy unknown: nothing was asked and scored"


def _decimals(value: float | None) -> str:
    return words.decimal(value, 3)
