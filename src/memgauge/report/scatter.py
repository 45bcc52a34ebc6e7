"""Points in a plane of cost and accuracy, with their intervals and the front of those that none beats on both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgauge.report import svg, words
from memgauge.report.axes import FONT, NARROW, Frame, x_axis, y_axis

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One memory: its accuracy and its cost, each with an interval where it has one.

    A memory whose cost was not measured (None, or 0, which a scale of powers cannot show) is a line at its
    accuracy. Only ``ranked`` ones make the front; a ``small`` one stands back. ``shape`` picks one of
    svg.SHAPES, ``name`` is what is written beside it.
    """

    memory: str
    css: str
    name: str
    told: str
    value: float
    interval: Bounds | None
    cost: float | None
    cost_interval: Bounds | None = None
    ranked: bool = True
    small: bool = False
    shape: int = 0


def scatter(
    points: Sequence[Point],
    width: float,
    title: str,
    cost_title: str,
    told: Callable[[float], str] = words.count,
    shapes: Sequence[str] = (),
) -> str:
    """Accuracy against cost; empty where no point has both. ``shapes`` names what each shape stands for."""
    shown = [(point, point.cost) for point in points if point.cost]
    if not shown:
        return ""
    narrow = width < NARROW
    beside = max(svg.text_width(point.name, FONT) for point, _ in shown)  # room for the last name
    key, room = _key(shapes, width)
    right = min(beside, width / (4 if narrow else 7))  # a name that is longer goes to the left of its point
    frame = Frame(width, (300 if narrow else 380) + room, 40, right, 14 + room)
    ends = [end for point, cost in shown for end in (cost, *(point.cost_interval or ())) if end > 0]
    x = svg.Log(max(min(ends), min(cost for _, cost in shown) / 10) / 1.35, max(ends) * 1.2, frame.left, frame.x1)
    top = max(point.interval[1] if point.interval else point.value for point in points)
    y = svg.Linear(0, min(1.0, top * 1.08) or 1.0, frame.y1, frame.top)
    parts = [
        *key,
        *y_axis(frame, y, 5, lambda value: f"{value:.3g}"),
        *x_axis(frame, x, 4 if narrow else 8, told, f"{cost_title} (log scale)"),
    ]
    front = pareto([(cost, point.value) for point, cost in shown if point.ranked])
    steps = _staircase([(x(cost), y(value)) for cost, value in front]) if len(front) > 1 else []
    if steps:
        parts.append(svg.path(steps, "front"))
    parts += [_level(point, y, frame) for point in points if not point.cost]
    drawn = [_Drawn.of(point, cost, x, y) for point, cost in shown]
    taken = [box for one in drawn for box in one.boxes()]
    taken += [_between(one, other) for one, other in pairwise(steps)]
    marks = []
    for one in sorted(drawn, key=lambda one: not one.point.small):
        name = _place(one.point.name, one.at, taken, frame)
        marks.append(svg.mark(one.point.css, one.point.memory, one.point.told, *one.marks(), name))
    return svg.picture(width, frame.height, "chart scatter", title, *parts, *marks)


def pareto(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points (cost, accuracy) that no other beats on both, cheapest first."""
    front: list[tuple[float, float]] = []
    for cost, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or value > front[-1][1]:
            front.append((cost, value))
    return front


Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A point in pixels: where it is, its whisker of accuracy (top to bottom) and of cost (left to right)."""

    point: Point
    at: tuple[float, float]
    upright: Bounds | None
    level: Bounds | None

    @classmethod
    def of(cls, point: Point, cost: float, x: svg.Scale, y: svg.Scale) -> "_Drawn":
        upright = (y(min(point.interval[1], 1.0)), y(point.interval[0])) if point.interval else None
        level = (x(point.cost_interval[0]), x(point.cost_interval[1])) if point.cost_interval else None
        return cls(point, (x(cost), y(point.value)), upright, level)

    def boxes(self) -> list[Box]:
        """The room that it takes."""
        left, top = self.at
        boxes = [(left - 7, top - 7, left + 7, top + 7)]
        if self.upright:
            boxes.append((left - 2, self.upright[0], left + 2, self.upright[1]))
        if self.level:
            boxes.append((self.level[0], top - 2, self.level[1], top + 2))
        return boxes

    def marks(self) -> list[str]:
        left, top = self.at
        marks = []
        if self.upright:
            marks.append(svg.line(left, self.upright[0], left, self.upright[1], "whisker"))
            marks += [svg.line(left - 4, end, left + 4, end, "whisker") for end in self.upright]
        if self.level:
            marks.append(svg.line(self.level[0], top, self.level[1], top, "whisker"))
            marks += [svg.line(end, top - 4, end, top + 4, "whisker") for end in self.level]
        return [*marks, svg.shape(self.point.shape, left, top, 4.5 if self.point.small else 6, "point")]


def _key(shapes: Sequence[str], width: float) -> tuple[list[str], float]:
    """What the shapes stand for, in as many rows as it takes, and the room for that."""
    parts: list[str] = []
    left, top = 8.0, 9.0
    for which, name in enumerate(shapes):
        wide = 14 + svg.text_width(name, FONT) + 18
        if left > 8 and left + wide > width:
            left, top = 8.0, top + 18
        parts.append(svg.shape(which, left, top, 4.5, "point"))
        parts.append(svg.label(left + 11, top, name, "tick"))
        left += wide
    return ([svg.tag("g", {"class": "ref"}, *parts)], top + 13) if parts else ([], 0.0)


def _level(point: Point, y: svg.Scale, frame: Frame) -> str:
    at = y(point.value)
    name = svg.label(frame.left + 6, at - 8, point.name, "name")
    return svg.mark(point.css, point.memory, point.told, svg.line(frame.left, at, frame.x1, at, "level"), name)


def _staircase(front: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    points = [front[0]]
    for before, after in pairwise(front):
        points += [(after[0], before[1]), after]
    return points


def _between(one: tuple[float, float], other: tuple[float, float]) -> Box:
    """The room that a level or upright stroke takes; thin, so that a name may cross it if it must."""
    left, right = sorted((one[0], other[0]))
    top, bottom = sorted((one[1], other[1]))
    return left - 1, top - 1, right + 1, bottom + 1


def _place(name: str, at: tuple[float, float], taken: list[Box], frame: Frame) -> str:
    """The name beside its point, where it covers no point and no other name, and as few whiskers as can be."""
    if not name:
        return ""
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
