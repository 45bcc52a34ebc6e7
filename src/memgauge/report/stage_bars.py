"""Bars cut by stage: what a turn costs, and which stage of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.analysis.memory_rows import STAGES
from memgauge.report import svg, words
from memgauge.report.axes import FONT, NARROW, Frame, x_axis


@dataclass(frozen=True, slots=True)
class StageBar:
    """One memory's mean model input per turn, by stage."""

    memory: str
    css: str
    stages: Mapping[str, float]
    told: str

    @property
    def total(self) -> float:
        """Over all stages."""
        return sum(self.stages.values())


def stage_bars(bars: Sequence[StageBar], width: float, *, high: float = 0.0) -> str:
    """One bar per memory, cheapest first; empty where there are none.

    A wide one is at least about ``high`` pixels high, to stand beside another figure.
    """
    if not bars:
        return ""
    bars = sorted(bars, key=lambda bar: bar.total)
    narrow = width < NARROW
    left = 4.0 if narrow else max(svg.text_width(bar.memory, FONT) for bar in bars) + 14
    used = [stage for stage in STAGES if any(bar.stages.get(stage) for bar in bars)]
    top = 28.0 if len(used) > 1 else 6.0
    pitch, thick = (46.0, 16.0) if narrow else (min(76.0, max(34.0, high / len(bars))), 22.0)
    frame = Frame(width, top + 6 + pitch * len(bars) + 46, left, 64, top)
    x = svg.Linear(0, max(bar.total for bar in bars) or 1.0, frame.left, frame.x1)
    parts = x_axis(frame, x, 4 if narrow else 6, words.count, "input tokens per turn", grid=True)
    if top > 6:
        parts += _key(used, frame)
    for place, bar in enumerate(bars):
        at = frame.top + place * pitch + (24 if narrow else 8)
        name = (
            svg.label(frame.left, at - 11, bar.memory, "name")
            if narrow
            else svg.label(frame.left - 10, at + thick / 2, bar.memory, "name", "end")
        )
        pieces, start = [], 0.0
        for stage in STAGES:
            tokens = bar.stages.get(stage, 0.0)
            if tokens:
                pieces.append(svg.rect(x(start), at, x(start + tokens) - x(start) - 0.5, thick, f"bar {stage}"))
            start += tokens
        total = svg.label(x(start) + 7, at + thick / 2, words.count(start), "value")
        parts.append(svg.mark(bar.css, bar.memory, bar.told, name, *pieces, total))
    return svg.picture(width, frame.height, "chart bars", "Model input tokens per turn by stage", *parts)


def _key(stages: Sequence[str], frame: Frame) -> list[str]:
    parts, at = [], frame.left
    for stage in stages:
        parts.append(svg.rect(at, 3, 12, 12, f"bar {stage}", rx=2))
        parts.append(svg.label(at + 17, 9, stage, "tick"))
        at += 17 + svg.text_width(stage, FONT) + 14
    return [svg.tag("g", {"class": "ref"}, *parts)]
