"""Where a memory would pay: break-even over conversations of any length and message size, by the fitted models.

Nothing here is measured. A fit says what a turn costs on average; what it does not explain (R², held-out error) the
forecast does not know either.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.analysis.cost_model import Fit
from memgauge.analysis.moments import Array
from memgauge.analysis.sustained import sustained_turn


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the fitted models make of a conversation of ``turns`` (N) with messages of ``tokens`` (L).

    ``turn`` is the sustained break-even: 0 from the start, None for never within N. ``ratio`` is cumulative cost over
    full history's at the end; None where that costs nothing.
    """

    turns: int
    tokens: float
    turn: int | None
    ratio: float | None


def forecasts(own: Fit, reference: Fit, turns: Sequence[int], tokens: Sequence[float]) -> tuple[Forecast, ...]:
    """One per N and L, L by L; costs below 0, which a fit can predict for the first turns, count as 0."""
    found = []
    for size in tokens:
        mine, full = _costs(own, size, max(turns)), _costs(reference, size, max(turns))
        sums, sums_full = np.cumsum(mine), np.cumsum(full)
        for n in turns:
            whole = float(sums_full[n - 1])
            ratio = float(sums[n - 1]) / whole if whole > 0 else None
            found.append(Forecast(n, size, sustained_turn(mine[:n], full[:n]), ratio))
    return tuple(found)


def crossings(own: Fit, reference: Fit, turns: int, tokens: float) -> tuple[float, ...]:
    """Where, up to ``turns``, the two cumulative costs are equal, interpolated between whole turns."""
    more = np.cumsum(_costs(own, tokens, turns) - _costs(reference, tokens, turns))
    before = np.flatnonzero((more[1:] < 0) != (more[:-1] < 0))
    return tuple((before + 1 + more[before] / (more[before] - more[before + 1])).tolist())


def _costs(fit: Fit, size: float, turns: int) -> Array:
    return np.asarray(np.maximum(fit.predict(size, np.arange(1.0, turns + 1)), 0.0))
