"""How far the judge can be trusted: what its prompt alone moves, and how well its repeats agree."""

from collections.abc import Sequence

from memgauge.analysis.agreement import JudgeReliability, PromptSensitivity, RepeatAgreement, RubricRow
from memgauge.report import words
from memgauge.report.columns import Column, Styles, mean, named, sortable_table
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.quality.tables import scored


def judge_section(found: JudgeReliability, styles: Styles) -> Markup | None:
    """None where no answer was judged twice, neither by another rubric nor again."""
    if not found.prompts and not found.repeats:
        return None
    parts: list[Part] = [element("h3", "How far the judge can be trusted")]
    for entry in found.prompts:
        parts.append(element("p", sensitivity_words(entry, several=len(found.prompts) > 1), class_="sub"))
        parts.append(_rubric_table(entry, styles))
    if found.repeats:
        parts.append(element("p", _REPEATS, class_="sub"))
        parts.append(_repeat_table(found.repeats))
    return element("div", *parts, class_="judge")


def sensitivity_words(found: PromptSensitivity, *, several: bool) -> str:
    """What the prompt alone changes, in a few sentences."""
    where = f"{found.workload}, {found.setting}: " if several else ""
    rubrics = words.plural(len(found.rows), "rubric")
    if found.spread is None:
        return f"{where}{rubrics} judged the same {found.answers:,} answers; none was decided by all."
    known = [row for row in found.rows if row.accuracy]
    low, high = (pick(known, key=lambda row: row.accuracy.value if row.accuracy else 0.0) for pick in (min, max))
    told = f"{where}{rubrics} judged the same {words.plural(found.answers, 'answer')}."
    if found.spread:
        told += (
            f" The prompt alone moves accuracy by {found.spread:.2f}, from {mean(low.accuracy):.2f} ({low.rubric}) to"
            f" {mean(high.accuracy):.2f} ({high.rubric}), and turns {words.plural(found.flips, 'answer')} from right to"
            " wrong."
        )
    else:
        told += f" All give {mean(high.accuracy):.2f}."
    if found.alpha is not None:
        told += f" Krippendorff's α between them is {words.decimal(found.alpha)}."
    always = [memory for memory in found.rows[0].best if all(memory in row.best for row in found.rows)]
    if not always:
        return f"{told} Which memory is best depends on the rubric."
    return f"{told} By every rubric {words.listed(always)} {'is' if len(always) == 1 else 'are'} best."


def _rubric_table(found: PromptSensitivity, styles: Styles) -> Markup:
    memories = list(dict.fromkeys(memory for row in found.rows for memory in row.by_memory))
    columns = [
        Column[RubricRow]("all memories", "judge accuracy over the answers that every rubric decided",
                          lambda row: scored(row.accuracy), lambda row: mean(row.accuracy), "high"),
        *(_of_memory(memory, styles) for memory in memories),
        Column[RubricRow].of_number("no verdict", "answers that this rubric could not decide", lambda row: row.errors),
        Column[RubricRow].of_text("best", "the memories at its top, controls left out",
                                  lambda row: words.listed(row.best)),
    ]  # fmt: skip
    first = found.rows[0].rubric

    def name(row: RubricRow) -> Part:
        counts = element("span", "counts", class_="badge", title="the scores go by this rubric")
        return joined([row.rubric, counts if row.rubric == first else None])

    head = Column[RubricRow]("Rubric", "name and version", name, lambda row: row.rubric, "text")
    return sortable_table(found.rows, head, columns, "Judge accuracy by rubric", captioned=False)


def _of_memory(memory: str, styles: Styles) -> Column[RubricRow]:
    return Column[RubricRow](
        named(memory, styles), f"judge accuracy of {memory}", lambda row: scored(row.by_memory.get(memory)),
        lambda row: mean(row.by_memory.get(memory)), "high",
    )  # fmt: skip


_REPEATS = (
    "Repeats of the same judgement. Agreement is the share of pairs of verdicts on one answer that are equal;"
    " Krippendorff's α leaves out what chance alone would agree on: 1 is perfect, 0 chance."
)


def _repeat_table(found: Sequence[RepeatAgreement]) -> Markup:
    columns = [
        Column[RepeatAgreement].of_number("answers", "judged at least twice", lambda row: row.answers, better="high"),
        Column[RepeatAgreement].of_number("verdicts", "over all repeats", lambda row: row.verdicts, better="high"),
        Column[RepeatAgreement].of_number("agreement", "of pairs of verdicts", lambda row: row.agreement,
                                          words.percent, "high"),
        Column[RepeatAgreement].of_number("α", "Krippendorff's, nominal", lambda row: row.alpha, words.decimal, "high"),
        Column[RepeatAgreement].of_number("split", "answers on which repeats differ", lambda row: row.split),
        Column[RepeatAgreement].of_number("no verdict", "repeats that ended in an error", lambda row: row.errors),
    ]  # fmt: skip
    if len({row.workload for row in found}) > 1:
        columns.insert(0, Column[RepeatAgreement].of_text("workload", "by name", lambda row: row.workload))
    head = Column[RepeatAgreement]("Rubric", "name and version", lambda row: row.rubric, lambda row: row.rubric, "text")
    return sortable_table(found, head, columns, "Agreement of repeats", captioned=False)
