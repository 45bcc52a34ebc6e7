"""The page of a run. Nothing is trusted of what a model or a data set said."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from memgauge.analysis.insides import Insides
from memgauge.analysis.question_rows import Questions
from memgauge.analysis.summary import Group, Summary
from memgauge.report import figures, headline, words
from memgauge.report.call_trees import call_trees_section
from memgauge.report.columns import Marks
from memgauge.report.figure_box import HALF, WIDE, charted, drawings, figure, legend
from memgauge.report.harness import harness_section
from memgauge.report.losses import loss_marks, losses_section
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.notes import notes
from memgauge.report.provenance import caveats, provenance
from memgauge.report.quality.section import quality_section
from memgauge.report.question_browser import browser
from memgauge.report.shell import PageError, document, write_html
from memgauge.report.state_charts import state_charts
from memgauge.report.styles import styles_of
from memgauge.report.tables import detail_table, efficiency_tables, summary_table
from memgauge.report.tabs import tabs
from memgauge.report.terminal import group_title, spent_words

__all__ = ["PageError", "memory_styles", "page", "write_page"]

SCRIPTS = ("page.js", "question_browser.js")

Draw = Callable[[Group, Mapping[str, str], float], str]


def write_page(
    summary: Summary, path: Path, questions: Questions | None = None, insides: Insides | None = None
) -> None:
    """Writes the page to ``path``. Raises PageError where that is not possible."""
    write_html(page(summary, questions, insides), path)


def page(summary: Summary, questions: Questions | None = None, insides: Insides | None = None) -> str:
    """The page as one text; with ``questions`` they can be browsed, with ``insides`` the memories' calls."""
    styles, marks = memory_styles(summary), loss_marks(summary.losses)
    several = len(summary.groups) > 1
    main = element(
        "main",
        *(_group(group, place, styles, marks, several) for place, group in enumerate(summary.groups)),
        quality_section(summary.quality, styles, marks),
        browser(questions, styles) if questions else None,
        losses_section(summary.losses, styles),
        state_charts(insides.states, styles) if insides else None,
        call_trees_section(insides.trees, styles) if insides else None,
        harness_section(summary.harness, styles, marks),
        _spend(summary),
        element("section", element("h2", "How to read this"), notes()),
    )
    ran = summary.ran
    title = f"{ran.name} · memgauge"
    return document(title, "g0", _header(summary, styles), main, ran.memgauge_version, scripts=SCRIPTS)


def memory_styles(summary: Summary) -> dict[str, str]:
    """The class of every memory of the summary."""
    return styles_of((row.memory, row.control) for group in summary.groups for row in group.rows)


def _header(summary: Summary, styles: Mapping[str, str]) -> Markup:
    ran = summary.ran
    parts: list[Part] = [
        element("p", element("span", "memgauge", class_="brand"), element("span", ran.name, class_="run"),
                class_="over"),
    ]  # fmt: skip
    if len(summary.groups) == 1:
        group = summary.groups[0]
        parts.append(element("h1", _title(group, styles)))
        parts.append(element("p", headline.knows(group), class_="lead"))
        if pays := headline.pays(group):
            parts.append(element("p", pays, class_="lead"))
    else:
        parts.append(
            element(
                "h1",
                f"{words.plural(len(ran.memories), 'memory').capitalize()},"
                f" {words.plural(len(summary.groups), 'comparison')}",
            )
        )
        links = [
            element("li", element("a", group_title(group), href=f"#g{place}"), ": ", _title(group, styles), ".")
            for place, group in enumerate(summary.groups)
        ]
        parts.append(element("ul", *links, class_="contents"))
    return element("header", *parts, caveats(summary.caveats), provenance(ran))


def _title(group: Group, styles: Mapping[str, str]) -> Markup:
    start, chosen, rest = headline.title(group)
    name = element("span", chosen, class_=f"named {styles[chosen]}") if chosen else None
    return joined([start, name, rest])


def _group(group: Group, place: int, styles: Mapping[str, str], marks: Marks, several: bool) -> Markup:
    parts: list[Part] = []
    if several:
        parts.append(element("p", group_title(group), class_="over"))
        parts.append(element("h2", _title(group, styles)))
        parts.append(element("p", headline.knows(group), class_="lead"))
        if pays := headline.pays(group):
            parts.append(element("p", pays, class_="lead"))
    parts.append(summary_table(group, styles, marks))
    parts.append(element("p", _unranked(group), class_="faint") if _unranked(group) else None)
    parts.append(
        element(
            "details",
            element("summary", "Further figures: output, calls, waits, and the efficiency of what was served"),
            detail_table(group, styles),
            *efficiency_tables(group, styles),
            class_="more",
        )
    )
    parts.append(legend([row.memory for row in group.rows], styles))
    parts.append(_cumulative(group, place, styles))
    parts.append(_pair(group, styles))
    return element("section", *parts, id=f"g{place}", class_="group")


def _cumulative(group: Group, place: int, styles: Mapping[str, str]) -> Part:
    if not figures.cumulative(group, styles, WIDE):
        return None
    scales = [
        (scale, drawings(partial(figures.cumulative, group, styles, log=scale == "log"))) for scale in ("linear", "log")
    ]
    series = {
        row.memory: {"css": styles[row.memory], "costs": [round(cost, 1) for cost in row.serving.cumulative]}
        for row in group.rows
        if row.serving
    }
    text = "Cumulative model input tokens. A dot marks the turn from which a memory stays cheaper than full history."
    return figure("The bill as the dialogue goes on", text, charted(tabs(f"scale{place}", scales, "Scale"), series))


def _pair(group: Group, styles: Mapping[str, str]) -> Markup:
    """Cost by stage and accuracy against cost, side by side; one that has nothing to show leaves its room."""
    told: list[tuple[str, str, Draw]] = [
        ("What a turn costs", _stages_text(group), figures.by_stage),
        ("Accuracy against cost", "Up and to the left is better. Whiskers are 95 % intervals; the dotted line joins"
         " the memories that none beats on both.", figures.accuracy),
    ]  # fmt: skip
    drawn = [entry for entry in told if entry[2](group, styles, WIDE)]
    room = HALF if len(drawn) > 1 else WIDE
    return element(
        "div",
        *(figure(title, text, drawings(partial(draw, group, styles), room)) for title, text, draw in drawn),
        class_="pair",
    )


def _stages_text(group: Group) -> str:
    used = {
        stage for row in group.rows if row.serving for stage, tokens in row.serving.input_by_stage.items() if tokens
    }
    if used <= {"answer"}:
        return "Mean model input per turn. These memories call the model only to answer."
    return "Mean model input per turn by stage: solid is the answer, lighter is what the memory sends itself."


def _unranked(group: Group) -> str:
    told = [f"{row.memory} is not ranked: {row.unranked}." for row in group.rows if row.unranked and not row.control]
    return " ".join(told)


def _spend(summary: Summary) -> Markup:
    spend = summary.spend
    facts = [("In the attempts that finished", spend.fresh)]
    if spend.replayed.calls:
        facts.append(("Paid earlier and reused", spend.replayed))
    if spend.lost.calls:
        facts.append(("Lost with attempts that died", spend.lost))
    items = [element("div", element("dt", term), element("dd", spent_words(spent))) for term, spent in facts]
    failures = [
        element("li", element("b", f"{failed.memory}, {failed.protocol}, {failed.item}"), f": {failed.error}")
        for failed in summary.ran.failures
    ]
    broken = [element("h3", "What failed"), element("ul", *failures, class_="failures")] if failures else []
    return element("section", element("h2", "What the run spent"), element("dl", *items, class_="facts"), *broken)
