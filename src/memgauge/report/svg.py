"""A few SVG primitives: scales with round ticks, shapes, and labels that keep out of each other's way.

Colours come from the page's style sheet by class name; every text is escaped here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Protocol

import numpy as np

# Width of a character over the font size, on average, in a wide sans serif at half-bold.
CHARACTER = 0.61


class Scale(Protocol):
    """Maps values to pixels."""

    def __call__(self, value: float) -> float:
        """The pixel of ``value``."""
        ...

    def ticks(self, most: int) -> list[float]:
        """About ``most`` round values in the domain."""
        ...


@dataclass(frozen=True, slots=True)
class Linear:
    """From ``low`` … ``high`` to ``start`` … ``end`` pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        step = round_step((self.high - self.low) / max(1, most))
        first = ceil(self.low / step - 1e-9)
        return [place * step for place in range(first, floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class Log:
    """The same by powers of ten; values below ``low`` (above 0) are drawn at ``low``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = log10(max(value, self.low) / self.low) / (log10(self.high / self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [step * 10.0**decade for decade in decades for step in steps]
            inside = [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]
            if len(inside) <= most + 1:
                break
        return inside


def round_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5 × 10ⁿ that is at least ``rough``."""
    if rough <= 0:
        return 1.0
    decade = 10.0 ** floor(log10(rough))
    return next(step * decade for step in (1, 2, 2.5, 5, 10) if step * decade >= rough * (1 - 1e-9))


def text_width(text: str, size: float) -> float:
    """About how wide ``text`` is, in pixels."""
    return len(text) * size * CHARACTER


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near ``wanted``, in the same order on the axis, at least ``gap`` apart and within low … high.

    Where there is not room for all, the gap shrinks.
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    gap = min(gap, (high - low) / max(1, len(wanted) - 1)) if len(wanted) > 1 else gap
    placed = [0.0] * len(wanted)
    edge = low
    for place in order:
        placed[place] = edge = max(wanted[place], edge)
        edge += gap
    edge = high
    for place in reversed(order):
        placed[place] = edge = min(placed[place], edge)
        edge -= gap
    return placed


def tag(name: str, attributes: Mapping[str, object], *children: str) -> str:
    """An element; ``_`` in attribute names stands for ``-``, values are escaped, children are markup already."""
    written = "".join(f' {key.replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """A straight line."""
    return tag("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": css})


def path(points: Sequence[tuple[float, float]], css: str) -> str:
    """A line through ``points``."""
    joined = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return tag("path", {"d": f"M{joined}", "class": css})


def thinned(points: Sequence[tuple[float, float]], tolerance: float = 0.25) -> list[tuple[float, float]]:
    """The fewest of ``points`` whose line runs within ``tolerance`` pixels of all (Ramer, Douglas and Peucker)."""
    if len(points) < 3:
        return list(points)
    line = np.asarray(points)
    kept = {0, len(line) - 1}
    spans = [(0, len(line) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        way = line[last] - line[first]
        off = line[first + 1 : last] - line[first]
        away = np.abs(way[0] * off[:, 1] - way[1] * off[:, 0]) / (np.hypot(*way) or 1.0)
        furthest = int(away.argmax()) + first + 1
        if away.max() > tolerance:
            kept.add(furthest)
            spans += [(first, furthest), (furthest, last)]
    return [points[place] for place in sorted(kept)]


def rect(x: float, y: float, width: float, height: float, css: str, **more: object) -> str:
    """A rectangle; a width below zero is drawn as none."""
    box = {"x": x, "y": y, "width": max(0.0, width), "height": max(0.0, height), "class": css}
    return tag("rect", {**box, **more})


def dot(x: float, y: float, radius: float, css: str) -> str:
    """A filled circle."""
    return tag("circle", {"cx": x, "cy": y, "r": radius, "class": css})


# What tells settings apart where colour tells memories apart.
SHAPES = ("circle", "square", "diamond", "triangle")


def shape(which: int, x: float, y: float, radius: float, css: str) -> str:
    """A filled shape of SHAPES, about as large as a dot of ``radius``."""
    match SHAPES[which % len(SHAPES)]:
        case "square":
            side = radius * 1.75
            return rect(x - side / 2, y - side / 2, side, side, css, rx=1.5)
        case "diamond":
            reach = radius * 1.3
            corners = [(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)]
        case "triangle":
            reach = radius * 1.25
            corners = [(x, y - reach), (x + reach, y + reach * 0.8), (x - reach, y + reach * 0.8)]
        case _:
            return dot(x, y, radius, css)
    joined = " ".join(f"{left:.1f},{top:.1f}" for left, top in corners)
    return tag("polygon", {"points": joined, "class": css})


def label(x: float, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    """A text; its middle is at ``y``."""
    place = {"x": x, "y": y, "dy": "0.35em", "text_anchor": anchor}
    return tag("text", {**place, **({"class": css} if css else {})}, escape(words))


def mark(css: str, memory: str, told: str, *children: str, by_key: bool = True, **more: object) -> str:
    """A thing that can be pointed at and tells ``told``; it belongs to ``memory``.

    ``by_key``: it is reached by keyboard as well.
    """
    about = {"class": f"mark {css}", "data_memory": memory, "role": "img", "aria_label": told, **more}
    return tag("g", {**about, "tabindex": 0} if by_key else about, tag("title", {}, escape(told)), *children)


def picture(width: float, height: float, css: str, title: str, *children: str) -> str:
    """The whole drawing, scaled to its box."""
    about = {
        "viewBox": f"0 0 {width:g} {height:g}", "class": css, "role": "group",
        "aria_label": title, "xmlns": "http://www.w3.org/2000/svg",
    }  # fmt: skip
    return tag("svg", about, *children)


def _value(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else escape(str(value), quote=True)
