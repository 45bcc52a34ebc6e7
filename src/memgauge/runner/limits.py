"""What a run may use."""

from collections.abc import Iterable
from dataclasses import dataclass

from memgauge.meter.budget import Budget, Spend

_SIDE_BY_SIDE = 32  # where the models run elsewhere; local ones serve one call at a time


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls side by side (None: as suits the models), and caps on what is spent, by the run and by each unit."""

    concurrency: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    unit_max_tokens: int | None = None
    unit_max_usd: float | None = None

    def budget(self, spent: Iterable[Spend]) -> Budget:
        """The budget of the run, less what earlier attempts ``spent``."""
        return Budget(max_tokens=self.max_tokens, max_usd=self.max_usd, spent=sum(spent, Spend(usd=0.0)))

    def unit_budget(self, budget: Budget, spent: Spend | None) -> Budget | None:
        """The budget of one unit within the run's, less what its earlier attempts ``spent``; None where none is set."""
        if self.unit_max_tokens is None and self.unit_max_usd is None:
            return None
        return Budget(max_tokens=self.unit_max_tokens, max_usd=self.unit_max_usd, spent=spent, within=budget)

    def calls(self, paid: bool) -> int:
        """How many calls may be under way at a time."""
        return self.concurrency or (_SIDE_BY_SIDE if paid else 1)

    def tasks(self, paid: bool) -> int:
        """How many units, questions or verdicts may be in hand: a few more than calls, so that a call is ready."""
        calls = self.calls(paid)
        return calls + calls // 4
