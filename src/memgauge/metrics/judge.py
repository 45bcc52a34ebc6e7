"""What the judge said (P4): one verdict per answer and rubric out of its repeats, and the rubric that counts."""

import polars as pl

_PLACE = ["unit", "ordinal"]

# The rubric that counts where several judged equally many answers: a workload's own before these, in this order,
# then whatever else there is. A rubric's label is its name, a dash and its version.
_PREFERRED = ("standard", "generous", "strict")


def decided(verdicts: pl.DataFrame) -> pl.DataFrame:
    """One row per answer and rubric: ``value`` is 1 where most repeats say correct, 0 where most say wrong.

    Repeats that ended in an error have no vote. Null where none is left or the votes are equal: what the judge
    could not decide is neither right nor wrong. Columns unit, ordinal, rubric, value.
    """
    heard = pl.col("outcome") == "ok"
    correct = (heard & (pl.col("verdict") == "correct")).sum().cast(pl.Int64)
    wrong = (heard & (pl.col("verdict") == "wrong")).sum().cast(pl.Int64)
    votes = verdicts.group_by(*_PLACE, "rubric", maintain_order=True).agg(ahead=correct - wrong)
    value = pl.when(pl.col("ahead") != 0).then((pl.col("ahead") > 0).cast(pl.Float64))
    return votes.select(*_PLACE, "rubric", value.alias("value"))


def main_rubrics(settled: pl.DataFrame, units: pl.DataFrame) -> dict[str, str]:
    """The rubric that the scores of each workload go by: the one that judged the most answers.

    Trying another rubric, on some answers or on all, so changes no score. ``settled`` comes from ``decided``.
    """
    told = settled.join(units.select("unit", "workload"), on="unit")
    counted = told.group_by("workload", "rubric").len()
    best: dict[str, tuple[int, int, str]] = {}
    for workload, rubric, answers in counted.iter_rows():
        best[workload] = max(best.get(workload, (0, 0, "")), (answers, _preference(rubric, workload), rubric))
    return {workload: rubric for workload, (_, _, rubric) in sorted(best.items())}


def judged(verdicts: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """The verdict that counts for each judged answer: columns unit, ordinal, ``value`` (null: undecided)."""
    settled = decided(verdicts)
    mains = main_rubrics(settled, units)
    told = settled.join(units.select("unit", "workload"), on="unit")
    counts = pl.col("rubric") == pl.col("workload").replace_strict(mains, default=None, return_dtype=pl.String)
    return told.filter(counts).select(*_PLACE, "value").sort(_PLACE)


def _preference(rubric: str, workload: str) -> int:
    order = (workload, *_PREFERRED)
    name = rubric.rpartition("-")[0]
    return -order.index(name) if name in order else -len(order)
