"""Lines over turns: what has been spent by each turn, measured and extrapolated told apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from memgauge.report import svg, words
from memgauge.report.axes import FONT, NARROW, Frame, x_axis, y_axis


@dataclass(frozen=True, slots=True)
class Line:
    """One memory's cumulative costs after turn 1, 2, …; ``extended`` goes on where ``measured`` ends.

    ``even`` is the turn from which it is cheaper than the reference: a dot marks it (0: from the start).
    """

    memory: str
    css: str
    measured: Sequence[float]
    told: str
    even: int | None = None
    control: bool = False
    extended: Sequence[float] = ()

    @property
    def costs(self) -> list[float]:
        """Both parts in one."""
        return [*self.measured, *self.extended]


def line_chart(
    lines: Sequence[Line],
    width: float,
    title: str,
    *,
    log: bool = False,
    told: Callable[[float], str] = words.count,
    axis: str = "turn",
) -> str:
    """The chart; empty where no line has a turn."""
    lines = [line for line in lines if line.costs]
    if not lines:
        return ""
    narrow = width < NARROW
    room = 10.0 if narrow else 16 + max(svg.text_width(line.memory, FONT) for line in lines)
    turns = max(2, *(len(line.costs) for line in lines))
    most = max(line.costs[-1] for line in lines) or 1.0
    least = min((line.costs[0] for line in lines if line.costs[0] > 0), default=1.0)
    low = min(least, most / 10)
    left = 18 + max(svg.text_width(told(value), FONT) for value in _values(log, low, most))
    frame = Frame(width, 300 if narrow else 380, min(left, 72.0), room)
    x = svg.Linear(1, turns, frame.left, frame.x1)
    y: svg.Scale = svg.Linear(0, most * 1.04, frame.y1, frame.top)
    if log:
        y = svg.Log(low, most * 1.1, frame.y1, frame.top)
    parts = [
        *y_axis(frame, y, 5, told),
        *x_axis(frame, x, 5 if narrow else 8, lambda value: f"{value:g}", axis, first=1.0),
    ]
    parts += [_curve(line, x, y) for line in sorted(lines, key=lambda line: not line.control)]
    if not narrow:
        parts += _names(lines, x, y, frame)
    parts.append(svg.rect(frame.left, frame.top, frame.x1 - frame.left, frame.y1 - frame.top, "hover"))
    plot = svg.tag(
        "g",
        {"class": "plot", "data_x0": frame.left, "data_x1": frame.x1, "data_turns": turns,
         "data_top": frame.top, "data_bottom": frame.y1},
        *parts,
    )  # fmt: skip
    return svg.picture(width, frame.height, "chart lines", title, plot)


def _values(log: bool, low: float, most: float) -> list[float]:
    return (svg.Log(low, most, 0, 1) if log else svg.Linear(0, most, 0, 1)).ticks(5) or [most]


def _curve(line: Line, x: svg.Scale, y: svg.Scale) -> str:
    points = [(x(turn), y(cost)) for turn, cost in enumerate(line.costs, 1)]
    reached = len(line.measured)
    marks = [svg.path(svg.thinned(points[:reached]), "curve")] if reached else []
    if line.extended:
        marks.append(svg.path(svg.thinned(points[max(0, reached - 1) :]), "curve fitted"))
    if line.even is not None and not line.control and line.even <= len(points):
        marks.append(svg.dot(*points[max(1, line.even) - 1], 5, "even" if line.even <= reached else "even fitted"))
    about = {"class": line.css, "data_memory": line.memory, "role": "img", "aria_label": line.told}
    return svg.tag("g", about, svg.tag("title", {}, escape(line.told)), *marks)


def _names(lines: Sequence[Line], x: svg.Scale, y: svg.Scale, frame: Frame) -> list[str]:
    """The memories' names at the ends of their lines."""
    ends = svg.spread([y(line.costs[-1]) for line in lines], FONT + 2, frame.top, frame.y1)
    named = []
    for line, at in zip(lines, ends, strict=True):
        lead = svg.line(x(len(line.costs)) + 3, y(line.costs[-1]), frame.x1 + 10, at, f"lead {line.css}")
        text = svg.label(frame.x1 + 13, at, line.memory, "name")
        named.append(svg.tag("g", {"class": f"end {line.css}", "data_memory": line.memory}, lead, text))
    return named
