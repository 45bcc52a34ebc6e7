"""C(t): the model input tokens billed at each turn, by stage.

Cached input counts as input here, and so does input written to a cache. Embedding and output tokens are columns
of their own. Calls made to answer a question after the dialogue belong to no turn's serving and are left out.
"""

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


def turn_costs(calls: pl.DataFrame) -> pl.DataFrame:
    """One row per unit, turn and stage that made a call while the dialogue was served.

    Columns: unit, turn, stage, input_tokens, output_tokens, reasoning_tokens, embedding_tokens, calls, latency_s.
    A sum is null where any of its calls did not report the figure; reasoning that no call reported is null.
    """
    serving = calls.filter(pl.col("question").is_null() & pl.col("stage").is_in(SERVING))
    chat = pl.col("kind") == "chat"
    figures = serving.select(
        "unit",
        "turn",
        "stage",
        "latency_s",
        input_tokens=billed_input(),
        output_tokens=pl.when(chat).then(_known(pl.col("output_tokens"))).otherwise(0),
        reasoning_tokens=pl.when(chat).then(pl.col("reasoning_tokens")),
        embedding_tokens=pl.when(chat).then(0).otherwise(_known(pl.col("embedding_tokens"))),
    )
    return figures.group_by("unit", "turn", "stage", maintain_order=True).agg(
        _sum_known("input_tokens"),
        _sum_known("output_tokens"),
        pl.when(pl.col("reasoning_tokens").count() > 0).then(pl.col("reasoning_tokens").sum()),
        _sum_known("embedding_tokens"),
        pl.len().alias("calls"),
        pl.col("latency_s").sum(),
    )


def input_by_turn(costs: pl.DataFrame, turns: int) -> NDArray[np.float64]:
    """C(1) … C(turns) of one unit, from its rows of ``turn_costs``, over all stages: shape (turns,).

    0 where no call was made, NaN where a call did not report its input. What is billed before the first turn is
    billed with it.
    """
    series = np.zeros(turns)
    for turn, tokens in costs.select("turn", "input_tokens").iter_rows():
        series[min(max(turn, 1), turns) - 1] += np.nan if tokens is None else tokens
    return series


def _known(figure: pl.Expr) -> pl.Expr:
    unbilled = figure.is_null() & pl.col("outcome").is_in(_UNBILLED)
    return pl.when(unbilled).then(0).otherwise(figure)


def _sum_known(column: str) -> pl.Expr:
    return pl.when(pl.col(column).null_count() == 0).then(pl.col(column).sum()).alias(column)
