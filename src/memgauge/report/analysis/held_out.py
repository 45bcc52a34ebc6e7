"""Held-out error as a strip: one row per memory, one square per cell that its fit has not seen."""

from collections.abc import Sequence

from memgauge.analysis.cost_model import CostModel, HeldOut
from memgauge.report import svg, words
from memgauge.report.axes import FONT, NARROW
from memgauge.report.columns import Styles

_STEPS = (0.05, 0.10, 0.25, 0.50)  # errors at which the shade deepens


def held_out_strip(models: Sequence[CostModel], cells: Sequence[str], styles: Styles, width: float) -> str:
    """The strip, cells in the given order, the mean last; empty where no cell was held out."""
    rows = [entry for entry in models if entry.held_out]
    cells = [cell for cell in cells if any(found.cell == cell for entry in rows for found in entry.held_out)]
    if not rows:
        return ""
    narrow = width < NARROW
    left = 2.0 if narrow else max(svg.text_width(entry.memory, FONT) for entry in rows) + 14
    pitch, high = (50.0, 26.0) if narrow else (36.0, 30.0)
    above = 20.0 if narrow else 0.0
    step = min(96.0, (width - left - 4) / (len(cells) + 1.15))
    top = 42.0
    size = "small" if step < 40 else "tick"
    parts = [_cell_name(cell, left + (place + 0.5) * step, size) for place, cell in enumerate(cells)]
    last = left + (len(cells) + 0.65) * step
    parts.append(svg.label(last, 25, "mean", "tick", "middle"))
    for place, entry in enumerate(rows):
        at = top + place * pitch + above
        name = (
            svg.label(left, at - 11, entry.memory, "name")
            if narrow
            else svg.label(left - 10, at + high / 2, entry.memory, "name", "end")
        )
        squares = [
            _square(entry, found, styles[entry.memory], (left + cells.index(found.cell) * step, at), (step, high))
            for found in entry.held_out
        ]
        mean = svg.label(last, at + high / 2, words.error(entry.loocv_mape), "mean", "middle")
        parts.append(svg.tag("g", {"class": styles[entry.memory], "data_memory": entry.memory}, name, *squares, mean))
    height = top + pitch * len(rows) + 6
    return svg.picture(width, height, "chart strip", "Held-out error by cell", *parts)


def _cell_name(cell: str, at: float, css: str) -> str:
    """``400 × 200`` on two lines, so that many fit side by side."""
    turns, _, tokens = cell.partition(" × ")
    if not tokens:
        return svg.label(at, 25, cell, css, "middle")
    return svg.label(at, 16, turns, css, "middle") + svg.label(at, 31, f"× {tokens}", css, "middle")


def _square(entry: CostModel, found: HeldOut, css: str, at: tuple[float, float], size: tuple[float, float]) -> str:
    signed = found.predicted / found.actual - 1
    depth = sum(found.ape >= step for step in _STEPS)
    written = f"{'−' if signed < 0 else '+'}{abs(signed) * 100:.0f}"
    told = (
        f"{entry.memory}, cell {found.cell} held out: {words.count(found.predicted)} input tokens per turn predicted,"
        f" {words.count(found.actual)} measured, {written} %"
    )
    box = svg.rect(at[0] + 1, at[1], size[0] - 2, size[1], f"square e{depth}", rx=4)
    text = svg.label(
        at[0] + size[0] / 2,
        at[1] + size[1] / 2,
        written,
        f"written{' tight' if size[0] < 34 else ''} e{depth}",
        "middle",
    )
    return svg.mark(css, entry.memory, told, box, text)
