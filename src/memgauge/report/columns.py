"""What a column of a table of memories is: heading, meaning, cell, and the number it sorts by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import MemoryRow
from memgauge.report import words
from memgauge.report.markup import Markup, Part, element, joined

Styles = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """``better`` is the end that is better, ``low`` or ``high``; a row whose ``key`` is None sorts last."""

    title: str
    meaning: str
    show: Callable[[MemoryRow], Part]
    key: Callable[[MemoryRow], float | None]
    better: str = "low"

    @classmethod
    def of_estimate(cls, title: str, meaning: str, find: Callable[[MemoryRow], Estimate | None]) -> "Column":
        """A score with its interval; higher is better."""
        return cls(title, meaning, lambda row: with_interval(find(row)), lambda row: mean(find(row)), "high")

    @classmethod
    def of_number(
        cls,
        title: str,
        meaning: str,
        find: Callable[[MemoryRow], float | None],
        told: Callable[[float | None], str] = words.count,
    ) -> "Column":
        """A plain figure; lower is better."""
        return cls(title, meaning, lambda row: told(find(row)), find)


def memory_table(
    rows: Sequence[MemoryRow],
    columns: Sequence[Column],
    styles: Styles,
    caption: str,
    *,
    chosen: str | None = None,
    captioned: bool = True,
) -> Markup:
    """One row per memory, sortable by heading; ``chosen`` is set off, ``captioned`` shows the caption."""
    heads = [element("th", element("button", "Memory", type="button", title="by name"), scope="col")]
    for column in columns:
        button = element("button", column.title, type="button", title=column.meaning)
        heads.append(element("th", button, scope="col", data_better=column.better))
    body = [_row(row, columns, styles, row.memory == chosen) for row in rows]
    table = element(
        "table",
        element("caption", caption, class_=None if captioned else "unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="sortable",
    )
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def swatch(memory: str, styles: Styles) -> Markup:
    """The little square in a memory's colour."""
    return element("span", class_=f"swatch {styles[memory]}", aria_hidden="true")


def with_interval(estimate: Estimate | None) -> Part:
    """``0.42 [0.18, 0.67]``, the value alone where there was one question; the title tells how it was drawn."""
    if estimate is None:
        return words.UNKNOWN
    if estimate.n == 1:
        return element("span", f"{estimate.value:.2f}", class_="figure", title="n = 1")
    small = element("small", f" [{estimate.low:.2f}, {estimate.high:.2f}]")
    how = f"{estimate.method}, n = {estimate.n}"
    return element("span", f"{estimate.value:.2f}", small, class_="figure", title=how)


def mean(estimate: Estimate | None) -> float | None:
    """The estimated value, if there is one."""
    return estimate.value if estimate else None


def _row(row: MemoryRow, columns: Sequence[Column], styles: Styles, chosen: bool) -> Markup:
    cells = [element("td", column.show(row), data_value=_sortable(column.key(row))) for column in columns]
    css = [styles[row.memory], *(["chosen"] if chosen else []), *(["unranked"] if row.unranked else [])]
    name = element("span", row.memory, class_="name")
    head = element("th", swatch(row.memory, styles), name, _badges(row), scope="row", data_value=row.memory)
    return element("tr", head, *cells, class_=" ".join(css))


def _badges(row: MemoryRow) -> Markup:
    badges = []
    if row.control:
        badges.append(element("span", "control", class_="badge", title=row.unranked))
    elif row.unranked:
        badges.append(element("span", "not ranked", class_="badge warn", title=row.unranked))
    if row.reference:
        meaning = "what the others are measured against"
        badges.append(element("span", "reference", class_="badge", title=meaning))
    return joined(badges)


def _sortable(value: float | None) -> str | None:
    return None if value is None else f"{value:.9g}".replace("inf", "1e300")
