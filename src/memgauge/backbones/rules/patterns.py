"""A short text that a simple regular expression matches."""

import re

_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "n": "\n", "t": "\t"}
_COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}")


def example(pattern: str) -> str | None:
    """The shortest text read off ``pattern``, or ``None`` where it is not matched (look-arounds, back references)."""
    try:
        text = _alternatives(pattern, 0)[0]
        return text if re.search(pattern, text) else None
    except (re.error, IndexError, ValueError, RecursionError):
        return None


def _alternatives(pattern: str, at: int) -> tuple[str, int]:
    """The first alternative from ``at`` on, and where the group ends."""
    first: str | None = None
    text = ""
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            first = text if first is None else first
            text, at = "", at + 1
        else:
            piece, at = _atom(pattern, at)
            times, at = _times(pattern, at)
            text += piece * times
    return text if first is None else first, at


def _atom(pattern: str, at: int) -> tuple[str, int]:
    mark = pattern[at]
    if mark in "^$":
        return "", at + 1
    if mark == ".":
        return "a", at + 1
    if mark == "\\":
        after = pattern[at + 1]
        return ("" if after in "bBAZ" else _CLASSES.get(after, after)), at + 2
    if mark == "[":
        return _class(pattern, at)
    if mark == "(":
        inner = at + 1
        if pattern.startswith("?:", inner):
            inner += 2
        elif pattern.startswith("?P<", inner):
            inner = pattern.index(">", inner) + 1
        text, end = _alternatives(pattern, inner)
        return text, end + 1
    return mark, at + 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    end = at + 2 + (pattern[at + 1] == "^")
    while pattern[end] != "]":
        end += 1 + (pattern[end] == "\\")
    one = re.compile(pattern[at : end + 1])
    letters = "a0A-_ ." + "".join(map(chr, range(33, 127)))
    return next(letter for letter in letters if one.fullmatch(letter)), end + 1


def _times(pattern: str, at: int) -> tuple[int, int]:
    if at >= len(pattern):
        return 1, at
    counted = _COUNT.match(pattern, at)
    times, end = (int(counted[1]), counted.end()) if counted else (1, at)
    if pattern[at] in "*?+":
        times, end = (1 if pattern[at] == "+" else 0), at + 1
    lazy = end > at and pattern[end : end + 1] in ("?", "+")
    return min(times, 1000), end + lazy
