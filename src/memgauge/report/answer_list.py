"""Question by question: a strip of marks that opens to every memory's answer. Read by who runs no script."""

from collections.abc import Mapping, Sequence

from memgauge.analysis.question_rows import Answered, QuestionRow
from memgauge.report import words
from memgauge.report.columns import swatch
from memgauge.report.markup import Markup, element

# A sign for each verdict, so that nothing is said by colour alone, and its class.
SIGNS = {
    "right": ("✓", "right"),
    "wrong": ("✗", "wrong"),
    "no answer": ("!", "error"),
    "no verdict": ("?", "error"),
    "not scored": ("·", "unscored"),
}
LONGEST = 600  # characters of an answer that are shown
_MEANINGS = {
    "no answer": "no answer: an error, neither right nor wrong",
    "no verdict": "no verdict: the judge could not decide",
}


def answer_list(rows: Sequence[QuestionRow], memories: Sequence[str], styles: Mapping[str, str]) -> Markup:
    """The questions, one below the other, each to be opened."""
    head = element(
        "div",
        element("span", "Question"),
        element(
            "span", *(element("span", swatch(memory, styles), title=memory) for memory in memories), class_="strip"
        ),
        class_="strip-head",
        aria_hidden="true",
    )
    return element("div", head, *(_question(row, memories, styles) for row in rows), class_="questions")


def verdict_key() -> Markup:
    """What the signs mean."""
    return element(
        "p",
        *(
            element("span", element("b", sign, class_=f"verdict {css}"), " ", _MEANINGS.get(name, name), class_="keyed")
            for name, (sign, css) in SIGNS.items()
        ),
        class_="key",
    )


def shortened(text: str, longest: int = LONGEST) -> str:
    """``text``, cut where it is too long to be shown; then its length is told."""
    return text if len(text) <= longest else f"{text[:longest]} … ({len(text):,} characters)"


def _question(asked: QuestionRow, memories: Sequence[str], styles: Mapping[str, str]) -> Markup:
    gold = "not answered in the conversation" if asked.unanswerable else " / ".join(asked.golds) or "no gold answer"
    strip = [_sign(asked.answers.get(memory), memory) for memory in memories]
    head = element(
        "summary", element("span", asked.text, class_="asked"), element("span", *strip, class_="strip")
    )  # fmt: skip
    facts = [element("b", shortened(gold))]
    if asked.category:
        facts.append(element("span", asked.category, class_="badge"))
    facts.append(element("span", _place(asked), class_="faint"))
    answers = [
        element(
            "li",
            element("span", swatch(memory, styles), memory, class_="who"),
            element("span", _sign(given, memory), " ", shortened(given.text), class_="said"),
            element("span", _figures(given), class_="faint"),
            element("span", _why(given), class_="why") if _why(given) else None,
        )
        for memory in memories
        if (given := asked.answers.get(memory))
    ]
    expected = element("p", "Expected: ", *_spaced(facts), class_="expected")
    return element("details", head, expected, element("ul", *answers), class_="question")


def _place(asked: QuestionRow) -> str:
    return asked.question if asked.question.startswith(asked.item) else f"{asked.item} · {asked.question}"


def _sign(given: Answered | None, memory: str) -> Markup:
    verdict = given.verdict if given else "not scored"
    sign, css = SIGNS[verdict]
    told = f"{memory}: {verdict}"
    return element("b", sign, class_=f"verdict {css}", title=told, role="img", aria_label=told)


def _figures(given: Answered) -> str:
    parts = []
    if given.f1 is not None:
        parts.append(f"F1 {given.f1:.2f}")
    if given.recalled is not None:
        parts.append(f"evidence {words.percent(given.recalled)}")
    return " · ".join(parts)


def _why(given: Answered) -> str:
    """Where the chain broke, and the judge's reason."""
    cause = f"{given.cause}{': ' if given.missing else ''}{', '.join(given.missing)}" if given.cause else ""
    judged = next((f"{vote.rubric}: {vote.why}" for vote in given.votes if vote.counts), "")
    return ". ".join(filter(None, (cause, judged)))


def _spaced(parts: list[Markup]) -> list[Markup | str]:
    return [part for pair in zip(parts, [" "] * len(parts), strict=True) for part in pair]
