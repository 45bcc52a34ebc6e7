"""From which turn on is a memory cheaper than sending the whole history?"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import UserError

REFERENCE = "full-history"

Series = Mapping[Hashable, NDArray[np.float64]]  # cost of each turn, by what was played (conversation, seed)


class NoReferenceError(UserError):
    """Nothing to break even against: the run has no full-history on the same conversations."""

    def __init__(self, missing: str = REFERENCE) -> None:
        super().__init__(f"no break-even: no finished {missing} on these conversations; add it to the memories")


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Sustained break-even against full history.

    ``turn`` is the smallest t such that the cumulative cost is below full history's at t and at every later
    measured turn; 0 where it is below from the start, None where it is never. ``ratio`` is cumulative cost over
    full history's at ``last_turn``, the last one measured (below 1 is cheaper; None where that cost nothing).
    """

    turn: int | None
    ratio: float | None
    last_turn: int


def mean_by_turn(costs: Series) -> NDArray[np.float64]:
    """Mean cost of each turn over the conversations that reach it."""
    longest = max(map(len, costs.values()))
    total, reached = np.zeros(longest), np.zeros(longest)
    for series in costs.values():
        total[: len(series)] += series
        reached[: len(series)] += 1
    return total / reached


def break_even(memory: Series, reference: Series) -> BreakEven:
    """Compares measured costs, averaged over the conversations and seeds that both have played.

    Works in any unit of cost. Raises NoReferenceError where they share none. An unknown cost (NaN) ends what is
    measured.
    """
    shared = memory.keys() & reference.keys()
    if not shared:
        raise NoReferenceError
    own = np.cumsum(mean_by_turn({played: memory[played] for played in shared}))
    full = np.cumsum(mean_by_turn({played: reference[played] for played in shared}))
    unknown = np.isnan(own) | np.isnan(full)
    last = int(unknown.argmax()) if unknown.any() else len(own)
    if last == 0:
        return BreakEven(None, None, 0)
    own, full = own[:last], full[:last]
    dearer = np.flatnonzero(own >= full)
    ratio = float(own[-1] / full[-1]) if full[-1] > 0 else None
    if not len(dearer):
        return BreakEven(0, ratio, last)
    turn = int(dearer[-1]) + 2  # the turn after the last one (counted from 1) at which it was not below
    return BreakEven(turn if turn <= last else None, ratio, last)
