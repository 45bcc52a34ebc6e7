"""Efficiency figures E1 to E15 and compression P5 of "Harness the Memory", per memory, workload and protocol.

Only finished units count. Tokens, calls and wall-clock seconds are sums over them, E1 and E7 are means, E2 to E4
are means (E2 with its 90th percentile) over steps whose model calls were all made in the attempt that was timed:
a step that was served from the record has no latency. E4 is null where nothing was asked of a store, E12 to E15
are our reading of a text that does not define them. An unknown token count makes its sum null. P5 is the tokens
given to write over those in the stores afterwards: below 1 where they grew, null where no store holds text.
"""

import polars as pl

from memgauge.ledger.frames import Frames

KEYS = ("memory", "setting", "workload", "protocol")

# Column of the frame -> the papers' id. All are better when lower but E7 and P5, which have no direction.
IDS = {
    "store_bytes": "E1", "question_s": "E2", "question_s_p90": "E2", "write_s": "E3", "read_s": "E4",
    "write_tokens": "E5", "write_calls": "E6", "context_tokens": "E7", "read_tokens": "E8", "read_calls": "E9",
    "read_answer_tokens": "E8", "read_answer_calls": "E9", "manage_tokens": "E10", "manage_calls": "E11",
    "total_tokens": "E12", "auxiliary_calls": "E13", "wall_s": "E14", "wall_s_per_question": "E15",
    "compression": "P5",
}  # fmt: skip

CALL_COLUMNS = (
    "unit", "turn", "question", "stage", "kind", "replays", "input_tokens", "cached_tokens", "cache_write_tokens",
    "output_tokens", "reasoning_tokens", "embedding_tokens", "outcome",
)  # fmt: skip


def efficiency(frames: Frames) -> pl.DataFrame:
    """One row per memory, setting, workload and protocol; columns are KEYS, those of IDS and ``embedding_tokens``."""
    return efficiency_of(frames.units(), frames.calls(CALL_COLUMNS), frames.steps())


def efficiency_of(units: pl.DataFrame, calls: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """The same, of frames read already."""
    done = units.filter(pl.col("status") == "done")
    keyed = done.select("unit", *KEYS)
    kept = pl.col("store_tokens").is_not_null() & pl.col("written_tokens").is_not_null()
    held = pl.col("store_tokens").filter(kept).sum()
    whole = done.group_by(KEYS, maintain_order=True).agg(
        pl.col("store_bytes").mean(),
        pl.col("wall_s").sum(),
        pl.when(pl.col("questions").sum() > 0)
        .then(pl.col("wall_s").sum() / pl.col("questions").sum())
        .alias("wall_s_per_question"),
        pl.when(held > 0).then(pl.col("written_tokens").filter(kept).sum() / held).alias("compression"),
    )
    spent = calls.join(keyed, on="unit").group_by(KEYS).agg(*_spending())
    timed = timed_steps(steps, calls).join(keyed, on="unit")
    result = whole.join(spent, on=KEYS, how="left").join(_seconds(timed), on=KEYS, how="left")
    context = steps.filter(pl.col("stage") == "read").join(keyed, on="unit")
    result = result.join(context.group_by(KEYS).agg(context_tokens=pl.col("tokens").mean()), on=KEYS, how="left")
    counted = [name for name in IDS if name.endswith("_calls")]
    return result.with_columns(pl.col(counted).fill_null(0)).select(*KEYS, *IDS, "embedding_tokens")


def timed_steps(steps: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The steps that were really waited for: none of their calls was served from the record."""
    place = ["unit", "turn", "question", "stage"]
    replayed = calls.filter(pl.col("replays") > 0).select(place).unique()
    return steps.join(replayed, on=place, how="anti", nulls_equal=True)


def waits(timed: pl.DataFrame) -> pl.DataFrame:
    """Seconds from read to answer, one row per unit, turn and question: ``seconds``, only where both were timed."""
    asked = timed.filter(pl.col("stage").is_in(("read", "answer")))
    grouped = asked.group_by("unit", "turn", "question", maintain_order=True)
    return grouped.agg(pl.col("seconds").sum(), pl.col("stage").n_unique().alias("stages")).filter(
        pl.col("stages") == 2
    )


def _spending() -> list[pl.Expr]:
    chat = pl.col("kind") == "chat"
    model_tokens = (
        pl.col("input_tokens")
        + pl.col("output_tokens")
        + pl.sum_horizontal(pl.col("cached_tokens", "cache_write_tokens", "reasoning_tokens").fill_null(0))
    )
    expressions = []
    groups = {
        "write": ("write",),
        "read": ("read",),
        "read_answer": ("read", "answer"),
        "manage": ("manage",),
        "total": ("write", "read", "manage", "answer"),
        "auxiliary": ("write", "read", "manage"),
    }
    for name, stages in groups.items():
        here = chat & pl.col("stage").is_in(stages)
        if name != "auxiliary":
            known = model_tokens.filter(here & (pl.col("outcome") == "ok"))
            sum_known = pl.when(known.null_count() == 0).then(known.sum())
            expressions.append(sum_known.alias(f"{name}_tokens"))
        if name != "total":
            expressions.append(here.sum().cast(pl.Int64).alias(f"{name}_calls"))
    embedded = pl.col("embedding_tokens").filter(pl.col("kind") == "embed")
    expressions.append(embedded.sum().alias("embedding_tokens"))
    return expressions


def _seconds(timed: pl.DataFrame) -> pl.DataFrame:
    keyed = timed.select("unit", *KEYS).unique()
    asked = waits(timed).join(keyed, on="unit").group_by(KEYS)
    per_question = asked.agg(
        question_s=pl.col("seconds").mean(), question_s_p90=pl.col("seconds").quantile(0.9, "linear")
    )
    per_call = timed.group_by(KEYS).agg(
        write_s=pl.col("seconds").filter(pl.col("stage") == "write").mean(),
        read_s=pl.col("seconds").filter((pl.col("stage") == "read") & (pl.col("tokens") > 0)).mean(),
    )
    return per_call.join(per_question, on=KEYS, how="left")
