"""A figure on a page: its title, what it shows, and the drawing for a wide screen and for a phone."""

from collections.abc import Callable, Mapping, Sequence

from memgauge.report.columns import Styles, swatch
from memgauge.report.markup import Markup, Part, element
from memgauge.report.shell import data

WIDE, HALF, NARROW = 820, 540, 350  # widths in which figures are drawn, in pixels

Draw = Callable[[float], str]


def figure(title: str, text: Part, *content: Part) -> Markup:
    """A box with a heading, a line that says how to read it, and ``content``."""
    caption = element("figcaption", element("h3", title), element("p", text, class_="sub"))
    return element("figure", caption, *content)


def drawings(draw: Draw, width: float = WIDE) -> Markup:
    """The drawing in both widths; the style sheet shows the one that fits."""
    return element(
        "div",
        element("div", Markup(draw(width)), class_="wide"),
        element("div", Markup(draw(NARROW)), class_="narrow"),
    )


def charted(content: Part, series: Mapping[str, object], unit: str = "tokens") -> Markup:
    """A line chart (or several of the same lines) with what its tooltip tells of every turn."""
    return element("div", content, data(series, "series"), class_="charted", data_unit=unit)


def legend(memories: Sequence[str], styles: Styles) -> Markup:
    """A button per memory; pressed, it takes the memory out of the section's figures."""
    buttons = [
        element("button", swatch(memory, styles), memory, type="button", aria_pressed="true", data_memory=memory)
        for memory in memories
    ]
    return element("div", *buttons, class_="legend", role="group", aria_label="Memories shown in the figures")
