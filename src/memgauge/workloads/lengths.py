"""Keeps a turn at its length: every turn of a cell (N, L) has L o200k tokens, give or take 15 % (paper 1, B)."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from memgauge import tokens

TOLERANCE_PERCENT = 15
SHORTEST = 10  # below, the tolerance leaves no room for a sentence

# One token each behind a space: the last resort where a whole phrase would not fit.
_WORDS = ("now", "then", "too", "again", "still", "here", "today", "anyway")
_LOOSE_ENDS = " ,;:-–—("


def bounds(length: int) -> tuple[int, int]:
    """The fewest and the most tokens of a turn of ``length``; in whole numbers, as 1.15 · 100 falls short of 115."""
    low = -(-(100 - TOLERANCE_PERCENT) * length // 100)
    return low, (100 + TOLERANCE_PERCENT) * length // 100


def fitted(text: str, length: int, sentences: Callable[[], str], tags: Sequence[str]) -> str:
    """``text`` trimmed at a word border or padded until it is within ``bounds(length)``.

    Padding takes whole ``sentences`` first, then ``tags`` put before the last full stop, then single words.
    """
    low, high = bounds(length)
    text = _trimmed(text.strip(), high)
    misfits = 0
    while low - tokens.count(text) > SHORTEST and misfits < 8:
        longer = f"{text} {sentences()}".strip()
        if tokens.count(longer) > high:
            misfits += 1
        else:
            text = longer
    while (size := tokens.count(text)) < low:
        text = _tagged(text, low, high, tags) or f"{text} {_WORDS[size % len(_WORDS)]}".strip()
    return text


def _trimmed(text: str, high: int) -> str:
    """The longest start of ``text`` within ``high`` tokens that ends at a word border, or inside its only word."""
    if tokens.count(text) <= high:
        return text
    borders = [match.start() for match in re.finditer(r"\s+", text)]
    ends = borders if borders and tokens.count(text[: borders[0]]) <= high else list(range(len(text)))
    longest = bisect_right(ends, high, key=lambda end: tokens.count(text[:end])) - 1
    # Inside a word a longer start can have fewer tokens, and then halving may miss the border by a little.
    while tokens.count(text[: ends[longest]].rstrip(_LOOSE_ENDS)) > high:
        longest -= 1
    return text[: ends[longest]].rstrip(_LOOSE_ENDS)


def _tagged(text: str, low: int, high: int, tags: Sequence[str]) -> str | None:
    """``text`` with the tag that brings it into the bounds or closest below them; ``None`` where none fits."""
    stem, stop = (text[:-1], ".") if text.endswith(".") else (text, "")
    best, most = None, tokens.count(text)
    for tag in tags if text else ():
        if tag in text:
            continue
        longer = f"{stem}, {tag}{stop}"
        size = tokens.count(longer)
        if low <= size <= high:
            return longer
        if most < size < low:
            best, most = longer, size
    return best
