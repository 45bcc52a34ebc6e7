"""What a column of a table is: heading, meaning, cell, and what it sorts by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import MemoryRow
from memgauge.report import words
from memgauge.report.markup import Markup, Part, element, joined

Styles = Mapping[str, str]
# What else stands behind a memory's name, by memory: a badge that says what it lost.
Marks = Mapping[str, Markup]
Row = TypeVar("Row")


@dataclass(frozen=True)  # no slots: a subscripted generic, Column[X](…), notes X on the instance
class Column(Generic[Row]):
    """``better`` is the end that is better, ``low`` or ``high``; a row whose ``key`` is None sorts last."""

    title: str
    meaning: str
    show: Callable[[Row], Part]
    key: Callable[[Row], float | str | None]
    better: str = "low"

    @classmethod
    def of_estimate(cls, title: str, meaning: str, find: Callable[[Row], Estimate | None]) -> "Column[Row]":
        """A score with its interval; higher is better."""
        return Column(title, meaning, lambda row: with_interval(find(row)), lambda row: mean(find(row)), "high")

    @classmethod
    def of_number(
        cls,
        title: str,
        meaning: str,
        find: Callable[[Row], float | None],
        told: Callable[[float | None], str] = words.count,
        better: str = "low",
    ) -> "Column[Row]":
        """A plain figure; lower is better unless said otherwise."""
        return Column(title, meaning, lambda row: told(find(row)), find, better)

    @classmethod
    def of_text(cls, title: str, meaning: str, find: Callable[[Row], str]) -> "Column[Row]":
        """A name or a remark."""
        return Column(title, meaning, find, find, "text")


def sortable_table(
    rows: Sequence[Row],
    head: Column[Row],
    columns: Sequence[Column[Row]],
    caption: str,
    css: Callable[[Row], str] = lambda row: "",
    *,
    captioned: bool = True,
) -> Markup:
    """One row each, sortable by heading; ``head`` is the column that names the row, ``css`` its classes.

    ``captioned`` shows the caption.
    """
    heads = [_heading(column) for column in (head, *columns)]
    body = []
    for row in rows:
        cells = [
            element("td", column.show(row), data_value=_sortable(column.key(row)),
                    class_="text" if column.better == "text" else None)
            for column in columns
        ]  # fmt: skip
        named = element("th", head.show(row), scope="row", data_value=_sortable(head.key(row)))
        body.append(element("tr", named, *cells, class_=css(row) or None))
    table = element(
        "table",
        element("caption", caption, class_=None if captioned else "unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="sortable",
    )
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def memory_table(
    rows: Sequence[MemoryRow],
    columns: Sequence[Column[MemoryRow]],
    styles: Styles,
    caption: str,
    *,
    chosen: str | None = None,
    captioned: bool = True,
    marks: Marks | None = None,
) -> Markup:
    """One row per memory; ``chosen`` is set off."""

    def css(row: MemoryRow) -> str:
        marks = ("chosen" if row.memory == chosen else "", "unranked" if row.unranked else "")
        return " ".join((styles[row.memory], *filter(None, marks)))

    def name(row: MemoryRow) -> Markup:
        return joined([named(row.memory, styles), _badges(row), (marks or {}).get(row.memory)])

    head = Column[MemoryRow]("Memory", "by name", name, lambda row: row.memory, "text")
    return sortable_table(rows, head, columns, caption, css, captioned=captioned)


def swatch(memory: str, styles: Styles) -> Markup:
    """The little square in a memory's colour."""
    return element("span", class_=f"swatch {styles[memory]}", aria_hidden="true")


def named(memory: str, styles: Styles) -> Markup:
    """A memory's name behind its colour."""
    return joined([swatch(memory, styles), element("span", memory, class_="name")])


def badge(text: str, meaning: str, css: str = "") -> Markup:
    """A word in a rounded frame that says what is special about a row."""
    return element("span", text, class_=f"badge {css}".strip(), title=meaning)


def with_interval(estimate: Estimate | None) -> Part:
    """``0.42 [0.18, 0.67]``, the value alone where there was one question; the title tells how it was drawn."""
    if estimate is None:
        return words.UNKNOWN
    if estimate.n == 1:
        return element("span", f"{estimate.value:.2f}", class_="figure", title="n = 1")
    how = f"{estimate.method}, n = {estimate.n}"
    return bounded(f"{estimate.value:.2f}", f"[{estimate.low:.2f}, {estimate.high:.2f}]", how)


def bounded(value: str, interval: str, how: str) -> Markup:
    """A figure and, in small, its interval; the title says how that was drawn."""
    return element("span", value, element("small", f" {interval}"), class_="figure", title=how)


def mean(estimate: Estimate | None) -> float | None:
    """The estimated value, if there is one."""
    return estimate.value if estimate else None


def _heading(column: Column[Row]) -> Markup:
    button = element("button", column.title, type="button", title=column.meaning)
    text = "text" if column.better == "text" else None
    return element("th", button, scope="col", data_better=column.better, class_=text)


def _badges(row: MemoryRow) -> Markup:
    badges = []
    if row.control:
        badges.append(badge("control", row.unranked or ""))
    elif row.unranked:
        badges.append(badge("not ranked", row.unranked, "warn"))
    if row.reference:
        badges.append(badge("reference", "what the others are measured against"))
    return joined(badges)


def _sortable(value: float | str | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return f"{value:.9g}".replace("inf", "1e300")
