"""The page of an analysis: one self-contained HTML file."""

from functools import partial
from pathlib import Path

from memgauge.analysis.analyze import Analysis
from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.summary import Ran
from memgauge.report import words
from memgauge.report.analysis import drawings, sentences, tables
from memgauge.report.analysis.beside import side_by_side_tables, tally
from memgauge.report.analysis.notes import notes
from memgauge.report.columns import Styles
from memgauge.report.figure_box import WIDE, charted, figure, legend
from memgauge.report.figure_box import drawings as both_widths
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.provenance import caveats, provenance
from memgauge.report.shell import data, document, write_html
from memgauge.report.tabs import tabs


def write_analysis_page(analysis: Analysis, ran: Ran, path: Path) -> None:
    """Writes the page to ``path``; ``ran`` says what was run. Raises PageError where that is not possible."""
    write_html(analysis_page(analysis, ran), path)


def analysis_page(analysis: Analysis, ran: Ran) -> str:
    """The page as one text."""
    styles = drawings.analysis_styles(analysis)
    main = element(
        "main",
        _served(analysis, styles),
        _explained(analysis, styles),
        _pays(analysis, styles),
        _accounting(analysis, styles),
        _joint(analysis, styles),
        _beside(analysis),
        _left_out(analysis),
        element("section", element("h2", "How to read this"), notes()),
    )
    return document(f"{ran.name} · analysis · memgauge", "cost", _header(analysis, ran), main, ran.memgauge_version)


def _header(analysis: Analysis, ran: Ran) -> Markup:
    return element(
        "header",
        element("p", element("span", "memgauge", class_="brand"), element("span", ran.name, class_="run"),
                element("span", "analysis", class_="run"), class_="over"),
        element("h1", sentences.title(analysis)),
        element("p", sentences.explains(analysis), class_="lead"),
        _pays_lead(analysis),
        caveats(_cautions(analysis)),
        provenance(ran),
    )  # fmt: skip


def _pays_lead(analysis: Analysis) -> Markup:
    told = sentences.pays(analysis)
    if not told:
        return element("p", sentences.no_break_even(analysis), class_="lead")
    items = [element("li", element("b", f"in {cost}"), f": {text}") for cost, text in told.items()]
    return joined(
        [element("p", "Cheaper than resending everything,", class_="lead"), element("ul", *items, class_="lead when")]
    )


def _cautions(analysis: Analysis) -> list[str]:
    """Notes on what could not be done; what was merely left out has a section of its own."""
    return [note for note in analysis.notes if " left out" not in note]


def _served(analysis: Analysis, styles: Styles) -> Markup | None:
    found = drawings.settings(analysis)
    if not found:
        return None
    choices = [(setting, _served_under(analysis, styles, setting, place)) for place, setting in enumerate(found)]
    memories = list(dict.fromkeys(curve.memory for curve in analysis.curves))
    return element(
        "section",
        element("h2", "What a conversation costs"),
        legend(memories, styles),
        tabs("setting-cost", choices, "Setting", kind="setting"),
        id="cost",
        class_="group",
    )


def _served_under(analysis: Analysis, styles: Styles, setting: str, place: int) -> Markup:
    cells = drawings.cells(analysis, setting)
    lines, bars = [], []
    for number, cell in enumerate(cells):
        name = f"{place}-{number}"
        units = [
            (sentences.cost_words(cost), _lines(analysis, styles, setting, cell, cost, f"{name}-{unit}"))
            for unit, cost in enumerate(drawings.costs(analysis, setting, cell))
        ]
        lines.append((cell, tabs(f"unit-{name}", units, "In", kind="unit")))
        bars.append((cell, both_widths(partial(drawings.by_stage, analysis, styles, setting, cell))))
    text = (
        "Cumulative cost, the mean over repeats: turns × tokens per message. A dot marks the turn from which a memory"
        " stays cheaper than full history; what is dashed was not measured but fitted."
    )
    stages = [cell for cell in bars if cell[1].count("<rect")]
    return joined(
        [
            figure("The bill as the dialogue goes on", text, tabs(f"lines-{place}", lines, "Cell", kind="cell")),
            figure(
                "What a turn costs", "Mean model input per turn by stage, over all repeats of a cell.",
                tabs(f"bars-{place}", stages, "Cell", kind="cell"),
            ) if stages else _missing("What a turn costs", "No run finished, so there is no mean cost per turn."),
        ]
    )  # fmt: skip


def _lines(analysis: Analysis, styles: Styles, setting: str, cell: str, cost: str, name: str) -> Markup:
    scales = [
        (scale, both_widths(
            partial(drawings.cumulative, analysis, styles, setting, cell, cost, log=scale == "log")
        ))
        for scale in ("linear", "log")
    ]  # fmt: skip
    unit = "tokens" if cost == "tokens" else "usd"
    return charted(
        tabs(f"scale-{name}", scales, "Scale", kind="scale"),
        drawings.series(analysis, styles, setting, cell, cost),
        unit,
    )


def _explained(analysis: Analysis, styles: Styles) -> Markup:
    if not analysis.cost_model:
        return _section(
            "fit", "What explains the cost", _sentence("No cost model: no run of the serve protocol finished.")
        )
    notes = [
        element("li", element("b", f"{entry.memory}, {entry.setting}"), f": {note}")
        for entry in analysis.cost_model
        for note in entry.notes
    ]
    strips = [
        (setting, both_widths(partial(drawings.held_out, analysis, styles, setting)))
        for setting in drawings.settings(analysis)
        if drawings.held_out(analysis, styles, setting, WIDE)
    ]
    title = "Held-out error by cell"
    text = (
        "Each cell predicted by a fit of the others: predicted over measured mean cost per turn, less 1, in per cent."
        " The deeper the shade, the worse; the mean leaves the sign out."
    )
    return _section(
        "fit",
        "What explains the cost",
        tables.cost_model_table(analysis, styles),
        element("ul", *notes, class_="failures") if notes else None,
        figure(title, text, tabs("setting-fit", strips, "Setting", kind="setting"))
        if strips
        else _missing(title, f"{sentences.explains(analysis)}"),
    )


def _pays(analysis: Analysis, styles: Styles) -> Markup:
    missing = dict.fromkeys(
        f"{entry.cell}, {entry.setting}, in {sentences.cost_words(entry.cost)}: {entry.reason}"
        for entry in analysis.break_even.missing
    )
    found = dict.fromkeys(row.setting for row in analysis.break_even.rows)
    by_setting = [(setting, tables.break_even_table(analysis, styles, setting)) for setting in found]
    table = (
        tabs("setting-pays", by_setting, "Setting", kind="setting")
        if by_setting
        else _sentence(sentences.no_break_even(analysis))
    )
    return _section(
        "pays",
        "When each memory pays",
        table,
        element("details", element("summary", f"{words.plural(len(missing), 'comparison')} that could not be made"),
                element("ul", *(element("li", told) for told in missing), class_="failures"), class_="more")
        if missing else None,
        _maps(analysis, styles),
    )  # fmt: skip


def _maps(analysis: Analysis, styles: Styles) -> Markup:
    title = "Where each memory would pay"
    found = [(setting, drawings.maps(analysis, styles, setting)) for setting in drawings.settings(analysis)]
    choices = []
    for setting, entries in found:
        drawn = [
            element(
                "div",
                element("h4", entry.memory, class_=f"named {entry.css}"),
                Markup(entry.draw()),
                data(entry.tiles(), "tiles"),
            )
            for entry in entries
        ]
        if drawn:
            choices.append((setting, element("div", *drawn, class_="maps")))
    if not choices:
        return _missing(title, _why_no_map(analysis))
    text = (
        f"Forecast by the fitted models, in tokens: what a conversation of N turns costs with the memory, as a share of"
        f" {REFERENCE}'s. The line is where it begins to pay: its place at your L is the break-even turn. Dots were"
        " measured, with the turn from which the memory stayed cheaper; an open dot: never within the cell."
    )
    return figure(title, text, tabs("setting-map", choices, "Setting", kind="setting"))


def _why_no_map(analysis: Analysis) -> str:
    fitted = {entry.memory for entry in analysis.cost_model if entry.fit}
    if REFERENCE not in fitted:
        why = next((note for entry in analysis.cost_model if entry.memory == REFERENCE for note in entry.notes), None)
        return f"No map: it needs a cost model of {REFERENCE} ({why or 'which finished no run'})."
    return f"No map: it needs a cost model of a memory beside {REFERENCE}."


def _accounting(analysis: Analysis, styles: Styles) -> Markup | None:
    if not analysis.diagnostics:
        return None
    return _section(
        "tokens",
        "Where the tokens go",
        tables.diagnostics_table(analysis, styles),
        element(
            "details",
            element("summary", "Tokens by stage and class"),
            tables.composition_table(analysis, styles),
            class_="more",
        ),
    )


def _joint(analysis: Analysis, styles: Styles) -> Markup | None:
    if not analysis.joint:
        return None
    memories = dict.fromkeys(row.memory for row in analysis.joint)
    cells = dict.fromkeys(row.cell for row in analysis.joint)
    choices = [
        (cell, joined([tables.joint_table(analysis, styles, cell), _joint_figure(analysis, styles, cell, place)]))
        for place, cell in enumerate(cells)
    ]
    return _section(
        "joint", "Accuracy for its price", legend(list(memories), styles),
        tabs("joint", choices, "Cell", kind="reference"),
    )  # fmt: skip


def _joint_figure(analysis: Analysis, styles: Styles, cell: str, place: int) -> Markup:
    title = "Accuracy against cost"
    choices = [
        (workload, both_widths(partial(drawings.joint, analysis, styles, cell, workload)))
        for of, workload in drawings.joint_groups(analysis)
        if of == cell
    ]
    if not choices:
        return _missing(title, "No figure: no question was answered and scored, so accuracy is unknown.")
    text = (
        "Up and to the left is better. Whiskers are 95 % intervals; the dotted line joins those that none beats on"
        " both."
    )
    return figure(title, text, tabs(f"joint-{place}", choices, "Questions of", kind="workload"))


def _beside(analysis: Analysis) -> Markup:
    rows = analysis.side_by_side
    text = f"“Total Recall at What Cost?”, arXiv 2608.11879, every figure of tables 1 to 4 and 6 to 8: {tally(rows)}."
    return _section("paper", "Beside the paper", element("p", text, class_="sub"), side_by_side_tables(rows))


def _left_out(analysis: Analysis) -> Markup | None:
    if not analysis.excluded:
        return None
    told = [
        element("li", element("b", f"{words.plural(entry.units, 'unit')} of {entry.memory}"),
                f" ({entry.setting}, {entry.where}), {entry.status}" + (f": {entry.error}" if entry.error else ""))
        for entry in analysis.excluded
    ]  # fmt: skip
    lead = f"{words.plural(sum(entry.units for entry in analysis.excluded), 'unit')} in no fit and no mean."
    return _section("left-out", "What was left out", _sentence(lead), element("ul", *told, class_="failures"))


def _section(identity: str, title: str, *parts: Part) -> Markup:
    return element("section", element("h2", title), *parts, id=identity, class_="group")


def _missing(title: str, why: str) -> Markup:
    return element("figure", element("figcaption", element("h3", title)), _sentence(why))


def _sentence(text: str) -> Markup:
    return element("p", text, class_="sub")
