"""The answers to the reader's two questions, in a sentence each: what is cheap and still knows, and from when."""

from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.choice import STILL_KNOWS, Choice
from memgauge.analysis.memory_rows import MemoryRow
from memgauge.analysis.summary import Group
from memgauge.metrics.score import METRICS, TOKEN_F1
from memgauge.report import words


def knows(group: Group) -> str:
    """Who is the cheapest that still knows, how well, and how sure that is."""
    choice = group.choice
    if choice is None:
        return _nothing_ranked(group)
    unit = "turn" if group.per_turn else "question"
    cost = f"{words.count(choice.cost)} input tokens per {unit}"
    if choice.memory == choice.best:
        most = f"It has the best {_title(group)} of those ranked, {choice.accuracy:.2f},"
        best = f"{most} for {cost}{_against_full(group)}."
        return best + _doubt(choice) + _cheaper(group, choice)
    share = choice.accuracy / choice.best_accuracy
    less = f", {words.ratio(choice.cost_ratio)} of its cost" if choice.cost_ratio is not None else ""
    return (
        f"It reaches {words.percent(share)} of the best {_title(group)} ({choice.best}, {choice.best_accuracy:.2f})"
        f" for {cost}{less}.{_doubt(choice)}"
    )


def _cheaper(group: Group, choice: Choice) -> str:
    """How far the best of the cheaper ones falls short."""
    ranked = [row for row in group.rows if row.unranked is None and row.accuracy]
    cheaper = [row for row in ranked if row.cost and row.cost < choice.cost]
    nearest = max(cheaper, key=lambda row: row.accuracy.value if row.accuracy else 0.0, default=None)
    if nearest is None or nearest.accuracy is None or nearest.cost is None:
        return ""
    share = words.percent(nearest.accuracy.value / choice.accuracy)
    its = "F1" if group.metric == TOKEN_F1 else "accuracy"
    cost = words.ratio(nearest.cost / choice.cost)
    return f" {nearest.memory} costs {cost} of that and reaches {share} of its {its}."


def _title(group: Group) -> str:
    return METRICS[group.metric].title


def title(group: Group) -> tuple[str, str, str]:
    """The sentence that says what was chosen: what comes before the memory's name, the name, and the rest.

    A backbone that proves nothing about quality makes it a trial run.
    """
    start = "In this trial run, " if group.caveat else ""
    if group.choice is None:
        return "No memory could be chosen", "", ""
    if sum(row.unranked is None for row in group.rows) == 1:
        return start, group.choice.memory, " is the only one that could be ranked"
    if group.choice.memory == REFERENCE:
        return f"{start}nothing cheaper than " if start else "Nothing cheaper than ", REFERENCE, " still knows"
    return start, group.choice.memory, " is the cheapest that still knows"


def pays(group: Group) -> str | None:
    """From which turn on each memory is cheaper than sending everything; None where that was not measured."""
    found = [row for row in group.rows if row.break_even is not None and not row.control]
    if not found:
        note = group.break_even_note
        return f"{note[0].upper()}{note[1:]}." if note else None
    from_turn: dict[str, list[str]] = {}
    for row in sorted(found, key=_turn):
        from_turn.setdefault(words.break_even(row.break_even), []).append(row.memory)
    parts = [f"{words.listed(memories)} {when}" for when, memories in from_turn.items()]
    never = all(when.startswith("never") for when in from_turn)
    turns = max(row.break_even.last_turn for row in found if row.break_even)
    if never:
        return f"Nothing became cheaper than resending everything within {turns} turns."
    sentences = [part for part in parts if "never" not in part]
    losers = [memory for when, memories in from_turn.items() if "never" in when for memory in memories]
    text = f"Cheaper than resending everything: {'; '.join(sentences)}".replace(" turn ", " from turn ") + "."
    return f"{text} Not within {turns} turns: {words.listed(losers)}." if losers else text


def _turn(row: MemoryRow) -> float:
    turn = row.break_even.turn if row.break_even else None
    return float("inf") if turn is None else turn


def _against_full(group: Group) -> str:
    full = next((row for row in group.rows if row.reference), None)
    if group.choice is None or full is None or not full.cost or group.choice.memory == full.memory:
        return ""
    return f", {words.ratio(group.choice.cost / full.cost)} of what resending everything costs"


def _doubt(choice: Choice) -> str:
    if choice.certain or choice.difference is None:
        return ""
    asked = words.plural(choice.difference.n, "question")
    return f" On {asked} its accuracy cannot be told apart from {choice.rival}'s."


def _nothing_ranked(group: Group) -> str:
    if not any(row.accuracy for row in group.rows):
        return "No question was answered in this run, so it says what memories cost and not what they know."
    return (
        "A choice needs a memory that is no control, has few errors, and knows something: "
        f"the cheapest whose {_title(group)} reaches {words.percent(STILL_KNOWS)} of the best."
    )
