"""The browser of questions: what the page's script needs of them, and the first of them for a page without one.

Everything that was said or recalled stands in the page once, as data; the script makes text of it, never markup.
"""

from collections.abc import Iterable, Mapping, Sequence

from memgauge.analysis.contexts import Context
from memgauge.analysis.failures import Cause
from memgauge.analysis.question_rows import VERDICTS, Answered, QuestionRow, Questions
from memgauge.report import words
from memgauge.report.answer_list import answer_list, shortened, verdict_key
from memgauge.report.markup import Markup, element
from memgauge.report.shell import data

READABLE = 100  # questions that a page without a script shows
MOST_CHARACTERS = 3_000_000  # of recalled text in the page; where there is more, every text is cut shorter
_CUTS = (4_000, 2_000, 1_000, 500, 250, 120)
_MARKS = {True: "1", False: "0", None: "?"}
_STAGES = ("read", "answer", "write", "manage", "judge")


def browser(found: Questions, styles: Mapping[str, str]) -> Markup | None:
    """The section of the page; None where no question was asked."""
    if not found.rows:
        return None
    memories = [memory for memory in styles if any(memory in row.answers for row in found.rows)]
    shown, asked = len(found.rows), found.asked
    every = "All" if shown == asked else f"{shown:,} of {asked:,}, spread evenly over all:"
    note = f"{every} {words.plural(shown, 'question')}, with what each memory recalled, answered and spent."
    first = found.rows[:READABLE]
    without = f"The first {len(first):,}; a browser that runs scripts shows all, to be searched and filtered."
    return element(
        "section",
        element("h2", "Question by question"),
        element("p", note, class_="sub"),
        verdict_key(),
        data(_told(found, memories, styles), "told"),
        element("noscript", element("p", without, class_="sub")) if len(first) < shown else None,
        answer_list(first, memories, styles),
        id="questions",
    )


class _Names:
    """Numbers names in the order in which they come."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.places = {name: place for place, name in enumerate(names)}

    def __getitem__(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places))

    def listed(self) -> list[str]:
        """All names, each at its number."""
        return list(self.places)


def _told(found: Questions, memories: Sequence[str], styles: Mapping[str, str]) -> dict[str, object]:
    """The questions as lists of numbers and a table of texts; question_browser.js names what stands where."""
    texts, groups, rubrics, categories = _Names(), _Names(), _Names(), _Names()
    cut = _cut(found.texts.values())
    recalled = {text: texts[shortened(body.rstrip("\n"), cut)] for text, body in found.texts.items()}
    causes = [cause.value for cause in Cause]

    def answer(memory: str, given: Answered) -> list[object]:
        return [
            memories.index(memory),
            texts[shortened(given.text)],
            VERDICTS.index(given.verdict),
            causes.index(given.cause) if given.cause else -1,
            given.missing,
            _rounded(given.f1),
            _rounded(given.recalled),
            given.context_tokens,
            _context(given.context, recalled),
            [[rubrics[vote.rubric], vote.correct, vote.wrong, vote.errors, texts[vote.why]] for vote in given.votes],
            [[_STAGES.index(spent.stage), spent.calls, spent.input_tokens, spent.cached_tokens, spent.output_tokens,
              spent.embedding_tokens, _rounded(spent.usd, 9), _rounded(spent.seconds, 4), spent.failed]
             for spent in given.spent],
        ]  # fmt: skip

    def question(row: QuestionRow) -> list[object]:
        return [
            groups[words.group(row.workload, row.setting, row.cell)],
            row.item,
            row.question,
            texts[row.text],
            categories[row.category] if row.category else -1,
            [shortened(gold) for gold in row.golds],
            row.unanswerable,
            row.evidence,
            [answer(memory, given) for memory, given in row.answers.items()],
        ]

    rows = [question(row) for row in found.rows]
    return {
        "memories": [[memory, styles[memory]] for memory in memories],
        "groups": groups.listed(),
        "categories": categories.listed(),
        "verdicts": VERDICTS,
        "causes": causes,
        "stages": _STAGES,
        "rubrics": rubrics.listed(),
        "texts": texts.listed(),
        "rows": rows,
    }


def _context(context: Context | None, recalled: Mapping[int, int]) -> list[object] | None:
    """Size, texts, a sign for each (evidence, not, unknown), and their places where not all are told."""
    if context is None:
        return None
    signs = "".join(_MARKS[item.evidence] for item in context.items)
    told: list[object] = [context.size, [recalled[item.text] for item in context.items], signs]
    if len(context.items) < context.size:
        told.append([item.place for item in context.items])
    return told


def _cut(bodies: Iterable[str]) -> int:
    """At how many characters a recalled text is cut, so that all of them fit into the page."""
    lengths = [len(body) for body in bodies]
    return next((cut for cut in _CUTS if sum(min(cut, length) for length in lengths) <= MOST_CHARACTERS), _CUTS[-1])


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)
