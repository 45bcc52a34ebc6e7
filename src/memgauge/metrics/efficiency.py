"""Efficiency figures E1 to E15 and compression P5 of "Harness the Memory", per memory, workload and protocol.

Only finished units count. Tokens, calls and wall-clock seconds are sums over them, E1 and E7 are means, E2 to E4
are means (E2 with its 90th percentile) over steps whose model calls were all made in the attempt that was timed:
a step that was served from the record has no latency. A batch that is written at once counts as so many writes, so
that E3 does not hang on the trigger. E4 is null where nothing was asked of a store. An unknown token count makes
its sum null. P5 is the tokens given to write over those in the stores afterwards: below 1 where they grew, null
where no store holds text.
"""

from dataclasses import dataclass

import polars as pl

from memgauge.ledger.frames import Frames

KEYS = ("memory", "setting", "workload", "protocol")


@dataclass(frozen=True, slots=True)
class Figure:
    """A column of the frame: the papers' name of it, its heading, what it counts, and in what.

    ``unit`` is bytes, seconds, tokens, calls or a ratio. All are better when lower, but those without ``direction``.
    """

    id: str | None
    title: str
    meaning: str
    unit: str
    direction: bool = True


_READING = "our reading: the paper uses this figure and does not define it"

FIGURES = {
    "store_bytes": Figure("E1", "store", "bytes needed to answer from another process, mean of units", "bytes"),
    "question_s": Figure("E2", "question", "seconds from read to answer, mean", "seconds"),
    "question_s_p90": Figure("E2", "question p90", "seconds from read to answer, 90th percentile", "seconds"),
    "write_s": Figure("E3", "write", "seconds per turn written; a batch is shared out", "seconds"),
    "read_s": Figure("E4", "read", "seconds per read, the answer left out; none where nothing is retrieved", "seconds"),
    "write_tokens": Figure("E5", "write tokens", "model tokens, in and out, of writing", "tokens"),
    "write_calls": Figure("E6", "write calls", "chat calls of writing", "calls"),
    "context_tokens": Figure("E7", "context", "tokens handed to the generator, mean per read", "tokens", False),
    "context_total": Figure("E7", "context, all", "tokens handed to the generator, over all reads", "tokens", False),
    "read_tokens": Figure("E8", "read tokens, aux", "model tokens of reading, without the answer's own call", "tokens"),
    "read_calls": Figure("E9", "read calls, aux", "chat calls of reading, without the answer's own", "calls"),
    "read_answer_tokens": Figure("E8", "read tokens, all", "model tokens of reading and answering", "tokens"),
    "read_answer_calls": Figure("E9", "read calls, all", "chat calls of reading and answering", "calls"),
    "manage_tokens": Figure("E10", "manage tokens", "model tokens of tidying up", "tokens"),
    "manage_calls": Figure("E11", "manage calls", "chat calls of tidying up", "calls"),
    "total_tokens": Figure("E12", "total tokens", f"model tokens of all stages, the answers included; {_READING}",
                           "tokens"),
    "auxiliary_calls": Figure("E13", "aux calls", f"chat calls of write, read and manage; {_READING}", "calls"),
    "wall_s": Figure("E14", "wall", f"seconds of all units, one after the other; {_READING}", "seconds"),
    "wall_s_per_question": Figure("E15", "wall / question", f"E14 over the questions asked; {_READING}", "seconds"),
    "compression": Figure("P5", "compression", "tokens given to write over tokens in the store; below 1: it grew",
                          "ratio", False),
    "embedding_tokens": Figure(None, "embedded", "tokens given to the embedding model", "tokens"),
    "store_tokens": Figure(None, "stored tokens", "tokens in the stores, over all units", "tokens", False),
}  # fmt: skip

CALL_COLUMNS = (
    "unit", "turn", "question", "stage", "kind", "replays", "input_tokens", "cached_tokens", "cache_write_tokens",
    "output_tokens", "reasoning_tokens", "embedding_tokens", "outcome",
)  # fmt: skip


def efficiency(frames: Frames) -> pl.DataFrame:
    """One row per memory, setting, workload and protocol; columns are KEYS and FIGURES."""
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
        pl.when(pl.col("store_tokens").count() > 0).then(pl.col("store_tokens").sum()).alias("store_tokens"),
    )
    spent = calls.join(keyed, on="unit").group_by(KEYS).agg(*_spending())
    timed = timed_steps(steps, calls).join(keyed, on="unit")
    result = whole.join(spent, on=KEYS, how="left").join(_seconds(timed), on=KEYS, how="left")
    context = steps.filter(pl.col("stage") == "read").join(keyed, on="unit")
    result = result.join(
        context.group_by(KEYS).agg(context_tokens=pl.col("tokens").mean(), context_total=pl.col("tokens").sum()),
        on=KEYS,
        how="left",
    )
    counted = [name for name, figure in FIGURES.items() if figure.unit == "calls"]
    return result.with_columns(pl.col(counted).fill_null(0)).select(*KEYS, *FIGURES)


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
    wrote = (pl.col("stage") == "write") & (pl.col("turns") > 0)
    written = pl.col("turns").filter(wrote).sum()
    per_call = timed.group_by(KEYS).agg(
        write_s=pl.when(written > 0).then(pl.col("seconds").filter(wrote).sum() / written),
        read_s=pl.col("seconds").filter((pl.col("stage") == "read") & (pl.col("tokens") > 0)).mean(),
    )
    return per_call.join(per_question, on=KEYS, how="left")
