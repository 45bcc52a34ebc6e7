"""What a run tells while it goes on."""

from dataclasses import dataclass, field
from typing import Protocol

from memgauge.runner.plan import Unit


@dataclass(slots=True)
class State:
    """Where a run stands. ``doing`` maps the units that are being played to the steps they have done."""

    units: int
    skipped: int
    done: int = 0
    failed: int = 0
    tokens: int = 0
    usd: float | None = None
    doing: dict[int, int] = field(default_factory=dict)


class Listener(Protocol):
    """Is told of every change; must return at once."""

    def warned(self, word: str) -> None:
        """Something is not as asked for, and the run goes on."""
        ...

    def started(self, unit: Unit, state: State) -> None:
        """A unit begins."""
        ...

    def stepped(self, unit: Unit, state: State) -> None:
        """A unit has done a turn or a question more."""
        ...

    def ended(self, unit: Unit, state: State, error: str | None) -> None:
        """A unit is done, or failed with ``error``."""
        ...


class Silent:
    """Tells nobody."""

    def warned(self, word: str) -> None:
        """Says nothing."""

    def started(self, unit: Unit, state: State) -> None:
        """Says nothing."""

    def stepped(self, unit: Unit, state: State) -> None:
        """Says nothing."""

    def ended(self, unit: Unit, state: State, error: str | None) -> None:
        """Says nothing."""
