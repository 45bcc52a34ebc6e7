"""Trajectories: attempts at a task. A dialogue is taken as one attempt per session."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.base import Item


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An attempt at a task from start to end, step by step.

    ``task`` is what was wanted; None where nobody has said so, as in a dialogue. ``succeeded`` is what the
    environment says of the outcome; None where it says nothing.
    """

    steps: tuple[Item, ...]
    task: str | None = None
    succeeded: bool | None = None

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns that it came from, each once."""
        return tuple(dict.fromkeys(turn_id for step in self.steps for turn_id in step.turn_ids))


class Sessions:
    """Cuts turns into trajectories, one per session.

    A session is over when a turn of another one comes. Where the source names no sessions, one is over as soon as it
    has ``most_tokens`` tokens.
    """

    def __init__(self, most_tokens: int) -> None:
        self._most = most_tokens
        self._name: str | None = None
        self.pending: list[Item] = []  # of the session that is not over

    def add(self, turns: Sequence[Turn]) -> Iterator[Trajectory]:
        """Takes in turns; gives the sessions that they end."""
        for turn in turns:
            if self.pending and turn.session != self._name:
                yield self._ended()
            self._name = turn.session
            self.pending.append(Item.of(turn))
            if turn.session is None and tokens.count_all(step.text for step in self.pending) >= self._most:
                yield self._ended()

    def _ended(self) -> Trajectory:
        steps, self.pending = tuple(self.pending), []
        return Trajectory(steps)
