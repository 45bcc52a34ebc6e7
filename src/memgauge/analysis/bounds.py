"""Bounds on a regression, for use in CI: how much worse than a baseline a figure may be before it counts as broken."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memgauge.errors import UnknownNameError, UserError

_CHANGE = re.compile(r"([+-])\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)")


class BoundError(UserError):
    """A bound that cannot be read or cannot be checked."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The worst allowed change of ``figure`` from the baseline to the other side.

    A change of exactly ``change`` still holds. ``relative`` changes are shares of the baseline's figure, absolute
    ones are in the figure's own unit (0.02 of token F1 is two points in a hundred). The sign is that of a
    regression: minus where higher is better, plus where lower is.
    """

    figure: str
    change: float
    relative: bool
    higher_is_better: bool

    def __str__(self) -> str:
        return f"{self.figure}={self.change * 100:+g}%" if self.relative else f"{self.figure}={self.change:+g}"

    def worse(self, change: float) -> bool:
        """Whether ``change``, of the same kind, is beyond the bound. Rounding in the last place is forgiven."""
        slack = 1e-9 * max(1.0, abs(self.change))
        return change < self.change - slack if self.higher_is_better else change > self.change + slack


def parse_bound(text: str, higher_is_better: Mapping[str, bool]) -> Bound:
    """``token_f1=-0.02``, ``input_tokens_per_turn=+5%``; ``higher_is_better`` names the figures with a direction.

    Raises BoundError, or UnknownNameError where there is no such figure.
    """
    figure, equals, amount = (part.strip() for part in text.partition("="))
    if not equals or not figure:
        raise BoundError(f"bound {text!r}: expected FIGURE=CHANGE, such as token_f1=-0.02")
    if figure not in higher_is_better:
        raise UnknownNameError("figure", figure, higher_is_better)
    match = _CHANGE.fullmatch(amount)
    sign, better = ("-", "higher") if higher_is_better[figure] else ("+", "lower")
    if not match or match[1] != sign:
        raise BoundError(
            f"bound {text!r}: {figure} is better when {better}; expected a change such as {sign}0.02 or {sign}5%"
        )
    size = float(match[2]) / (100 if match[3] else 1)
    return Bound(figure, -size if sign == "-" else size, bool(match[3]), higher_is_better[figure])
