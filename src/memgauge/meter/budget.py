"""A cap on what a run may spend: the worst case of every call is set aside before it is sent."""

from collections.abc import Callable
from dataclasses import dataclass


class BudgetExceeded(Exception):  # noqa: N818 - a decision of ours, not a fault
    """The next call could pass the cap, so it was not sent."""


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens of all classes, and dollars where they are known."""

    tokens: int = 0
    usd: float | None = None


Pricer = Callable[[int, int], float | None]  # (input tokens, output tokens) -> dollars, None where unknown


class Budget:
    """Caps on tokens and dollars shared by all units of a run.

    Dollars can be capped only where the model has a price; ``reserve`` refuses to guess.
    """

    def __init__(
        self, *, max_tokens: int | None = None, max_usd: float | None = None, spent: Spend | None = None
    ) -> None:
        self.max_tokens = max_tokens
        self.max_usd = max_usd
        self._tokens = spent.tokens if spent else 0
        self._usd = (spent.usd or 0.0) if spent else 0.0
        self._held_tokens = 0
        self._held_usd = 0.0

    @property
    def spent(self) -> Spend:
        """What completed calls cost so far, reservations left out."""
        return Spend(self._tokens, self._usd)

    def reserve(self, tokens: int, usd: float | None) -> "Reservation":
        """Sets the worst case of a call aside; raises BudgetExceeded where it does not fit."""
        if self.max_tokens is not None and self._tokens + self._held_tokens + tokens > self.max_tokens:
            raise BudgetExceeded(f"the next call may use {tokens:,} tokens; {self.max_tokens:,} are allowed in all")
        if self.max_usd is not None:
            if usd is None:
                raise BudgetExceeded("the model has no price, so dollars cannot be capped; give a price card")
            if self._usd + self._held_usd + usd > self.max_usd:
                raise BudgetExceeded(f"the next call may cost ${usd:.4f}; ${self.max_usd:.2f} are allowed in all")
        self._held_tokens += tokens
        self._held_usd += usd or 0.0
        return Reservation(self, tokens, usd or 0.0)


@dataclass(slots=True)
class Reservation:
    """A call's worst case, held until ``settle`` says what it really was."""

    budget: Budget
    tokens: int
    usd: float

    def settle(self, tokens: int | None, usd: float | None) -> None:
        """Replaces the worst case by what was spent; what is unknown stays at its worst case."""
        budget = self.budget
        budget._held_tokens -= self.tokens
        budget._held_usd -= self.usd
        budget._tokens += self.tokens if tokens is None else tokens
        budget._usd += self.usd if usd is None else usd
