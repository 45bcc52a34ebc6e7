"""The three figures: cumulative cost, cost per turn by stage, accuracy against cost.

Each is drawn for a given width, so that its text stays readable on a phone. ``styles`` gives every memory its
class, and with it its one colour.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import STAGES, MemoryRow
from memgauge.analysis.summary import Group
from memgauge.report import svg, words

Styles = Mapping[str, str]

FONT = 12.0
# A line of more turns than this is drawn through every n-th of them.
MOST_POINTS = 240


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the data of a chart lies in its picture, in pixels."""

    width: float
    height: float
    left: float
    right: float
    top: float = 14.0
    bottom: float = 40.0

    @property
    def x1(self) -> float:
        """The right edge."""
        return self.width - self.right

    @property
    def y1(self) -> float:
        """The lower edge."""
        return self.height - self.bottom


def cumulative(group: Group, styles: Styles, width: float, *, log: bool = False) -> str:
    """Cumulative model input over turns, one line per memory, a dot where it breaks even; empty without turns."""
    lines = [(row, row.serving.cumulative) for row in group.rows if row.serving and row.serving.cumulative]
    if not lines:
        return ""
    narrow = width < 500
    names = [row.memory for row, _ in lines]
    room = 10.0 if narrow else 16 + max(svg.text_width(name, FONT) for name in names)
    frame = Frame(width, 300 if narrow else 380, 48, room)
    turns = max(len(costs) for _, costs in lines)
    most = max(costs[-1] for _, costs in lines) or 1.0
    x = svg.Linear(1, max(2, turns), frame.left, frame.x1)
    y: svg.Scale
    if log:
        least = min((costs[0] for _, costs in lines if costs[0] > 0), default=1.0)
        y = svg.Log(min(least, most / 10), most * 1.1, frame.y1, frame.top)
    else:
        y = svg.Linear(0, most * 1.04, frame.y1, frame.top)
    parts = [
        *_y_axis(frame, y, 5, words.count),
        *_x_axis(frame, x, 5 if narrow else 8, lambda value: f"{value:g}", "turn", first=1.0),
    ]
    for row, costs in sorted(lines, key=lambda entry: not entry[0].control):
        parts.append(_curve(row, costs, styles[row.memory], x, y))
    ends = svg.spread([y(costs[-1]) for _, costs in lines], FONT + 2, frame.top, frame.y1)
    if not narrow:
        for (row, costs), at in zip(lines, ends, strict=True):
            css = f"end {styles[row.memory]}"
            lead = svg.line(x(len(costs)) + 3, y(costs[-1]), frame.x1 + 10, at, f"lead {styles[row.memory]}")
            text = svg.label(frame.x1 + 13, at, row.memory, "name")
            parts.append(svg.tag("g", {"class": css, "data_memory": row.memory}, lead, text))
    parts.append(svg.rect(frame.left, frame.top, frame.x1 - frame.left, frame.y1 - frame.top, "hover"))
    plot = svg.tag(
        "g",
        {"class": "plot", "data_x0": frame.left, "data_x1": frame.x1, "data_turns": max(2, turns),
         "data_top": frame.top, "data_bottom": frame.y1},
        *parts,
    )  # fmt: skip
    return svg.picture(width, frame.height, "chart lines", "Cumulative model input tokens by turn", plot)


def by_stage(group: Group, styles: Styles, width: float) -> str:
    """Model input per turn, one bar per memory, cut by the stage that sent it; empty where nothing was served."""
    rows = [row for row in group.rows if row.serving]
    if not rows:
        return ""
    rows.sort(key=lambda row: row.cost or 0.0)
    narrow = width < 500
    names = max(svg.text_width(row.memory, FONT) for row in rows)
    left = 4.0 if narrow else names + 14
    # Wide, it stands beside the scatter and is as high where few memories leave room.
    pitch, thick = (46.0, 16.0) if narrow else (min(76.0, max(34.0, 322 / len(rows))), 22.0)
    frame = Frame(width, 12 + pitch * len(rows) + 46, left, 64, 6)
    most = max(row.cost or 0.0 for row in rows) or 1.0
    x = svg.Linear(0, most, frame.left, frame.x1)
    parts = _x_axis(frame, x, 4 if narrow else 6, words.count, "input tokens per turn", grid=True)
    for place, row in enumerate(rows):
        assert row.serving is not None
        top = frame.top + place * pitch + (24 if narrow else 8)
        name = (
            svg.label(frame.left, top - 11, row.memory, "name")
            if narrow
            else svg.label(frame.left - 10, top + thick / 2, row.memory, "name", "end")
        )
        bars, start = [], 0.0
        for stage in STAGES:
            tokens = row.serving.input_by_stage.get(stage, 0.0)
            if tokens:
                bars.append(svg.rect(x(start), top, x(start + tokens) - x(start) - 0.5, thick, f"bar {stage}"))
            start += tokens
        total = svg.label(x(start) + 7, top + thick / 2, words.count(start), "value")
        parts.append(svg.mark(styles[row.memory], row.memory, _stages_told(row), name, *bars, total))
    return svg.picture(width, frame.height, "chart bars", "Model input tokens per turn by stage", *parts)


def accuracy(group: Group, styles: Styles, width: float) -> str:
    """Token F1 with its interval against cost, and the front of those that none beats on both; empty without."""
    shown = [(row, row.f1, row.cost) for row in group.rows if row.f1 and row.cost]
    if not shown:
        return ""
    narrow = width < 500
    beside = max(svg.text_width(row.memory, FONT) for row, _, _ in shown)  # room for the last name
    frame = Frame(width, 300 if narrow else 380, 40, min(beside, width / 4))
    costs = [cost for _, _, cost in shown if cost]
    x = svg.Log(min(costs) / 1.35, max(costs) * 1.2, frame.left, frame.x1)
    top = max(row.f1.high for row in group.rows if row.f1)
    y = svg.Linear(0, min(1.0, top * 1.08) or 1.0, frame.y1, frame.top)
    unit = "turn" if group.per_turn else "question"
    parts = [
        *_y_axis(frame, y, 5, lambda value: f"{value:.1f}"),
        *_x_axis(frame, x, 4 if narrow else 8, words.count, f"input tokens per {unit} (log scale)"),
    ]
    front = pareto([(cost or 0.0, f1.value if f1 else 0.0) for row, f1, cost in shown if row.unranked is None])
    steps = _staircase([(x(cost), y(value)) for cost, value in front]) if len(front) > 1 else []
    if steps:
        parts.append(svg.path(steps, "front"))
    parts += [_level(row, row.f1, styles[row.memory], y, frame) for row in group.rows if row.f1 and not row.cost]
    points = [(row, estimate, (x(cost), y(estimate.value)), cost) for row, estimate, cost in shown if estimate and cost]
    taken = [box for _, estimate, at, _ in points for box in _drawn(at, y(estimate.low), y(estimate.high))]
    taken += [_between(one, other) for one, other in pairwise(steps)]
    marks = []
    for row, estimate, at, cost in sorted(points, key=lambda point: not point[0].control):
        whisker = svg.line(at[0], y(estimate.low), at[0], y(min(estimate.high, 1.0)), "whisker")
        caps = [svg.line(at[0] - 4, y(end), at[0] + 4, y(end), "whisker") for end in (estimate.low, estimate.high)]
        shape = svg.dot(*at, 6 if row.unranked is None or row.reference else 4.5, "point")
        name = _place(row.memory, at, taken, frame)
        told = f"{row.memory}: token F1 {words.interval(estimate)}, {words.count(cost)} input tokens per {unit}"
        marks.append(svg.mark(styles[row.memory], row.memory, told, whisker, *caps, shape, name))
    return svg.picture(width, frame.height, "chart scatter", "Token F1 against cost", *parts, *marks)


def _level(row: MemoryRow, estimate: Estimate, css: str, y: svg.Scale, frame: Frame) -> str:
    """A memory whose cost was not measured: a line at its accuracy."""
    at = y(estimate.value)
    told = f"{row.memory}: token F1 {words.interval(estimate)}, its cost was not measured"
    name = svg.label(frame.left + 6, at - 8, row.memory, "name")
    return svg.mark(css, row.memory, told, svg.line(frame.left, at, frame.x1, at, "level"), name)


def pareto(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points (cost, accuracy) that no other beats on both, cheapest first."""
    front: list[tuple[float, float]] = []
    for cost, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or value > front[-1][1]:
            front.append((cost, value))
    return front


def _curve(row: MemoryRow, costs: Sequence[float], css: str, x: svg.Scale, y: svg.Scale) -> str:
    stride = max(1, len(costs) // MOST_POINTS)
    places = sorted({*range(0, len(costs), stride), len(costs) - 1})
    drawn = svg.path([(x(place + 1), y(costs[place])) for place in places], "curve")
    told = f"{row.memory}: {words.count(costs[-1])} input tokens after {len(costs)} turns"
    turn = row.break_even.turn if row.break_even else None
    marks = [drawn]
    if turn is not None and not row.control:
        at = max(1, turn)
        marks.append(svg.dot(x(at), y(costs[at - 1]), 5, "even"))
        told += f", cheaper than full history from turn {at}"
    about = {"class": css, "data_memory": row.memory, "role": "img", "aria_label": told}
    return svg.tag("g", about, svg.tag("title", {}, escape(told)), *marks)


def _stages_told(row: MemoryRow) -> str:
    assert row.serving is not None
    stages = [f"{stage} {words.count(n)}" for stage, n in row.serving.input_by_stage.items() if n]
    return (
        f"{row.memory}: {words.count(row.cost)} input tokens per turn ({', '.join(stages) or 'none'}),"
        f" {words.count(row.serving.output_per_turn)} output, {words.count(row.serving.embedding_per_turn)} embedded,"
        f" {words.count(row.serving.calls_per_turn)} calls"
    )


def _staircase(front: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    points = [front[0]]
    for before, after in pairwise(front):
        points += [(after[0], before[1]), after]
    return points


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _drawn(at: tuple[float, float], low: float, high: float) -> tuple[Box, Box]:
    """The room that a point and its whisker take."""
    return (at[0] - 7, at[1] - 7, at[0] + 7, at[1] + 7), (at[0] - 2, high, at[0] + 2, low)


def _between(one: tuple[float, float], other: tuple[float, float]) -> Box:
    """The room that a level or upright stroke takes; thin, so that a name may cross it if it must."""
    left, right = sorted((one[0], other[0]))
    top, bottom = sorted((one[1], other[1]))
    return left - 1, top - 1, right + 1, bottom + 1


def _place(name: str, at: tuple[float, float], taken: list[Box], frame: Frame) -> str:
    """The name beside its point, where it covers no point and no other name, and as few whiskers as can be."""
    wide = svg.text_width(name, FONT)
    best: tuple[float, Box, float, float, str] | None = None
    for drop in (0, -15, 15, -30, 30, -45, 45, -60, 60):
        for side in (1, -1):
            left = at[0] + 10 if side > 0 else at[0] - 10 - wide
            box = (left, at[1] + drop - 7, left + wide, at[1] + drop + 7)
            if box[0] < frame.left or box[2] > frame.width or box[1] < frame.top - 8 or box[3] > frame.y1:
                continue
            covered = sum(2 if _thin(other) else 10 for other in taken if _overlap(box, other))
            worth = covered + abs(drop) / 15 + (0.5 if side < 0 else 0)
            if best is None or worth < best[0]:
                best = (worth, box, at[0] + 10 * side, at[1] + drop, "start" if side > 0 else "end")
    if best is None:
        return svg.label(at[0] + 10, at[1], name, "name")
    _, box, x, y, anchor = best
    taken.append(box)
    return svg.label(x, y, name, "name", anchor)


def _thin(box: Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) <= 4


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _y_axis(frame: Frame, y: svg.Scale, most: int, told: Callable[[float], str]) -> list[str]:
    parts = []
    for value in y.ticks(most):
        parts.append(svg.line(frame.left, y(value), frame.x1, y(value), "zero" if value == 0 else "grid"))
        parts.append(svg.label(frame.left - 8, y(value), told(value), "tick", "end"))
    return parts


def _x_axis(
    frame: Frame,
    x: svg.Scale,
    most: int,
    told: Callable[[float], str],
    title: str,
    *,
    first: float | None = None,
    grid: bool = False,
) -> list[str]:
    parts = []
    values = x.ticks(most)
    if first is not None:
        values = [first, *(value for value in values if value > first and value == int(value))]
    for value in values:
        if grid:
            parts.append(svg.line(x(value), frame.top, x(value), frame.y1, "grid"))
        parts.append(svg.label(x(value), frame.y1 + 13, told(value), "tick", "middle"))
    parts.append(svg.label((frame.left + frame.x1) / 2, frame.height - 9, title, "axis", "middle"))
    return parts
