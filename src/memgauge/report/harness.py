"""The tables of "Harness the Memory": what each memory knew and spent, family by family, and the paper's figures."""

from collections.abc import Sequence

from memgauge.analysis.harness import Harness
from memgauge.analysis.substrates import KNOWN, SubstrateRow, SubstrateTable
from memgauge.metrics.score import METRICS
from memgauge.report import words
from memgauge.report.analysis.beside import side_by_side_tables, tally
from memgauge.report.columns import Column, Marks, Styles, badge, named, sortable_table
from memgauge.report.efficiency import efficiency_columns
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.quality.tables import scored
from memgauge.report.tabs import Choice, tabs

TITLE = "Harness the Memory"


def harness_section(found: Harness, styles: Styles, marks: Marks) -> Markup | None:
    """None where no question was asked."""
    if not found.tables:
        return None
    parts: list[Part] = [
        element("h2", "By family of memory"),
        element("p", f"The tables of “{TITLE}”, arXiv 2608.15008: what each memory knew and what it spent.",
                class_="sub"),
    ]  # fmt: skip
    several = len(found.tables) > 1
    for place, table in enumerate(found.tables):
        if several:
            parts.append(element("h3", f"{words.group(table.workload, table.setting)} · {table.protocol}"))
        choices: list[Choice] = [
            ("Spent: P5, E1 to E15", _spent(table, styles, marks)),
            ("Knew: P1 to P7, P12", _knew(table, styles, marks)),
        ]
        parts.append(element("div", tabs(f"harness{place}", choices, "Table"), class_="scores"))
    if found.side_by_side:
        parts += [
            element("h3", "Beside the paper"),
            element("p", f"Every figure that its text states for these workloads: {tally(found.side_by_side)}.",
                    class_="sub"),
            side_by_side_tables(found.side_by_side),
        ]  # fmt: skip
    return element("section", *parts, id="harness")


def _spent(table: SubstrateTable, styles: Styles, marks: Marks) -> Markup:
    columns = efficiency_columns(table.rows, lambda row: row.figures)
    told = f"Efficiency, over {_size(table)}"
    part = _table(table, columns, styles, marks, told)
    if all(row.seconds_whole for row in table.rows):
        return part
    resumed = words.listed([row.memory for row in table.rows if not row.seconds_whole])
    note = f"Of {resumed} some calls came from the record of an earlier attempt: E14 and E15 lack their seconds."
    return joined([part, element("p", note, class_="faint")])


def _knew(table: SubstrateTable, styles: Styles, marks: Marks) -> Markup:
    names = [name for name in KNOWN if any(name in row.scores for row in table.rows)]
    return _table(table, [_score(name) for name in names], styles, marks, f"Quality, over {_size(table)}")


def _table(
    table: SubstrateTable, columns: Sequence[Column[SubstrateRow]], styles: Styles, marks: Marks, caption: str
) -> Markup:
    order = {row.memory: f"{place:03}" for place, row in enumerate(table.rows)}
    family = Column[SubstrateRow](
        "Family", "the paper's name of it and its family; – where it is not one of the paper's substrates",
        _family, lambda row: order[row.memory], "text",
    )  # fmt: skip

    def name(row: SubstrateRow) -> Part:
        kind = badge("control", row.unranked or "") if row.control else None
        kind = kind or (badge("not ranked", row.unranked, "warn") if row.unranked else None)
        return joined([named(row.memory, styles), kind, marks.get(row.memory)])

    def css(row: SubstrateRow) -> str:
        return f"{styles[row.memory]}{' unranked' if row.unranked else ''}"

    head = Column[SubstrateRow]("Memory", "by name", name, lambda row: row.memory, "text")
    return sortable_table(table.rows, head, [family, *columns], caption, css)


def _family(row: SubstrateRow) -> Part:
    if row.paper_id is None:
        return words.UNKNOWN
    return joined([row.paper_id, element("small", f" {row.family}", class_="soft") if row.family else None])


def _score(name: str) -> Column[SubstrateRow]:
    def value(row: SubstrateRow) -> float | None:
        return row.scores[name].value if name in row.scores else None

    metric = METRICS[name]
    meaning = f"{metric.title}, mean over questions, with its 95 % interval"
    return Column(f"{KNOWN[name]} {metric.title}", meaning, lambda row: scored(row.scores.get(name)), value, "high")


def _size(table: SubstrateTable) -> str:
    return f"{words.plural(table.conversations, 'conversation')} and {words.plural(table.questions, 'question')}"
