"""Where the data of a chart lies, and the axes around it."""

from collections.abc import Callable
from dataclasses import dataclass

from memgauge.report import svg

FONT = 12.0
NARROW = 500.0  # a picture below this width is drawn for a phone


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


def y_axis(frame: Frame, y: svg.Scale, most: int, told: Callable[[float], str]) -> list[str]:
    """Grid lines with their values at the left."""
    parts = []
    for value in y.ticks(most):
        parts.append(svg.line(frame.left, y(value), frame.x1, y(value), "zero" if value == 0 else "grid"))
        parts.append(svg.label(frame.left - 8, y(value), told(value), "tick", "end"))
    return parts


def x_axis(
    frame: Frame,
    x: svg.Scale,
    most: int,
    told: Callable[[float], str],
    title: str,
    *,
    first: float | None = None,
    grid: bool = False,
) -> list[str]:
    """Values below, and what they are of. ``first`` is a tick of its own, and then only whole ones follow."""
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
