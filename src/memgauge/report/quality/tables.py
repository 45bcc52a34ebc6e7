"""Scores by memory, scores by category, retrieval: each workload by its own metrics."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.quality import MemoryQuality, Scored, WorkloadQuality
from memgauge.metrics.score import JUDGE, LOCOMO, LONGMEMEVAL, MEMORY_AGENT_BENCH, METRICS
from memgauge.report import words
from memgauge.report.columns import Column, Marks, Styles, badge, mean, named, sortable_table
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.tabs import tabs

# The mean over categories, each weighing the same, where a benchmark reports it, and by what name.
AVERAGED = {LONGMEMEVAL: "task-averaged", MEMORY_AGENT_BENCH: "mean of tasks"}
# LoCoMo's categories go by number, since papers swap their names; nearly all published figures are over 1 to 4.
_LOCOMO = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial"}
_OFFICIAL, _CORRECTED = "mab_official", "mab_corrected"
_RETRIEVAL = ("evidence_", "session_", "turn_")

Found = Callable[[str], Estimate | None]  # by metric


@dataclass(frozen=True, slots=True)
class Line:
    """Some questions, each memory's scores on them, and how many a memory was asked.

    ``parts`` are missing for a figure that is no mean over questions.
    """

    name: str
    meaning: str
    asked: int
    scores: dict[str, Found]
    parts: dict[str, Scored]
    whole: bool = False


def own(table: WorkloadQuality) -> tuple[str, ...]:
    """The workload's metrics of answers, the leading one first."""
    return tuple(name for name in table.metrics if not name.startswith(_RETRIEVAL))


def best_first(table: WorkloadQuality) -> list[MemoryQuality]:
    """By the leading metric, controls last."""

    def order(memory: MemoryQuality) -> tuple[bool, float]:
        found = memory.whole.scores.get(table.leading or "")
        return memory.control, -found.value if found else 1.0

    return sorted(table.memories, key=order)


def lines(table: WorkloadQuality) -> list[Line]:
    """The categories, then what is taken together: abstention, all that have an answer, all, the mean of categories."""
    found = [
        _of_scored(name, _meaning(table, name), table, _category(name))
        for name in sorted(table.categories, key=_counted)
    ]
    if not _is_a_category(table):
        found.append(_of_scored("abstention", "questions that the conversation does not answer", table,
                                lambda memory: memory.unanswerable))  # fmt: skip
    if any(memory.answerable for memory in table.memories):
        name = "1 to 4" if table.workload == LOCOMO else "answerable"
        found.append(_of_scored(name, "questions that the conversation answers", table,
                                lambda memory: memory.answerable, whole=True))  # fmt: skip
    found.append(_of_scored("all", "all questions", table, lambda memory: memory.whole, whole=True))
    if table.workload in AVERAGED and any(memory.task_averaged for memory in table.memories):
        scores: dict[str, Found] = {memory.memory: memory.task_averaged.get for memory in table.memories}
        meaning = "mean of the categories' means, each weighing the same"
        found.append(Line(AVERAGED[table.workload], meaning, found[-1].asked, scores, {}, whole=True))
    return found


def scores_table(table: WorkloadQuality, styles: Styles, marks: Marks | None = None) -> Markup:
    """Memory × the workload's metrics over all questions, and what became of the rest."""
    columns = [_score(name) for name in own(table)]
    if table.workload in AVERAGED:
        place = own(table).index(_OFFICIAL) + 1 if _OFFICIAL in table.metrics else 1
        columns[place:place] = _of_benchmark(table)
    return _memory_table(table, [*columns, *_counts(table)], styles, "Scores by memory", marks)


def retrieval_table(table: WorkloadQuality, styles: Styles, marks: Marks | None = None) -> Markup | None:
    """Memory × what was recalled of the evidence; None where no question names its evidence."""
    columns = [_score(name) for name in table.metrics if name.startswith(_RETRIEVAL)]
    return _memory_table(table, columns, styles, "Evidence recalled, by memory", marks) if columns else None


def category_tables(table: WorkloadQuality, styles: Styles, name: str) -> Markup | None:
    """Category × memory, a table for each metric to choose from; None where the questions have no categories.

    MemoryAgentBench's official figure stands below the corrected one.
    """
    if not table.categories:
        return None
    rows = lines(table)
    shown = [metric for metric in own(table) if metric != _OFFICIAL]
    return tabs(name, [(METRICS[metric].title, _categories(table, rows, metric, styles)) for metric in shown], "Metric")


def named_memory(memory: str, control: bool, unranked: str | None, styles: Styles) -> Markup:
    """A memory's name with what is special about it."""
    mark = badge("control", unranked or "") if control else badge("not ranked", unranked, "warn") if unranked else None
    return joined([named(memory, styles), mark])


def scored(found: Estimate | None) -> Part:
    """A score over its interval; the title tells how it was drawn, over how many, and Wilson's beside it."""
    if found is None:
        return words.UNKNOWN
    how = f"n = {found.n:,}; {found.method}"
    if found.wilson:
        how += f"; Wilson [{found.wilson[0]:.2f}, {found.wilson[1]:.2f}]"
    interval = element("small", f"[{found.low:.2f}, {found.high:.2f}]") if found.n > 1 else None
    return element("span", f"{found.value:.2f}", interval, class_="figure stacked", title=how)


def _memory_table(
    table: WorkloadQuality,
    columns: Sequence[Column[MemoryQuality]],
    styles: Styles,
    caption: str,
    marks: Marks | None,
) -> Markup:
    head = Column[MemoryQuality](
        "Memory", "by name", lambda row: joined([named_memory(row.memory, row.control, row.unranked, styles),
                                                 (marks or {}).get(row.memory)]),
        lambda row: row.memory, "text",
    )  # fmt: skip

    def css(row: MemoryQuality) -> str:
        return f"{styles[row.memory]}{' unranked' if row.unranked else ''}"

    return sortable_table(best_first(table), head, columns, caption, css, captioned=False)


def _score(name: str) -> Column[MemoryQuality]:
    metric = METRICS[name]
    meaning = f"{metric.title}{f' ({metric.id})' if metric.id else ''}: mean over questions, with its 95 % interval"
    title = metric.title.replace("-", "\N{NON-BREAKING HYPHEN}")
    return _found(title, meaning, lambda row: row.whole.scores.get(name))


def _of_benchmark(table: WorkloadQuality) -> Iterator[Column[MemoryQuality]]:
    """What LongMemEval and MemoryAgentBench report besides the mean over all questions, by the leading metric."""
    leading = table.leading or ""
    title = METRICS[leading].title
    if any(leading in memory.task_averaged for memory in table.memories):
        yield _found(AVERAGED[table.workload], f"{title}, each category weighing the same",
                     lambda memory: memory.task_averaged.get(leading))  # fmt: skip
    if any(memory.unanswerable for memory in table.memories):
        about = f"{title} on questions that the conversation does not answer"
        yield _found(
            "abstention", about, lambda row: row.unanswerable.scores.get(leading) if row.unanswerable else None
        )


def _found(title: str, meaning: str, find: Callable[[MemoryQuality], Estimate | None]) -> Column[MemoryQuality]:
    return Column[MemoryQuality](title, meaning, lambda row: scored(find(row)), lambda row: mean(find(row)), "high")


def _counts(table: WorkloadQuality) -> Iterator[Column[MemoryQuality]]:
    yield Column[MemoryQuality].of_number("asked", "questions, over all seeds", lambda row: row.whole.asked)

    def lost(row: MemoryQuality) -> Part:
        return joined([f"{row.whole.errors + row.whole.unjudged:,}", _lost(row.whole)])

    verdicts = ", and answers that the judge could not decide" if JUDGE in table.metrics else ""
    yield Column[MemoryQuality](
        "neither", f"questions that ended in an error{verdicts}: neither right nor wrong",
        lost, lambda row: row.whole.errors + row.whole.unjudged,
    )  # fmt: skip


def _categories(table: WorkloadQuality, rows: Sequence[Line], metric: str, styles: Styles) -> Markup:
    columns = [_of_memory(memory.memory, metric, styles) for memory in best_first(table)]
    asked = Column[Line].of_number("asked", "questions, over all seeds", lambda line: line.asked, better="high")
    head = Column[Line]("Category", "by name", _line_name, lambda line: line.name, "text")
    caption = f"{METRICS[metric].title} by category"
    return sortable_table(rows, head, [asked, *columns], caption, lambda line: "together" if line.whole else "",
                          captioned=False)  # fmt: skip


def _of_memory(memory: str, metric: str, styles: Styles) -> Column[Line]:
    def found(line: Line) -> Estimate | None:
        return line.scores[memory](metric) if memory in line.scores else None

    def show(line: Line) -> Part:
        official = line.scores[memory](_OFFICIAL) if metric == _CORRECTED and memory in line.scores else None
        beside = element("small", f"official {official.value:.2f}", class_="figure stacked") if official else None
        return joined([scored(found(line)), beside, _lost(line.parts.get(memory))])

    return Column[Line](named(memory, styles), METRICS[metric].title, show, lambda line: mean(found(line)), "high")


def _lost(part: Scored | None) -> Part:
    if part is None or not part.errors + part.unjudged:
        return None
    told = [f"{part.errors:,} no answer"] * bool(part.errors)
    told += [f"{part.unjudged:,} no verdict"] * bool(part.unjudged)
    return element("small", ", ".join(told), class_="figure stacked lost")


def _line_name(line: Line) -> Part:
    return element("span", line.name, title=line.meaning)


def _of_scored(
    name: str,
    meaning: str,
    table: WorkloadQuality,
    find: Callable[[MemoryQuality], Scored | None],
    *,
    whole: bool = False,
) -> Line:
    parts = {memory.memory: part for memory in table.memories if (part := find(memory))}
    scores: dict[str, Found] = {memory: part.scores.get for memory, part in parts.items()}
    return Line(name, meaning, max((part.asked for part in parts.values()), default=0), scores, parts, whole)


def _counted(name: str) -> list[tuple[bool, float, str]]:
    """A key that sorts numbers in names by their size: ``facts_6k`` before ``facts_32k``."""
    parts = re.split(r"(\d+)", name)
    return [(part.isdecimal(), float(part), "") if part.isdecimal() else (False, 0.0, part) for part in parts]


def _category(name: str) -> Callable[[MemoryQuality], Scored | None]:
    return lambda memory: memory.categories.get(name)


def _meaning(table: WorkloadQuality, name: str) -> str:
    return _LOCOMO.get(name, name) if table.workload == LOCOMO else f"questions of category {name}"


def _is_a_category(table: WorkloadQuality) -> bool:
    """Whether the unanswerable questions, if any, are a category already."""
    found = [memory for memory in table.memories if memory.unanswerable]
    return all(
        any(part.asked == memory.unanswerable.asked and part.scores == memory.unanswerable.scores
            for part in memory.categories.values())
        for memory in found
        if memory.unanswerable
    )  # fmt: skip
