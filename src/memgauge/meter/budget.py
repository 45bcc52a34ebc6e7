"""A cap on what a run may spend: the worst case of every call is set aside before it is sent."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from memgauge.meter.stops import Halted, Stop


class BudgetExceeded(Stop):
    """The next call could pass a cap, so it was not sent.

    ``budget`` is the one that has no room. ``in_use`` says that it would have, were no other call under way.
    """

    status = 402
    kind = "budget_exceeded"

    def __init__(self, message: str, budget: "Budget", *, in_use: bool = False) -> None:
        super().__init__(message)
        self.budget = budget
        self.in_use = in_use
        self.whole_run = budget.within is None


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens of all classes, and dollars where they are known."""

    tokens: int = 0
    usd: float | None = None

    def __add__(self, other: "Spend") -> "Spend":
        usd = None if self.usd is None and other.usd is None else (self.usd or 0.0) + (other.usd or 0.0)
        return Spend(self.tokens + other.tokens, usd)


# (input tokens, output tokens, cached tokens among the input) -> dollars at most, None where unknown
Pricer = Callable[[int, int, int], float | None]

_NANO = 1_000_000_000


class Budget:
    """Caps on tokens and dollars, shared by all units of a run, or one unit's own ``within`` the run's.

    Dollars can be capped only where the model has a price; ``reserve`` refuses to guess. They are added up as whole
    nanodollars, each rounded up, so that no sum of many is less than it should be.
    """

    def __init__(
        self,
        *,
        max_tokens: int | None = None,
        max_usd: float | None = None,
        spent: Spend | None = None,
        within: "Budget | None" = None,
    ) -> None:
        self.max_tokens = max_tokens
        self.max_usd = max_usd
        self.within = within
        self._tokens = spent.tokens if spent else 0
        self._nano = _nano(spent.usd or 0.0) if spent else 0
        self._held_tokens = 0
        self._held_nano = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._closed = False

    @property
    def spent(self) -> Spend:
        """What completed calls cost so far, reservations left out."""
        return Spend(self._tokens, self._nano / _NANO)

    @property
    def caps_tokens(self) -> bool:
        """Whether tokens are capped, here or further out."""
        return self.max_tokens is not None or (self.within is not None and self.within.caps_tokens)

    @property
    def capped(self) -> bool:
        """Whether anything is."""
        return self.caps_tokens or self.max_usd is not None or (self.within is not None and self.within.capped)

    def close(self) -> None:
        """Admits nothing any more: ``reserve`` raises Halted."""
        self._closed = True
        self._wake()

    async def admit(self, tokens: int, usd: float | None) -> "Reservation":
        """Sets the worst case of a call aside, waiting for calls under way where they hold what it needs.

        Raises BudgetExceeded where it does not fit whatever they turn out to cost.
        """
        while True:
            try:
                return self.reserve(tokens, usd)
            except BudgetExceeded as refusal:
                if not refusal.in_use:
                    raise
                await refusal.budget._released()

    def reserve(self, tokens: int, usd: float | None) -> "Reservation":
        """Sets the worst case of a call aside; raises BudgetExceeded where it does not fit."""
        if self._closed:
            raise Halted("stopped before it was finished")
        nano = 0 if usd is None else _nano(usd)
        self._check(tokens, nano, priced=usd is not None)
        outer = None if self.within is None else self.within.reserve(tokens, usd)
        self._held_tokens += tokens
        self._held_nano += nano
        return Reservation(self, tokens, nano, outer)

    def _check(self, tokens: int, nano: int, *, priced: bool) -> None:
        whose = "all" if self.within is None else "one unit"
        if self.max_tokens is not None and self._tokens + self._held_tokens + tokens > self.max_tokens:
            message = f"the next call may use {tokens:,} tokens; {self.max_tokens:,} are allowed in {whose}"
            raise BudgetExceeded(
                f"{message}, {self._tokens:,} are spent", self, in_use=self._tokens + tokens <= self.max_tokens
            )
        if self.max_usd is None:
            return
        if not priced:
            raise BudgetExceeded("the model has no price, so dollars cannot be capped; give a price card", self)
        limit = int(self.max_usd * _NANO)
        if self._nano + self._held_nano + nano > limit:
            message = f"the next call may cost ${nano / _NANO:.4f}; ${self.max_usd:g} are allowed in {whose}"
            raise BudgetExceeded(
                f"{message}, ${self._nano / _NANO:.4f} are spent", self, in_use=self._nano + nano <= limit
            )

    async def _released(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def _settle(self, held_tokens: int, held_nano: int, tokens: int, nano: int) -> None:
        self._held_tokens -= held_tokens
        self._held_nano -= held_nano
        self._tokens += tokens
        self._nano += nano
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)


@dataclass(slots=True)
class Reservation:
    """A call's worst case, held until ``settle`` says what it really was."""

    budget: Budget
    tokens: int
    nano: int
    outer: "Reservation | None" = None

    def settle(self, tokens: int | None, usd: float | None) -> None:
        """Replaces the worst case by what was spent; what is unknown stays at its worst case."""
        spent_tokens = self.tokens if tokens is None else tokens
        spent_nano = self.nano if usd is None else _nano(usd)
        self.budget._settle(self.tokens, self.nano, spent_tokens, spent_nano)
        if self.outer is not None:
            self.outer.settle(tokens, usd)


def _nano(usd: float) -> int:
    return ceil(usd * _NANO - 1e-6)  # what floats add to a whole number is no nanodollar
