"""The three figures of a run: cumulative cost, cost per turn by stage, accuracy against cost.

Each is drawn for a given width, so that its text stays readable on a phone. ``styles`` gives every memory its
class, and with it its one colour.
"""

from collections.abc import Mapping, Sequence

from memgauge.analysis.memory_rows import MemoryRow
from memgauge.analysis.summary import Group
from memgauge.metrics.score import METRICS
from memgauge.report import words
from memgauge.report.line_chart import Line, line_chart
from memgauge.report.scatter import Point, scatter
from memgauge.report.stage_bars import StageBar, stage_bars

Styles = Mapping[str, str]


def cumulative(group: Group, styles: Styles, width: float, *, log: bool = False) -> str:
    """Cumulative model input over turns, one line per memory, a dot where it breaks even; empty without turns."""
    lines = [
        Line(row.memory, styles[row.memory], row.serving.cumulative, _curve_told(row, row.serving.cumulative),
             row.break_even.turn if row.break_even else None, row.control)
        for row in group.rows
        if row.serving and row.serving.cumulative
    ]  # fmt: skip
    return line_chart(lines, width, "Cumulative model input tokens by turn", log=log)


def by_stage(group: Group, styles: Styles, width: float) -> str:
    """Model input per turn, one bar per memory, cut by the stage that sent it; empty where nothing was served."""
    bars = [
        StageBar(row.memory, styles[row.memory], row.serving.input_by_stage, _stages_told(row))
        for row in group.rows
        if row.serving
    ]
    return stage_bars(bars, width, high=322)  # as the scatter beside it


def accuracy(group: Group, styles: Styles, width: float) -> str:
    """Accuracy with its interval against cost, and the front of those that none beats on both; empty without."""
    unit = "turn" if group.per_turn else "question"
    points = [
        Point(
            row.memory, styles[row.memory], row.memory, _point_told(row, unit), row.accuracy.value,
            (row.accuracy.low, row.accuracy.high), row.cost,
            ranked=row.unranked is None,
            small=row.unranked is not None and not row.reference,
        )
        for row in group.rows
        if row.accuracy
    ]  # fmt: skip
    title = METRICS[group.metric].title
    return scatter(points, width, f"{title[0].upper()}{title[1:]} against cost", f"input tokens per {unit}")


def _curve_told(row: MemoryRow, costs: Sequence[float]) -> str:
    told = f"{row.memory}: {words.count(costs[-1])} input tokens after {len(costs)} turns"
    turn = row.break_even.turn if row.break_even else None
    if turn is None or row.control:
        return told
    return f"{told}, cheaper than full history from turn {max(1, turn)}"


def _stages_told(row: MemoryRow) -> str:
    assert row.serving is not None
    stages = [f"{stage} {words.count(n)}" for stage, n in row.serving.input_by_stage.items() if n]
    return (
        f"{row.memory}: {words.count(row.cost)} input tokens per turn ({', '.join(stages) or 'none'}),"
        f" {words.count(row.serving.output_per_turn)} output, {words.count(row.serving.embedding_per_turn)} embedded,"
        f" {words.count(row.serving.calls_per_turn)} calls"
    )


def _point_told(row: MemoryRow, unit: str) -> str:
    cost = f"{words.count(row.cost)} input tokens per {unit}" if row.cost else "its cost was not measured"
    return f"{row.memory}: {METRICS[row.metric].title} {words.interval(row.accuracy)}, {cost}"
