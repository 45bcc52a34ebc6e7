"""What a run may use."""

from dataclasses import dataclass

_SIDE_BY_SIDE = 32  # where the models run elsewhere; local ones serve one call at a time


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls side by side (None: as suits the models), and caps on what is spent."""

    concurrency: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None

    def calls(self, paid: bool) -> int:
        """How many calls may be under way at a time."""
        return self.concurrency or (_SIDE_BY_SIDE if paid else 1)

    def tasks(self, paid: bool) -> int:
        """How many units, questions or verdicts may be in hand: a few more than calls, so that a call is ready."""
        calls = self.calls(paid)
        return calls + calls // 4
