"""What drives each memory's cost, turn by turn: a small chart per figure."""

from collections.abc import Sequence

from memgauge.analysis.memory_states import MemoryStates, StateSeries
from memgauge.report import svg, words
from memgauge.report.columns import Styles, named
from memgauge.report.figure_box import figure
from memgauge.report.markup import Markup, element

_WIDE, _HIGH = 150.0, 44.0


def state_charts(found: Sequence[MemoryStates], styles: Styles) -> Markup | None:
    """A row of charts for each memory; None where none tells its state."""
    if not found:
        return None
    text = (
        "What the memories say of themselves after their writes, over the turns of their longest unit; each chart from"
        " 0 to its greatest value, the last value beside it. A figure that stayed 0 is left out."
    )
    return figure("What drives their cost", text, *(_memory(states, styles) for states in found))


def _memory(states: MemoryStates, styles: Styles) -> Markup:
    played = "served" if states.protocol == "serve" else "written"
    name = element("p", named(states.memory, styles), element("small", f" {played} {states.item}"), class_="of")
    charts = [_chart(states, series) for series in states.series]
    return element("div", name, element("div", *charts, class_="sparks"), class_=f"states {styles[states.memory]}")


def _chart(states: MemoryStates, series: StateSeries) -> Markup:
    most = max(max(series.values), 0.0) or 1.0
    x, y = svg.Linear(0, max(states.turns, 2), 2, _WIDE - 4), svg.Linear(min(0.0, *series.values), most, _HIGH - 3, 4)
    points: list[tuple[float, float]] = [(x(0), y(0))]
    for turn, value in zip(series.turns, series.values, strict=True):  # a state holds until the next is told
        points += [(x(turn), points[-1][1]), (x(turn), y(value))]
    points.append((x(states.turns), points[-1][1]))
    name, last = series.figure.replace("_", " "), words.count(series.values[-1])
    told = f"{states.memory}, {name}: {last} after turn {series.turns[-1]}, at most {words.count(most)}"
    drawn = svg.picture(
        _WIDE, _HIGH, "spark", told, svg.line(2, _HIGH - 3, _WIDE - 4, _HIGH - 3, "track"),
        svg.path(svg.thinned(points), "curve"), svg.dot(*points[-1], 2.5, "fill"),
    )  # fmt: skip
    return element("div", element("span", name, element("b", last), class_="of"), Markup(drawn), title=told)
