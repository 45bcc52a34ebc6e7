"""How an answer is to be judged: the rubrics, in our own words and versioned.

The wording of a judge's prompt alone moves the same answers from a third to nine tenths correct, so a rubric is
part of the figure: it is named with every verdict, and several can be put side by side. ``generous`` is as kind as
the judges of both papers (paper 1, appendix C), ``strict`` wants the whole gold, ``standard`` lies between them.
``longmemeval`` follows that benchmark's five kinds of question.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memgauge.errors import UnknownNameError, UserError

_TASK = (
    "You judge whether an answer to a question about a past conversation is right. You are given the question, a"
    " reference answer, and the answer to judge. The reference is right; do not use knowledge of your own."
)
_FORM = (
    'Reply with a JSON object: {"reason": "one short sentence", "verdict": "CORRECT"} or, if it is not right,'
    ' {"reason": "one short sentence", "verdict": "WRONG"}. Never name both.'
)
_ABSTAIN = (
    "The conversation does not hold the answer. The answer is CORRECT only if it says that this is not known, was not"
    " said, or cannot be told; an answer that states a fact anyway is WRONG."
)

PLACEHOLDERS = ("{question}", "{gold}", "{answer}")


@dataclass(frozen=True, slots=True)
class Rubric:
    """What counts as right, by kind of question; ``""`` is every other kind.

    ``label`` is the name and version that verdicts carry.
    """

    label: str
    kinds: Mapping[str, str]
    prompt: str | None = None

    def system(self, category: str | None, unanswerable: bool) -> str:
        """The judge's instructions for a question of this kind."""
        if self.prompt is not None:
            return _FORM
        rule = self.kinds.get("abstention", _ABSTAIN) if unanswerable else self.kinds.get(category or "", "")
        return f"{_TASK}\n{rule or self.kinds['']}\n{_FORM}"

    def user(self, question: str, golds: tuple[str, ...], answer: str) -> str:
        """What is put before the judge."""
        gold = " | ".join(golds) if golds else "(none)"
        if self.prompt is not None:
            # One pass: a question or an answer that holds "{gold}" is left as it is.
            values = dict(zip(PLACEHOLDERS, (question, gold, answer), strict=True))
            return re.sub("|".join(map(re.escape, PLACEHOLDERS)), lambda place: values[place[0]], self.prompt)
        several = " (any one of these)" if len(golds) > 1 else ""
        return f"Question: {question}\nReference answer{several}: {gold}\nAnswer to judge: {answer}\n"


_RUBRICS = {
    "generous": Rubric(
        "generous-1",
        {
            "": "Be generous: the answer is CORRECT if it names what the reference names or plainly means the same"
            " thing, however long it is and whatever it adds. A date is CORRECT if it means the same day or period,"
            " in any form, also relative to the conversation. Otherwise it is WRONG."
        },
    ),
    "standard": Rubric(
        "standard-1",
        {
            "": "The answer is CORRECT if a reader would learn from it what the reference says: same people, things,"
            " numbers and dates, in any wording. More detail is allowed where it does not contradict. It is WRONG if"
            " it leaves out the point of the reference, contradicts it, hedges between several answers, or says that"
            " nothing is known."
        },
    ),
    "strict": Rubric(
        "strict-1",
        {
            "": "The answer is CORRECT only if it contains every fact of the reference and nothing that contradicts"
            " it: all items of a list, the exact number, the exact date to the precision of the reference. If"
            " anything is missing, vague, or uncertain, it is WRONG."
        },
    ),
    "longmemeval": Rubric(
        "longmemeval-1",
        {
            "": "The answer is CORRECT if it contains the reference answer, says the same in other words, or holds"
            " all the steps that lead to it. If it holds only a part of what is asked for, it is WRONG.",
            "temporal-reasoning": "The answer is CORRECT if it contains the reference answer, says the same in other"
            " words, or holds all the steps that lead to it. A count of days, weeks or months that is off by one is"
            " CORRECT too. If it holds only a part of what is asked for, it is WRONG.",
            "knowledge-update": "Something changed in the course of the conversation. The answer is CORRECT if it"
            " gives the newest state as the reference does, even where it also tells the earlier one. If it gives"
            " only the earlier state, it is WRONG.",
            "single-session-preference": "The reference describes what a reply that suits this user takes into"
            " account. The answer is CORRECT if it uses what is known of the user in that spirit; it need not touch"
            " every point. If it ignores or contradicts the user's preferences, it is WRONG.",
            "abstention": "The question cannot be answered from the conversation; the reference explains why. The"
            " answer is CORRECT if it sees that: it says that the information is missing, incomplete or about"
            " something else. If it answers anyway, it is WRONG.",
        },
    ),
}


def names() -> tuple[str, ...]:
    """The rubrics that ship with memgauge."""
    return tuple(_RUBRICS)


def default_for(workload: str) -> str:
    """The rubric of a workload that names none."""
    return "longmemeval" if workload == "longmemeval" else "standard"


def load(name_or_path: str) -> Rubric:
    """A rubric by name, or a text file with the places {question}, {gold} and {answer}."""
    if name_or_path in _RUBRICS:
        return _RUBRICS[name_or_path]
    path = Path(name_or_path)
    if not path.is_file():
        if "/" in name_or_path or path.suffix:
            raise UserError(f"{path}: no such rubric file")
        raise UnknownNameError("rubric", name_or_path, _RUBRICS)
    try:
        prompt = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise UserError(f"{path}: cannot be read ({fault})") from None
    if missing := [place for place in PLACEHOLDERS if place not in prompt]:
        raise UserError(f"{path}: a rubric file must hold {', '.join(PLACEHOLDERS)}; missing: {', '.join(missing)}")
    return Rubric(f"{path.stem}-{sha256(prompt.encode()).hexdigest()[:8]}", {"": ""}, prompt)
