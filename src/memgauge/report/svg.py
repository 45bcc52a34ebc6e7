"""A few SVG primitives: scales with round ticks, shapes, and labels that keep out of each other's way.

Colours come from the page's style sheet by class name; every text is escaped here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Protocol

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


def rect(x: float, y: float, width: float, height: float, css: str, **more: object) -> str:
    """A rectangle; a width below zero is drawn as none."""
    box = {"x": x, "y": y, "width": max(0.0, width), "height": max(0.0, height), "class": css}
    return tag("rect", {**box, **more})


def dot(x: float, y: float, radius: float, css: str) -> str:
    """A filled circle."""
    return tag("circle", {"cx": x, "cy": y, "r": radius, "class": css})


def label(x: float, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    """A text; its middle is at ``y``."""
    place = {"x": x, "y": y, "dy": "0.35em", "text_anchor": anchor}
    return tag("text", {**place, **({"class": css} if css else {})}, escape(words))


def mark(css: str, memory: str, told: str, *children: str) -> str:
    """A thing that can be pointed at and reached by keyboard, and tells ``told``; it belongs to ``memory``."""
    about = {"class": f"mark {css}", "data_memory": memory, "tabindex": 0, "role": "img", "aria_label": told}
    return tag("g", about, tag("title", {}, escape(told)), *children)


def picture(width: float, height: float, css: str, title: str, *children: str) -> str:
    """The whole drawing, scaled to its box."""
    about = {
        "viewBox": f"0 0 {width:g} {height:g}", "class": css, "role": "group",
        "aria_label": title, "xmlns": "http://www.w3.org/2000/svg",
    }  # fmt: skip
    return tag("svg", about, *children)


def _value(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else escape(str(value), quote=True)
