"""How well the memories remember: scores, categories, retrieval, where answers go wrong, and the judge."""

from functools import partial

from memgauge.analysis.quality import Quality, WorkloadQuality
from memgauge.metrics.score import METRICS
from memgauge.report import words
from memgauge.report.columns import Marks, Styles
from memgauge.report.figure_box import drawings, figure
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.quality.causes import cause_bars, causes_table, key
from memgauge.report.quality.judge import judge_section
from memgauge.report.quality.tables import best_first, category_tables, retrieval_table, scores_table
from memgauge.report.tabs import Choice, tabs


def quality_section(found: Quality, styles: Styles, marks: Marks | None = None) -> Markup | None:
    """None where no question was asked."""
    if not found.workloads:
        return None
    several = len(found.workloads) > 1
    parts: list[Part] = [element("h2", "How well they remember")]
    for place, table in enumerate(found.workloads):
        if several:
            parts.append(element("h3", words.group(table.workload, table.setting)))
        parts += _workload(table, place, styles, marks or {})
    return element("section", *parts, judge_section(found.judge, styles), id="quality")


def about(table: WorkloadQuality) -> Markup:
    """How many questions about how many conversations, and what decides that an answer is right."""
    asked = max((memory.whole.asked for memory in table.memories), default=0)
    told = f"{words.plural(asked, 'question')} about {words.plural(table.conversations, 'conversation')}."
    if table.rubric:
        rubric = element("span", f"{table.rubric}.", class_="whole")
        return joined([told, " A judge decides what is right, by rubric ", rubric])
    leading = f" Best first by {METRICS[table.leading].title}." if table.leading else ""
    return joined([told, leading, " Not judged: an answer is right where it is a gold or holds one."])


def _workload(table: WorkloadQuality, place: int, styles: Styles, marks: Marks) -> list[Part]:
    choices: list[Choice] = [("Scores", scores_table(table, styles, marks))]
    if by_category := category_tables(table, styles, f"metric{place}"):
        choices.append(("By category", by_category))
    if retrieved := retrieval_table(table, styles, marks):
        choices.append(("Evidence recalled", retrieved))
    memories = best_first(table)
    text = (
        "Every question by what became of it; a wrong answer by the first link that broke: evidence stored,"
        " retrieved, used. For a memory that rewrites what it is given, not stored is an upper bound."
    )
    numbers = element("details", element("summary", "The same in numbers"), causes_table(memories), class_="more")
    bars = drawings(partial(cause_bars, memories, words.group(table.workload, table.setting), styles))
    return [
        element("p", about(table), class_="sub"),
        element("div", tabs(f"quality{place}", choices, "Table"), class_="scores"),
        figure("Where answers go wrong", text, key(memories), bars, numbers),
    ]
