"""The tables of the page: the summary first, and behind it further costs and efficiency."""

from collections.abc import Callable, Iterator, Mapping

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import Asking, MemoryRow, Serving
from memgauge.analysis.summary import Group
from memgauge.metrics.score import METRICS
from memgauge.report import svg, words
from memgauge.report.columns import Column, Marks, Styles, mean, memory_table, with_interval
from memgauge.report.efficiency import Figures, efficiency_columns
from memgauge.report.markup import Markup, Part, element, joined


def summary_table(group: Group, styles: Styles, marks: Marks | None = None) -> Markup:
    """Memory × what the reader asked for: what it costs, what it knows, and what else matters."""
    chosen = group.choice.memory if group.choice else None
    caption = "Cost and quality by memory"
    columns = list(_summary(group))
    return memory_table(ordered(group), columns, styles, caption, chosen=chosen, captioned=False, marks=marks)


def detail_table(group: Group, styles: Styles) -> Markup | None:
    """Further costs of the same memories; None where none is known."""
    columns = [column for column in _details() if _known(column, group)]
    return memory_table(group.rows, columns, styles, "Further costs") if columns else None


def efficiency_tables(group: Group, styles: Styles) -> list[Markup]:
    """The efficiency figures of the protocols that ask nothing; those of the others stand by family."""
    tables = []
    silent = [found for found in group.efficiency if found.figures["wall_s_per_question"] is None]
    for protocol in dict.fromkeys(found.protocol for found in silent):
        figures = {found.memory: found.figures for found in silent if found.protocol == protocol}
        rows = [row for row in ordered(group) if row.memory in figures]
        columns = efficiency_columns(rows, _of_memory(figures))
        tables.append(memory_table(rows, columns, styles, f"Efficiency in {protocol}, all finished units"))
    return tables


def ordered(group: Group) -> list[MemoryRow]:
    """Cheapest first, controls last."""
    return sorted(group.rows, key=lambda row: (row.control, row.cost is None, row.cost or 0.0))


def _summary(group: Group) -> Iterator[Column[MemoryRow]]:
    unit = "turn" if group.per_turn else "question"
    most = max((row.cost or 0.0 for row in group.rows), default=0.0)
    full = next((row.cost for row in group.rows if row.reference), None)
    yield Column[MemoryRow](
        f"Input tokens / {unit}", f"model input tokens per {unit} over all stages, cached input included",
        lambda row: _cost_cell(row, most), lambda row: row.cost,
    )  # fmt: skip
    if any(_usd(row) is not None for row in group.rows):
        yield Column[MemoryRow](
            f"Dollars / {unit}", "≥ marks a sum that lacks calls without a known price",
            lambda row: words.dollars(ran.money if (ran := _ran(row)) else None), _usd,
        )  # fmt: skip
    title = METRICS[group.metric].title
    yield Column[MemoryRow](
        f"{title[0].upper()}{title[1:]}", f"{title}, mean over answered questions, with its 95 % interval",
        lambda row: _accuracy_cell(row.accuracy), lambda row: mean(row.accuracy), "high",
    )  # fmt: skip
    yield Column[MemoryRow](
        "Evidence recalled", "share of the turns that hold the answer that were among all that was recalled",
        lambda row: words.percent(mean(_score(row, "evidence_recall"))),
        lambda row: mean(_score(row, "evidence_recall")), "high",
    )  # fmt: skip
    if any(row.break_even for row in group.rows):
        yield Column[MemoryRow](
            "Break-even", "the turn from which its cumulative cost stays below full history's",
            lambda row: words.UNKNOWN if row.reference else words.break_even(row.break_even), _turn,
        )  # fmt: skip
    if full:
        over = "its cost over that of resending everything"
        yield Column[MemoryRow].of_number("vs full history", over, lambda row: _over(row.cost, full), words.ratio)
    yield Column[MemoryRow](
        "Errors", "questions without an answer, and units that failed: neither right nor wrong",
        words.errors, lambda row: row.error_share,
    )  # fmt: skip
    yield Column[MemoryRow](
        "Latency", f"seconds of model calls from read to answer, per {unit}: mean, 90th percentile",
        lambda row: words.latency(row.latency), lambda row: row.latency.mean if row.latency else None,
    )  # fmt: skip
    after = "bytes of the store after the last write"
    yield Column[MemoryRow].of_number("Store", after, lambda row: row.store_bytes, words.size)


def _details() -> Iterator[Column[MemoryRow]]:
    yield Column[MemoryRow].of_number(
        "output / turn", "visible output tokens per turn",
        lambda row: row.serving.output_per_turn if row.serving else None,
    )  # fmt: skip
    yield Column[MemoryRow].of_number(
        "embedded / turn", "tokens given to the embedding model per turn",
        lambda row: row.serving.embedding_per_turn if row.serving else None,
    )  # fmt: skip
    yield Column[MemoryRow].of_number(
        "calls / turn", "chat calls per turn, the answer's own included",
        lambda row: row.serving.calls_per_turn if row.serving else None,
    )  # fmt: skip
    yield Column[MemoryRow].of_number(
        "input / question", "model input tokens of reading and answering one question",
        lambda row: row.asking.input_per_question if row.asking else None,
    )  # fmt: skip
    yield Column[MemoryRow](
        "waited", "seconds from read to answer as waited, queueing and retries included: mean, 90th percentile",
        lambda row: words.latency(ran.waited if (ran := _ran(row)) else None),
        lambda row: ran.waited.mean if (ran := _ran(row)) and ran.waited else None,
    )  # fmt: skip


def _of_memory(figures: Mapping[str, Figures]) -> Callable[[MemoryRow], Figures]:
    return lambda row: figures[row.memory]


def _cost_cell(row: MemoryRow, most: float) -> Part:
    if row.cost is None:
        return words.UNKNOWN
    share = row.cost / most if most else 0.0
    bar = svg.picture(64, 6, "minibar", "", svg.rect(0, 0, 64, 6, "track", rx=3),
                      svg.rect(0, 0, max(2.0, 64 * share), 6, "fill", rx=3))  # fmt: skip
    ran = _ran(row)
    partial = "some calls did not tell their tokens"
    unknown = None if ran is None or ran.complete else element("abbr", "?", title=partial)
    return joined([element("span", words.count(row.cost), unknown, class_="figure"), Markup(bar)])


def _accuracy_cell(found: Estimate | None) -> Part:
    if found is None:
        return words.UNKNOWN
    x = svg.Linear(0, 1, 3, 69)
    drawn = svg.picture(72, 10, "minirange", "", svg.line(3, 5, 69, 5, "track"),
                        svg.line(x(found.low), 5, x(min(1.0, found.high)), 5, "span"),
                        svg.dot(x(found.value), 5, 3, "fill"))  # fmt: skip
    return joined([with_interval(found), Markup(drawn)])


def _score(row: MemoryRow, name: str) -> Estimate | None:
    return row.quality.scores.get(name) if row.quality else None


def _ran(row: MemoryRow) -> Serving | Asking | None:
    return row.serving or row.asking


def _usd(row: MemoryRow) -> float | None:
    ran = _ran(row)
    return ran.money.usd if ran else None


def _known(column: Column[MemoryRow], group: Group) -> bool:
    return any(column.key(row) is not None for row in group.rows)


def _over(cost: float | None, full: float) -> float | None:
    return None if cost is None else cost / full


def _turn(row: MemoryRow) -> float | None:
    if row.break_even is None:
        return None
    return float("inf") if row.break_even.turn is None else float(row.break_even.turn)
