"""What went wrong inside the memories: their faults, the turns that were lost, and the last replies behind them."""

from collections.abc import Iterator, Sequence

from memgauge.analysis.losses import FaultTold, Losses
from memgauge.report import words
from memgauge.report.columns import Marks, Styles, badge, named
from memgauge.report.markup import Markup, Part, element, joined


def loss_marks(found: Sequence[Losses]) -> Marks:
    """A badge for the name of every memory that lost something, or had a fault."""
    return {entry.memory: _mark(entry) for entry in found}


def losses_section(found: Sequence[Losses], styles: Styles) -> Markup | None:
    """None where nothing went wrong."""
    if not found:
        return None
    told = (
        "A memory that could not use a reply, or lost what it was given, went on without it: its figures stand for what"
        " it kept. Of every memory the last faults that differ."
    )
    return element(
        "section",
        element("h2", "What went wrong inside the memories"),
        element("p", told, class_="sub"),
        *(_memory(entry, styles) for entry in found),
        id="losses",
    )


def counted(entry: Losses) -> str:
    """``4 faults in 2 units (3 in write, 1 in read), 12 turns lost``."""
    if not entry.faults:
        return "no fault on record"
    kinds = ", ".join(f"{number:,} in {stage}" for stage, number in entry.kinds.items())
    lost = f", {words.plural(entry.lost_turns, 'turn')} lost" if entry.lost_turns else ", no turn lost"
    return f"{words.plural(entry.faults, 'fault')} in {words.plural(entry.units, 'unit')} ({kinds}){lost}"


def _mark(entry: Losses) -> Markup:
    lost = f"lost {words.plural(entry.lost_turns, 'turn')}" if entry.lost_turns else "lost something"
    title = "; ".join([counted(entry), *entry.lost])
    if entry.lost_turns or entry.lost:
        return badge(lost, title, "warn")
    return badge(words.plural(entry.faults, "fault"), title)


def _memory(entry: Losses, styles: Styles) -> Markup:
    said = [
        element("li", what, element("span", f" ({words.plural(units, 'unit')})", class_="faint"))
        for what, units in entry.lost.items()
    ]
    return element(
        "div",
        element("p", named(entry.memory, styles), element("span", f" {counted(entry)}", class_="faint")),
        element("ul", *said, class_="failures") if said else None,
        element("ul", *(joined(_fault(fault)) for fault in entry.last), class_="faults") if entry.last else None,
        class_="losses",
    )


def _fault(fault: FaultTold) -> Iterator[Part]:
    where = f"turn {fault.turn}" if fault.question is None else f"question {fault.question}"
    lost = f", {words.plural(fault.lost_turns, 'turn')} lost" if fault.lost_turns else ""
    place = f"{fault.item}, {fault.protocol}, {where}, {fault.stage}{lost}"
    reply = element("p", fault.reply or "(empty)", class_="reply") if fault.reply is not None else None
    often = element("span", f" ({fault.times:,} times; the last:)", class_="faint") if fault.times > 1 else None
    yield element("li", element("span", fault.what, often), element("span", place, class_="faint"), reply)
