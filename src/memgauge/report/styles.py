"""One colour per memory, the same everywhere."""

from collections.abc import Iterable

from memgauge.analysis.break_even import REFERENCE

COLOURS = 8  # classes c0 … c7 in page.css; further memories start again, dashed


def styles_of(memories: Iterable[tuple[str, bool]]) -> dict[str, str]:
    """The class of each memory (and whether it is a control): the reference in ink, controls grey, others coloured."""
    styles: dict[str, str] = {}
    controls = coloured = 0
    for memory, control in memories:
        if memory in styles:
            continue
        if memory == REFERENCE:
            styles[memory] = "ref"
        elif control:
            styles[memory] = f"control k{controls % 2}"
            controls += 1
        else:
            again = " again" if coloured >= COLOURS else ""
            styles[memory] = f"c{coloured % COLOURS}{again}"
            coloured += 1
    return styles
