"""Why a call is made: the turn, stage and question that a unit is at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """``turn`` counts from 1 (0 before the first); ``stage`` is one of spec.STAGES.

    ``background`` marks a call that arrived while no scope was open: work that a memory does by itself, charged
    to the last turn as ``manage``.
    """

    turn: int
    stage: str
    question: str | None = None
    background: bool = False
