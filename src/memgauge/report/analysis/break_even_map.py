"""Break-even as a map over conversations of N turns and L tokens per message, forecast by the fitted models.

Shades say how much a memory saves or wastes over the whole conversation. The line is where it begins to pay: read at
a given L, its place on the axis of turns is the break-even turn. Measured cells are marked with their own turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from memgauge.analysis.cost_model import Fit
from memgauge.analysis.forecast import Forecast, crossings, forecasts
from memgauge.analysis.sustained import Sustained
from memgauge.report import svg, words
from memgauge.report.analysis.sentences import turn_words
from memgauge.report.axes import FONT, Frame, x_axis, y_axis

WIDTH, HEIGHT = 350.0, 330.0  # on a page: maps stand side by side, as many as fit
_ACROSS, _UP = 60, 20  # tiles
_LINE = 60  # message sizes through which the line is drawn

# Cost over full history's at the end of the conversation: shades up to which share, and how that is written.
_BANDS = (
    (0.10, "saves b4", "10 %"), (0.25, "saves b3", "25 %"), (0.50, "saves b2", "50 %"), (1.00, "saves b1", "100 %"),
    (2.00, "wastes b1", "2×"), (4.00, "wastes b2", "4×"), (float("inf"), "wastes b3", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plane:
    """The conversations that a map shows: N and L from … to …, on scales of powers."""

    turns: tuple[float, float]
    tokens: tuple[float, float]

    @classmethod
    def around(cls, cells: Sequence[tuple[int, float]]) -> "Plane":
        """A plane that holds the measured cells (N, L) with some room, at least 10 to 1,000 turns of 20 to 500."""
        turns, tokens = [turns for turns, _ in cells], [tokens for _, tokens in cells]
        return cls(
            (min([10.0, *turns]), max([1000.0, *(1.5 * n for n in turns)])),
            (min([20.0, *tokens]), max([500.0, *(1.5 * size for size in tokens)])),
        )

    def tiles(self) -> tuple[list[int], list[float]]:
        """N and L at the middle of each column and row of tiles."""
        across, up = (np.arange(count) + 0.5 for count in (_ACROSS, _UP))
        turns = self.turns[0] * (self.turns[1] / self.turns[0]) ** (across / _ACROSS)
        tokens = self.tokens[0] * (self.tokens[1] / self.tokens[0]) ** (up / _UP)
        return [round(n) for n in turns], tokens.tolist()


@dataclass(frozen=True, slots=True)
class Map:
    """What is drawn: the two fits, and the cells where break-even was measured."""

    memory: str
    css: str
    own: Fit
    reference: Fit
    measured: Sequence[Sustained]
    plane: Plane

    def draw(self, width: float = WIDTH) -> str:
        """The map."""
        frame = Frame(width, HEIGHT, 40, 10, 62)
        x = svg.Log(*self.plane.turns, frame.left, frame.x1)
        y = svg.Log(*self.plane.tokens, frame.y1, frame.top)
        turns, tokens = self.plane.tiles()
        found = forecasts(self.own, self.reference, turns, tokens)
        rows = [found[start : start + _ACROSS] for start in range(0, len(found), _ACROSS)]
        parts = [*_key(frame), *_bands(rows, frame), *self._line(x, y)]
        parts += x_axis(frame, x, 6, lambda value: f"{value:,.0f}", "turns N")
        parts += [part for part in y_axis(frame, y, 6, lambda value: f"{value:,.0f}") if "<text" in part]
        parts.append(svg.label(0, frame.top - 12, "tokens per message L", "axis"))
        parts.append(svg.rect(frame.left, frame.top, frame.x1 - frame.left, frame.y1 - frame.top, "hover"))
        parts += self._marks(x, y, frame)
        plane = svg.tag(
            "g",
            {"class": "plane", "data_x0": frame.left, "data_x1": frame.x1, "data_y0": frame.top, "data_y1": frame.y1},
            *parts,
        )  # fmt: skip
        title = f"Where {self.memory} is forecast to pay"
        return svg.picture(width, HEIGHT, "chart map", title, svg.tag("g", {"data_memory": self.memory}, plane))

    def tiles(self) -> dict[str, object]:
        """What the tooltip tells, tile by tile from the lowest L: the break-even turn (−1: never), and the ratio."""
        turns, tokens = self.plane.tiles()
        found = forecasts(self.own, self.reference, turns, tokens)
        return {
            "turns": turns,
            "tokens": [round(size) for size in tokens],
            "even": [-1 if entry.turn is None else entry.turn for entry in found],
            "ratio": [None if entry.ratio is None else float(f"{entry.ratio:.3g}") for entry in found],
        }

    def _line(self, x: svg.Scale, y: svg.Scale) -> list[str]:
        """Where the cheaper of the two changes, once or more often as L grows."""
        low, high = self.plane.tokens
        sizes = low * (high / low) ** (np.arange(_LINE) / (_LINE - 1))
        first, last = self.plane.turns
        found = [
            [(x(turn), y(size)) for turn in crossings(self.own, self.reference, int(last), size) if turn >= first]
            for size in sizes.tolist()
        ]
        most = max(map(len, found))
        paths = []
        for place in range(most):
            for drawn, points in groupby(found, lambda row, place=place: len(row) > place):  # type: ignore[misc]
                line = [row[place] for row in points] if drawn else []
                if len(line) > 1:
                    paths.append(svg.path(svg.thinned(line), "frontier"))
        return paths

    def _marks(self, x: svg.Scale, y: svg.Scale, frame: Frame) -> list[str]:
        marks = []
        for row in self.measured:
            if row.tokens is None:
                continue
            at = (x(row.turns), y(row.tokens))
            best = row.turn if row.turn is not None or row.extended is None else row.extended.turn
            written = "never" if best is None else "start" if best == 0 else str(best)
            told = (
                f"{self.memory}, measured at {row.cell}: {turn_words(row.turn, row.last_turn)}, at the end"
                f" {words.ratio(row.ratio)} of full history's cost"
            )
            right = at[0] + 9 + svg.text_width(written, FONT) < frame.x1
            text = svg.label(at[0] + (9 if right else -9), at[1], written, "turn", "start" if right else "end")
            shape = svg.dot(*at, 4.5, "cell" if best is not None else "cell never")
            marks.append(svg.mark(self.css, self.memory, told, shape, text))
        return marks


def _bands(rows: Sequence[Sequence[Forecast]], frame: Frame) -> list[str]:
    """Tiles of one shade that lie side by side are one rectangle."""
    wide, high = (frame.x1 - frame.left) / _ACROSS, (frame.y1 - frame.top) / _UP
    parts = []
    for row, tiles in enumerate(rows):
        start = 0
        for css, run in groupby(tiles, lambda tile: _band(tile.ratio)):
            length = len(list(run))
            top = frame.y1 - (row + 1) * high
            parts.append(svg.rect(frame.left + start * wide, top, length * wide, high, f"tile {css}"))
            start += length
    return parts


def _band(ratio: float | None) -> str:
    if ratio is None:
        return "unknown"
    return next(css for most, css, _ in _BANDS if ratio < most or ratio == most != 1.0)


def _key(frame: Frame) -> list[str]:
    """A strip of the shades, from what saves most to what wastes most."""
    parts, step = (
        [svg.label(frame.left, 6, "its cost over full history's", "small")],
        (frame.x1 - frame.left) / len(_BANDS),
    )
    for place, (_, css, name) in enumerate(_BANDS):
        parts.append(svg.rect(frame.left + place * step, 14, step, 8, f"tile {css}"))
        parts.append(svg.label(frame.left + (place + 1) * step, 30, name, "small", "middle"))
    return parts
