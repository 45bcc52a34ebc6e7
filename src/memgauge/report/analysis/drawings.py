"""Every figure that an analysis can be drawn as: the page lays them out, the export writes each to a file."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from memgauge.analysis.analyze import TOKENS, Analysis
from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.curves import Curve
from memgauge.analysis.joint import JointRow
from memgauge.report import words
from memgauge.report.analysis.break_even_map import WIDTH as MAP_WIDTH
from memgauge.report.analysis.break_even_map import Map, Plane
from memgauge.report.analysis.held_out import held_out_strip
from memgauge.report.analysis.sentences import cost_words
from memgauge.report.columns import Styles
from memgauge.report.line_chart import Line, line_chart
from memgauge.report.scatter import Point, scatter
from memgauge.report.stage_bars import StageBar, stage_bars
from memgauge.report.styles import styles_of

MOST_NAMES = 12  # points beside which a name is written; with more, beside the most accurate of each memory


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure by itself. ``name`` is fit for a file, ``draw`` takes the width in pixels."""

    name: str
    title: str
    text: str
    draw: Callable[[float], str]
    width: float = 820


def drawings(analysis: Analysis) -> Iterator[Drawing]:
    """All figures of an analysis for which it has the data."""
    styles = analysis_styles(analysis)
    for setting in settings(analysis):
        of = f" · {setting}"
        for cell in cells(analysis, setting):
            for cost in costs(analysis, setting, cell):
                yield Drawing(
                    f"cumulative {setting} {cell} {cost}",
                    f"Cumulative cost in {cost_words(cost)}: {cell}{of}",
                    "A dot marks the turn from which a memory stays cheaper than full history.",
                    partial(cumulative, analysis, styles, setting, cell, cost),
                )
            yield Drawing(
                f"stages {setting} {cell}", f"Model input per turn by stage: {cell}{of}",
                "Mean over all turns of all repeats.", partial(by_stage, analysis, styles, setting, cell), 620,
            )  # fmt: skip
        if any(entry.held_out for entry in analysis.cost_model if entry.setting == setting):
            yield Drawing(
                f"held-out error {setting}", f"Held-out error by cell{of}",
                "Predicted over measured mean cost of a cell that the fit has not seen, less 1, in per cent.",
                partial(held_out, analysis, styles, setting),
            )  # fmt: skip
        for entry in maps(analysis, styles, setting):
            yield Drawing(
                f"break-even map {setting} {entry.memory}", f"Where {entry.memory} pays{of}",
                "Forecast. The line is the break-even turn.", entry.draw, MAP_WIDTH,
            )  # fmt: skip
    for cell, workload in joint_groups(analysis):
        yield Drawing(
            f"joint {cell} {workload}", f"Accuracy against cost: {cell}",
            "Whiskers are 95 % intervals; the dotted line joins those that none beats on both.",
            partial(joint, analysis, styles, cell, workload),
        )  # fmt: skip


def analysis_styles(analysis: Analysis) -> dict[str, str]:
    """The class of every memory of the analysis."""
    controls = {row.memory for row in analysis.curves if row.control} | {
        row.memory for row in analysis.joint if row.control
    }
    names = [
        *(row.memory for row in analysis.curves),
        *(row.memory for row in analysis.cost_model),
        *(row.memory for row in analysis.joint),
    ]
    return styles_of((name, name in controls) for name in names)


def settings(analysis: Analysis) -> list[str]:
    """Settings under which something was served."""
    return list(dict.fromkeys(curve.setting for curve in analysis.curves))


def cells(analysis: Analysis, setting: str) -> list[str]:
    """Its cells: those first that most memories played, of these the longest, and then the largest messages.

    In the paper's grid the first is the cell of its figure 2.
    """
    mine = [curve for curve in analysis.curves if curve.setting == setting]
    played = Counter(curve.cell for curve in mine if curve.cost == TOKENS)
    places = {curve.cell: (-played[curve.cell], -curve.turns, -(curve.tokens or 0)) for curve in mine}
    return sorted(places, key=lambda cell: places[cell])


def costs(analysis: Analysis, setting: str, cell: str) -> list[str]:
    """Units in which the cell's curves are known."""
    return list(dict.fromkeys(curve.cost for curve in _curves(analysis, setting, cell)))


def cumulative(
    analysis: Analysis, styles: Styles, setting: str, cell: str, cost: str, width: float, *, log: bool = False
) -> str:
    """Paper 1's figure 2 for any cell: cumulative cost over turns, measured solid and fitted dashed."""
    found = [curve for curve in _curves(analysis, setting, cell) if curve.cost == cost]
    tokens = cost == TOKENS
    told, tick = (words.count, words.count) if tokens else (words.usd, words.usd_tick)
    evens = {
        row.memory: row.turn if row.turn is not None or row.extended is None else row.extended.turn
        for row in analysis.break_even.rows
        if (row.setting, row.cell, row.cost) == (setting, cell, cost)
    }
    lines = [
        Line(curve.memory, styles[curve.memory], curve.measured, _told(curve, evens.get(curve.memory), told),
             evens.get(curve.memory), curve.control, curve.fitted)
        for curve in found
    ]  # fmt: skip
    size = next((curve.tokens for curve in found if curve.tokens), None)
    axis = f"turn, of about {size} tokens each" if size else "turn"
    return line_chart(lines, width, f"Cumulative cost in {cost_words(cost)}", log=log, told=tick, axis=axis)


def series(analysis: Analysis, styles: Styles, setting: str, cell: str, cost: str) -> dict[str, object]:
    """What the page's tooltip tells of the same lines, turn by turn."""
    return {
        curve.memory: {
            "css": styles[curve.memory],
            "costs": [float(f"{value:.5g}") for value in (*curve.measured, *curve.fitted)],
            "measured": len(curve.measured),
        }
        for curve in _curves(analysis, setting, cell)
        if curve.cost == cost
    }


def by_stage(analysis: Analysis, styles: Styles, setting: str, cell: str, width: float) -> str:
    """Model input per turn of every memory in one cell, cut by stage."""
    bars = []
    for row in analysis.stage_costs:
        if (row.setting, row.cell) != (setting, cell):
            continue
        stages = ", ".join(f"{stage} {words.count(tokens)}" for stage, tokens in row.input_by_stage.items() if tokens)
        total = words.count(sum(row.input_by_stage.values()))
        lacking = "" if row.complete else "; some calls did not tell their tokens"
        told = f"{row.memory}: {total} input tokens per turn ({stages or 'none'}){lacking}"
        bars.append(StageBar(row.memory, styles[row.memory], row.input_by_stage, told))
    return stage_bars(bars, width)


def held_out(analysis: Analysis, styles: Styles, setting: str, width: float) -> str:
    """Held-out error by cell, for every memory that has one."""
    models = [entry for entry in analysis.cost_model if entry.setting == setting]
    sizes = {curve.cell: (curve.turns, curve.tokens or 0) for curve in analysis.curves if curve.setting == setting}
    return held_out_strip(models, sorted(sizes, key=lambda cell: sizes[cell]), styles, width)


def maps(analysis: Analysis, styles: Styles, setting: str) -> list[Map]:
    """One per memory whose cost and full history's were fitted under the setting."""
    fits = {entry.memory: entry.fit for entry in analysis.cost_model if entry.setting == setting and entry.fit}
    reference = fits.pop(REFERENCE, None)
    if reference is None:
        return []
    measured = [row for row in analysis.break_even.rows if (row.setting, row.cost) == (setting, TOKENS)]
    sizes = [
        (curve.turns, float(curve.tokens)) for curve in analysis.curves if curve.setting == setting and curve.tokens
    ]
    plane = Plane.around(sizes)
    return [
        Map(memory, styles[memory], own, reference, [row for row in measured if row.memory == memory], plane)
        for memory, own in fits.items()
    ]


def joint_groups(analysis: Analysis) -> list[tuple[str, str]]:
    """Reference cells and workloads of questions for which accuracy and cost are both known."""
    found = [(row.cell, row.accuracy.workload) for row in analysis.joint if row.accuracy and row.cost.input_tokens]
    return list(dict.fromkeys(found))


def joint(analysis: Analysis, styles: Styles, cell: str, workload: str, width: float) -> str:
    """Accuracy against cost per conversation at one cell, every memory and setting.

    Costs are in dollars where every memory that competes has a price, else in input tokens.
    """
    rows = [row for row in analysis.joint if row.cell == cell and row.accuracy and row.accuracy.workload == workload]
    order = list(dict.fromkeys(row.setting for row in analysis.joint))
    best = rows if len(rows) <= MOST_NAMES else _most_accurate(rows)
    in_usd = all(row.cost.usd is not None for row in rows if not row.control)
    points = [
        Point(
            row.memory, styles[row.memory],
            row.memory if row in best else "",
            _point_told(row), row.accuracy.value, row.accuracy.interval,
            row.cost.usd if in_usd else row.cost.input_tokens,
            row.cost.interval if in_usd else None,
            ranked=bool(row.on_front), small=row.control, shape=order.index(row.setting),
        )
        for row in rows
        if row.accuracy
    ]  # fmt: skip
    unit = "dollars per conversation" if in_usd else "input tokens per conversation"
    told = words.usd_tick if in_usd else words.count
    return scatter(points, width, "Accuracy against cost", unit, told, order if len(order) > 1 else ())


def _curves(analysis: Analysis, setting: str, cell: str) -> Sequence[Curve]:
    return [curve for curve in analysis.curves if (curve.setting, curve.cell) == (setting, cell)]


def _told(curve: Curve, even: int | None, told: Callable[[float | None], str]) -> str:
    if not curve.measured:
        return f"{curve.memory}: its cost is not known from the first turn"
    text = f"{curve.memory}: {told(curve.measured[-1])} after {len(curve.measured)} turns"
    if curve.fitted:
        text += f", fitted beyond to {told(curve.fitted[-1])}"
    return text if even is None else f"{text}, cheaper than full history from turn {max(1, even)}"


def _most_accurate(rows: Sequence[JointRow]) -> list[JointRow]:
    """Of each memory the row of the setting under which it knew most."""
    best: dict[str, JointRow] = {}
    for row in rows:
        known = best.get(row.memory)
        if known is None or _accuracy(row) > _accuracy(known):
            best[row.memory] = row
    return list(best.values())


def _accuracy(row: JointRow) -> float:
    return row.accuracy.value if row.accuracy else 0.0


def _point_told(row: JointRow) -> str:
    assert row.accuracy is not None
    low, high = row.accuracy.interval
    cost = f"{words.count(row.cost.input_tokens)} input tokens"
    if row.cost.usd is not None:
        cost = f"{words.usd(row.cost.usd)}, {cost}"
    return (
        f"{row.memory}, {row.setting}: {words.percent(row.accuracy.value)} right"
        f" [{words.percent(low)}, {words.percent(high)}], {cost} per conversation of {row.cell}"
    )
