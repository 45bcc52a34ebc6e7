"""Small flaws that many sources have: each is mended by one rule here, and counted by kind."""

from collections import Counter
from typing import TypeAlias

# What sources write where one gold answer is meant. A record field of this type refuses anything else.
Gold: TypeAlias = str | int | float | list[str | int | float] | None


def stripped(text: str, anomalies: Counter[str]) -> str:
    """``text`` without the space around it."""
    bare = text.strip()
    anomalies["space around a text, stripped"] += bare != text
    return bare


def golds(raw: Gold, anomalies: Counter[str]) -> tuple[str, ...]:
    """The answers in ``raw``, each once; a number becomes text, a list stands for its parts, a blank for nothing."""
    if isinstance(raw, list):
        anomalies["answer that is a list, each part a gold"] += 1
        parts = raw
    else:
        parts = [] if raw is None else [raw]
    found: dict[str, None] = {}
    for part in parts:
        if not isinstance(part, str):
            anomalies["answer that is a number, made text"] += 1
        if text := stripped(str(part), anomalies):
            found[text] = None
    return tuple(found)


def unlike(name: str, taken: Counter[str], flaw: str, anomalies: Counter[str]) -> str:
    """``name``, or ``name#2`` where it is ``taken`` already, counted as ``flaw``: an id stands for one thing."""
    taken[name] += 1
    if taken[name] == 1:
        return name
    anomalies[flaw] += 1
    return unlike(f"{name}#{taken[name]}", taken, flaw, Counter())
