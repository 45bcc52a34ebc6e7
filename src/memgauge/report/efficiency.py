"""The columns of compression and E1 to E15, for any table whose rows have these figures."""

from collections.abc import Callable, Mapping, Sequence

from memgauge.metrics.efficiency import FIGURES, Figure
from memgauge.report import words
from memgauge.report.columns import Column, Row

Figures = Mapping[str, float | None]


def efficiency_columns(rows: Sequence[Row], find: Callable[[Row], Figures]) -> list[Column[Row]]:
    """A column for every figure that some row has, 0 included, in the papers' order."""
    shown = [name for name in FIGURES if any(find(row)[name] is not None for row in rows)]
    return [_column(name, FIGURES[name], find) for name in shown]


def _column(name: str, figure: Figure, find: Callable[[Row], Figures]) -> Column[Row]:
    title = f"{figure.id} {figure.title}" if figure.id else figure.title
    better = "low" if figure.direction else "high"
    return Column.of_number(title, figure.meaning, lambda row: find(row)[name], teller(name), better)


def teller(name: str) -> Callable[[float | None], str]:
    """How a figure of FIGURES is written."""
    match FIGURES[name].unit:
        case "bytes":
            return words.size
        case "seconds":
            return words.seconds
        case "ratio":
            return words.decimal
        case _:
            return words.count
