"""Bars that say what became of every question: right, wrong and where the chain broke, or undecided."""

from collections.abc import Mapping, Sequence

from memgauge.analysis.failures import Cause, FailureCounts
from memgauge.analysis.quality import MemoryQuality
from memgauge.report import svg, words
from memgauge.report.axes import FONT, NARROW
from memgauge.report.markup import Markup, element

RIGHT, UNSCORED = "right", "not scored: no gold answer"

# Each outcome and the class of its colour, in the order of the bar: right, the chain, the rest, the undecided.
OUTCOMES: Mapping[str, str] = {
    RIGHT: "right",
    Cause.NOT_STORED: "x0",
    Cause.NOT_RETRIEVED: "x1",
    Cause.NOT_USED: "x2",
    Cause.ANSWERED_ANYWAY: "x3",
    Cause.JUDGE_ERROR: "x4",
    Cause.NO_EVIDENCE: "x5",
    Cause.UNTRACED: "x6",
    Cause.NO_VERDICT: "none",
    Cause.NO_ANSWER: "none",
    UNSCORED: "none",
}


def outcomes(found: FailureCounts) -> dict[str, int]:
    """How many questions ended in each of OUTCOMES, those that occur."""
    counts = {RIGHT: found.right, **found.causes, UNSCORED: found.unscored}
    return {name: counts[name] for name in OUTCOMES if counts.get(name)}


def key(memories: Sequence[MemoryQuality]) -> Markup:
    """What the colours mean, those that occur."""
    used = {name for memory in memories for name in outcomes(memory.failures)}
    entries = [
        element("span", element("span", class_=f"cause {css}", aria_hidden="true"), name, class_="keyed")
        for name, css in OUTCOMES.items()
        if name in used
    ]
    return element("p", *entries, class_="key")


def cause_bars(memories: Sequence[MemoryQuality], group: str, styles: Mapping[str, str], width: float) -> str:
    """One bar per memory, cut by outcome, all equally long; empty where there is nothing to show.

    ``group`` names the comparison in whose questions the parts are to be looked up.
    """
    shown = [(memory, found) for memory in memories if (found := outcomes(memory.failures))]
    if not shown:
        return ""
    narrow = width < NARROW
    left = 0.0 if narrow else max(svg.text_width(memory.memory, FONT) for memory, _ in shown) + 14
    pitch, thick = (50.0, 22.0) if narrow else (36.0, 24.0)
    parts = []
    for place, (memory, found) in enumerate(shown):
        at = place * pitch + (24 if narrow else 4)
        name = (
            svg.label(left, at - 12, memory.memory, "name")
            if narrow
            else svg.label(left - 10, at + thick / 2, memory.memory, "name", "end")
        )
        parts.append(svg.tag("g", {"class": styles[memory.memory]}, name))
        parts += _bar(memory.memory, group, found, svg.Linear(0, sum(found.values()), left, width), at, thick)
    high = pitch * len(shown) + (4 if narrow else 2)
    return svg.picture(width, high, "chart causes", "What became of every question, by memory", *parts)


def causes_table(memories: Sequence[MemoryQuality]) -> Markup:
    """The same as numbers: outcome × memory."""
    found = {memory.memory: outcomes(memory.failures) for memory in memories}
    used = [name for name in OUTCOMES if any(name in counts for counts in found.values())]
    head = [element("th", "", scope="col"), *(element("th", name, scope="col") for name in found)]
    body = [
        element(
            "tr", element("th", name, scope="row"), *(element("td", _count(counts, name)) for counts in found.values())
        )
        for name in used
    ]
    gave_up = [element("td", _gave_up(memory.failures)) for memory in memories]
    body.append(element("tr", element("th", "gave up, though it was answerable", scope="row"), *gave_up))
    table = element(
        "table",
        element("caption", "What became of every question", class_="unseen"),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="plain-head",
    )
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label="What became of every question")


def _bar(memory: str, group: str, found: Mapping[str, int], x: svg.Linear, at: float, thick: float) -> list[str]:
    parts, start, asked = [], 0, sum(found.values())
    for name, number in found.items():
        wide = x(start + number) - x(start)
        css = OUTCOMES[name]
        told = f"{memory}: {number:,} of {asked:,} ({words.percent(number / asked)}) {name}"
        box = svg.rect(x(start), at, max(1.0, wide - 1), thick, "part", rx=2)
        fits = svg.text_width(f"{number:,}", FONT) + 6 < wide
        label = svg.label(x(start) + wide / 2, at + thick / 2, f"{number:,}", "in", "middle") if fits else ""
        parts.append(svg.mark(f"cause {css}", memory, told, box, label, data_cause=name, data_group=group))
        start += number
    return parts


def _count(counts: Mapping[str, int], name: str) -> str:
    if name not in counts:
        return words.UNKNOWN
    return f"{counts[name]:,} · {words.percent(counts[name] / sum(counts.values()))}"


def _gave_up(found: FailureCounts) -> str:
    if not found.abstained:
        return words.UNKNOWN
    return f"{found.abstained:,}, {found.abstained_with_evidence:,} with the evidence before it"
