"""A call's way through the budget: every attempt is admitted before it goes out, and settled when it is over."""

from dataclasses import dataclass, replace

from memgauge.backbones.base import UpstreamError, Usage
from memgauge.backbones.faults import together
from memgauge.ledger.flights import Flight, Flights
from memgauge.meter.bound import Bound
from memgauge.meter.budget import Budget, BudgetExceeded, Pricer, Reservation
from memgauge.meter.stops import Stop


@dataclass(slots=True)
class _Sides:
    """Tokens read (``cached`` among them) and written; None where the upstream did not say."""

    read: int | None = None
    written: int | None = None
    cached: int = 0

    @classmethod
    def of(cls, usage: Usage) -> "_Sides":
        read = written = None
        if usage.input is not None or usage.embedding is not None:
            figures = (usage.input, usage.cached, usage.cache_write, usage.embedding)
            read = sum(figure or 0 for figure in figures)
        if usage.output is not None:
            written = usage.output + (usage.reasoning or 0)
        return cls(read, written, usage.cached or 0)

    def since(self, before: "_Sides") -> "_Sides":
        """What came on top of ``before``. A side that did not grow was not told of."""
        read, written = _grown(before.read, self.read), _grown(before.written, self.written)
        return _Sides(read, written, max(0, self.cached - before.cached))


class Passage:
    """One call. ``input_at_most`` and ``output_at_most`` grow by what attempts of unknown usage can have used."""

    def __init__(self, budget: Budget, price: Pricer, bound: Bound, flights: Flights | None, flight: Flight) -> None:
        self.input_at_most = 0
        self.output_at_most = 0
        self.refusal: Stop | None = None
        self.told: Usage | None = None  # by attempts before the one that is under way
        self._budget = budget
        self._price = price
        self._bound = bound
        self._flights = flights
        self._flight = flight
        self._slot: int | None = None
        self._held: Reservation | None = None

    @property
    def at_most(self) -> tuple[int, int]:
        """Tokens read and written that attempts of unknown usage can have used."""
        return self.input_at_most, self.output_at_most

    async def begin(self) -> None:
        """Sets the first attempt's worst case aside, and notes that the call is under way.

        Raises BudgetExceeded where the budget has no room for it.
        """
        self._held = await self._admitted()
        if self._flights is not None:
            self._slot = self._flights.sent(self._flight)

    async def again(self, fault: UpstreamError) -> bool:
        """Settles an attempt that failed with ``fault`` and admits another; False where there is no room for it."""
        self._settle(_Sides.of(fault.usage), free=fault.costs_nothing)
        self.told = together(self.told, fault.usage)
        try:
            self._held = await self._admitted()
        except Stop as refusal:
            self.refusal = refusal
            return False
        if self._flights is not None and self._slot is not None:
            flight = self._flight
            read, written = (flight.input_at_most + self._bound.input, flight.output_at_most + self._bound.output)
            self._flight = replace(flight, input_at_most=read, output_at_most=written)
            self._flights.change(self._slot, self._flight)
        return True

    def over(self, usage: Usage, *, free: bool = False) -> None:
        """Settles the last attempt; ``usage`` is of all attempts together. ``free``: it surely cost nothing."""
        if self._held is not None:
            self._settle(_Sides.of(usage).since(_Sides.of(self.told or Usage())), free=free)

    def landed(self) -> None:
        """The call's row is on disk."""
        if self._flights is not None and self._slot is not None:
            self._flights.landed(self._slot)
            self._slot = None

    async def _admitted(self) -> Reservation:
        bound = self._bound
        if not self._budget.capped:
            return self._budget.reserve(0, 0.0)
        usd = self._price(bound.input, bound.output, 0)
        if bound.why_open is not None and (usd != 0.0 or self._budget.caps_tokens):
            raise BudgetExceeded(f"the next call has no bound, so it cannot be capped: {bound.why_open}", self._budget)
        return await self._budget.admit(bound.input + bound.output, usd)

    def _settle(self, told: _Sides, *, free: bool) -> None:
        assert self._held is not None
        read, written = told.read, told.written
        if read is None:
            read = 0 if free else self._bound.input
            self.input_at_most += read
        if written is None:
            written = 0 if free else self._bound.output
            self.output_at_most += written
        self._held.settle(read + written, self._price(read, written, told.cached))
        self._held = None


def _grown(before: int | None, now: int | None) -> int | None:
    if now is None or before is None:
        return now
    return now - before if now > before else None
