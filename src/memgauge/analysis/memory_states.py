"""What drives a memory's cost (stored facts, buffered tokens, …), as it told after its writes."""

from collections import defaultdict
from dataclasses import dataclass

import msgspec

from memgauge.analysis.call_trees import longest_units
from memgauge.analysis.read import Read

MOST_POINTS = 2_000  # of a figure; of more, evenly spread ones are kept

_figures = msgspec.json.Decoder(dict[str, float]).decode


@dataclass(frozen=True, slots=True)
class StateSeries:
    """One figure of one memory: its value after some turns, in their order."""

    figure: str
    turns: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MemoryStates:
    """The figures of one unit; those that stayed 0 are left out."""

    memory: str
    protocol: str
    item: str
    turns: int
    series: tuple[StateSeries, ...]


def memory_states(found: Read) -> tuple[MemoryStates, ...]:
    """Of each memory that tells its state, the longest unit: of those served, else of those asked."""
    units = longest_units(found.played.units).sort("protocol", descending=True, maintain_order=True)  # serve, recall
    told = []
    seen: set[str] = set()
    for unit, memory, protocol, item, turns in units.select("unit", "memory", "protocol", "item", "turns").iter_rows():
        if memory in seen:
            continue
        rows = found.frames.table("states", ("turn", "state"), f"WHERE unit = {unit} ORDER BY turn")
        if series := _series(list(rows.iter_rows())):
            seen.add(memory)
            told.append(MemoryStates(memory, protocol, item, turns, series))
    order = list(found.played.units["memory"].unique(maintain_order=True))
    return tuple(sorted(told, key=lambda states: order.index(states.memory)))


def _series(rows: list[tuple[int, str]]) -> tuple[StateSeries, ...]:
    points: dict[str, list[tuple[int, float]]] = defaultdict(list)
    step = max(1, len(rows) // MOST_POINTS)
    for turn, state in [*rows[:-1:step], *rows[-1:]]:
        for figure, value in _figures(state).items():
            points[figure].append((turn, value))
    return tuple(
        StateSeries(figure, *(tuple(side) for side in zip(*found, strict=True)))
        for figure, found in points.items()
        if any(value for _, value in found)
    )
