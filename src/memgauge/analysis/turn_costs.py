"""C(t): the model input tokens billed at each turn, by stage.

Cached input counts as input here, and so does input written to a cache. Embedding and output tokens are columns
of their own. Calls made to answer a question after the dialogue belong to no turn's serving and are left out.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

SERVING = ("read", "write", "manage", "answer")

# Outcomes of a call for which no server bills: an error in place of an answer, or never sent.
_UNBILLED = ("http", "context", "budget")

COLUMNS = (
    "unit", "turn", "question", "stage", "kind", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens", "embedding_tokens", "outcome", "latency_s",
)  # fmt: skip


def billed_input() -> pl.Expr:
    """Input tokens of a chat call with its cached ones; null where unknown, 0 where nothing was billed."""
    whole = pl.col("input_tokens") + pl.sum_horizontal(pl.col("cached_tokens", "cache_write_tokens").fill_null(0))
    return pl.when(pl.col("kind") != "chat").then(0).otherwise(_known(whole))


def call_costs(calls: pl.DataFrame) -> pl.DataFrame:
    """What each call made while the dialogue was served was billed for.

    Columns: unit, turn, stage, input_tokens, output_tokens, embedding_tokens; null where a call did not report it.
    """
    serving = calls.filter(pl.col("question").is_null() & pl.col("stage").is_in(SERVING))
    chat = pl.col("kind") == "chat"
    return serving.select(
        "unit",
        "turn",
        "stage",
        input_tokens=billed_input(),
        output_tokens=pl.when(chat).then(_known(pl.col("output_tokens"))).otherwise(0),
        embedding_tokens=pl.when(chat).then(0).otherwise(_known(pl.col("embedding_tokens"))),
    )


def series_by_turn(values: pl.DataFrame, turns: Mapping[int, int]) -> dict[int, NDArray[np.float64]]:
    """Sums of ``value`` (columns unit, turn, value) at turn 1 … n of each unit, n its number in ``turns``.

    0 where there is no row, NaN where a value is unknown. What was billed before the first turn is billed with it.
    """
    lengths = np.fromiter(turns.values(), np.intp, len(turns))
    starts = np.concatenate(([0], np.cumsum(lengths)))
    place = pl.DataFrame(
        {"unit": list(turns), "start": starts[:-1], "turns": lengths},
        schema={"unit": pl.Int64, "start": pl.Int64, "turns": pl.Int64},
    )
    found = values.join(place, on="unit").filter(pl.col("turn") <= pl.col("turns"))
    rows = (found["start"] + found["turn"].clip(1) - 1).to_numpy()
    figures = found["value"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    sums = np.bincount(rows, figures, minlength=int(starts[-1])) if len(rows) else np.zeros(int(starts[-1]))
    return dict(zip(turns, np.split(sums, starts[1:-1]), strict=True)) if turns else {}


def _known(figure: pl.Expr) -> pl.Expr:
    unbilled = figure.is_null() & pl.col("outcome").is_in(_UNBILLED)
    return pl.when(unbilled).then(0).otherwise(figure)
