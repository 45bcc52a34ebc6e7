"""A ledger, read and scored once for all that is told of it."""

from dataclasses import dataclass

import polars as pl

from memgauge.analysis.memory_rows import CALL_COLUMNS, Played
from memgauge.analysis.money import card_of, priced
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.metrics.score import scores_frame_of
from memgauge.prices import PriceCard


@dataclass(frozen=True, slots=True)
class Read:
    """The frames of a run, scored and priced. ``lost`` are calls that were paid and never used; ``notes`` says
    what could not be used.
    """

    frames: Frames
    meta: dict[str, str]
    played: Played
    verdicts: pl.DataFrame
    lost: pl.DataFrame
    card: PriceCard | None
    notes: tuple[str, ...]


def read(frames: Frames) -> Read:
    """Reads a ledger, also of a run that is still going on."""
    units, meta = frames.units(), frames.meta()
    card, notes = None, []
    try:
        card = card_of(meta)
    except UserError as fault:
        notes.append(f"the spec's price card was not used: {fault}")
    answers, verdicts = frames.answers(), frames.table("verdicts")
    scores = scores_frame_of(answers, units, verdicts)
    calls = priced(frames.calls(CALL_COLUMNS), units, card)
    lost = priced(frames.lost_calls().select(CALL_COLUMNS), units, card)
    played = Played(units, calls, frames.steps(), answers, scores)
    return Read(frames, meta, played, verdicts, lost, card, tuple(notes))
