"""Is an answer right, in one word? The judge's verdict where one was asked, else the workload's own rule.

Without a judge: MemoryAgentBench's corrected rule where the task has one, elsewhere an exact match or the gold
standing in the answer, and an abstention where the question is unanswerable. An answer that ended in an error,
one without a gold, and a verdict that the judge could not give are neither right nor wrong.
"""

import polars as pl

from memgauge.metrics.score import JUDGE

_PLACE = ["unit", "ordinal"]
BY_RULE = "rule"


def right(answers: pl.DataFrame, units: pl.DataFrame, scores: pl.DataFrame, *, judge: bool = True) -> pl.DataFrame:
    """One row per answer: unit, ordinal, ``right`` (1, 0 or null) and ``by`` (``judge`` or ``rule``).

    A workload is decided by its judge as soon as the judge has seen one answer to it, so that all memories are
    decided alike; then what the judge has not seen is null. ``judge`` False decides everything by rule.
    """
    told = answers.select(*_PLACE).join(units.select("unit", "workload"), on="unit", maintain_order="left")
    values = told
    for name in (JUDGE, "mab_corrected", "exact_match", "sub_em"):
        found = scores.filter(pl.col("metric") == name).select(*_PLACE, pl.col("value").alias(name))
        values = values.join(found, on=_PLACE, how="left", maintain_order="left")
    rule = pl.coalesce("mab_corrected", pl.max_horizontal("exact_match", "sub_em"))
    asked = values.join(scores.filter(pl.col("metric") == JUDGE), on=_PLACE, how="semi") if judge else values.clear()
    by_judge = pl.col("workload").is_in(asked["workload"].unique().to_list())
    return values.select(
        *_PLACE,
        right=pl.when(by_judge).then(pl.col(JUDGE)).otherwise(rule),
        by=pl.when(by_judge).then(pl.lit(JUDGE)).otherwise(pl.lit(BY_RULE)),
    )
