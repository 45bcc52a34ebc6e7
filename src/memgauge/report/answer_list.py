"""Question by question: a strip of marks that opens to every memory's answer."""

from collections.abc import Mapping

from memgauge.analysis.question_rows import Answered, QuestionRow
from memgauge.analysis.summary import Group
from memgauge.report import words
from memgauge.report.columns import swatch
from memgauge.report.markup import Markup, element

# A sign for each verdict, so that nothing is said by colour alone.
SIGNS = {"right": "✓", "partly": "≈", "wrong": "✗", "error": "!", "unscored": "·"}
FIRST = 20  # questions shown at once; the rest unfolds
LONGEST = 600  # characters of an answer that are shown


def answer_list(group: Group, styles: Mapping[str, str]) -> Markup:
    """Every question of the group that the summary holds."""
    memories = [row.memory for row in group.rows if any(row.memory in asked.answers for asked in group.questions)]
    key = element(
        "p",
        *(
            element("span", element("b", sign, class_=f"verdict {name}"), f" {_MEANINGS[name]}", class_="keyed")
            for name, sign in SIGNS.items()
        ),
        class_="key",
    )
    head = element(
        "div",
        element("span", "Question"),
        element(
            "span",
            *(element("span", swatch(memory, styles), title=memory) for memory in memories),
            class_="strip",
        ),
        class_="strip-head",
        aria_hidden="true",
    )
    rows = [_question(asked, memories, styles) for asked in group.questions]
    rest = rows[FIRST:]
    more = element("details", element("summary", f"{len(rest)} more"), *rest, class_="rest") if rest else None
    return element("div", key, element("div", head, *rows[:FIRST], more, class_="questions"))


def _question(asked: QuestionRow, memories: list[str], styles: Mapping[str, str]) -> Markup:
    gold = "not answered in the conversation" if asked.unanswerable else " / ".join(asked.golds) or "no gold answer"
    strip = [_sign(asked.answers.get(memory), memory) for memory in memories]
    head = element(
        "summary",
        element("span", asked.text, class_="asked"),
        element("span", *strip, class_="strip"),
    )
    facts = [element("b", gold)]
    if asked.category:
        facts.append(element("span", asked.category, class_="badge"))
    facts.append(element("span", f"{asked.item} · {asked.question}", class_="faint"))
    answers = [
        element(
            "li",
            element("span", swatch(memory, styles), memory, class_="who"),
            element("span", element("b", SIGNS[given.verdict], class_=f"verdict {given.verdict}"),
                    " ", _shortened(given.text), class_="said"),
            element("span", _figures(given), class_="faint"),
        )
        for memory in memories
        if (given := asked.answers.get(memory))
    ]  # fmt: skip
    expected = element("p", "Expected: ", *_spaced(facts), class_="expected")
    return element("details", head, expected, element("ul", *answers), class_="question")


def _sign(given: Answered | None, memory: str) -> Markup:
    verdict = given.verdict if given else "unscored"
    return element("b", SIGNS[verdict], class_=f"verdict {verdict}", title=f"{memory}: {_MEANINGS[verdict]}",
                   role="img", aria_label=f"{memory}: {_MEANINGS[verdict]}")  # fmt: skip


def _figures(given: Answered) -> str:
    parts = []
    if given.f1 is not None:
        parts.append(f"F1 {given.f1:.2f}")
    if given.evidence is not None:
        parts.append(f"evidence {words.percent(given.evidence)}")
    return " · ".join(parts)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"


def _spaced(parts: list[Markup]) -> list[Markup | str]:
    return [part for pair in zip(parts, [" "] * len(parts), strict=True) for part in pair]


_MEANINGS = {
    "right": "right: the gold stands in the answer",
    "partly": "partly: some of its words",
    "wrong": "wrong",
    "error": "error: no answer",
    "unscored": "not scored",
}
