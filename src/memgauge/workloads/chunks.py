"""Cuts a long text into chunks of at most so many tokens, at the best borders there are.

The text is taken apart into blocks (between blank lines), a block that is long for a chunk into lines, a long line
into sentences, and only what fits no chunk into words or parts of words. These pieces are then packed greedily.
Against NLTK's sentences packed the same way: no model is downloaded, every character of the text lies in exactly
one chunk, a line stays whole (a list keeps one fact per line), and an over-long sentence is cut where NLTK's
would break the limit and leave an empty chunk before it.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgauge import tokens

FEWEST_TOKENS = 16

# A piece longer than this share of a chunk is taken apart, so that chunks are filled evenly.
_SHARE = 8
_BLOCK_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_END = re.compile(r"\n+")
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)")
_WORD_END = re.compile(r"\S(?=\s)")
# What a full stop stands behind without ending a sentence: a title, an initial, the number of a list.
_NO_END = re.compile(
    r"(?:^|[\s(\"'“])(?:\w|\d+|[Mm]rs?|[Mm]s|Dr|St|Prof|Jr|Sr|Mt|Gen|Col|Lt|Sgt|Capt|Rev|Hon|No|Fig|vs|etc|e\.g|i\.e)\.$"
)
_LONGEST_NO_END = 12


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of the text: ``start`` and ``end`` in characters, and its text without the space around it."""

    start: int
    end: int
    text: str


def cut(text: str, most: int) -> tuple[Chunk, ...]:
    """The chunks of ``text``, of at most ``most`` o200k tokens each, in order. Blank stretches make none."""
    pieces = list(_pieces(text, most))
    sizes = tokens.count_each(pieces)
    chunks: list[Chunk] = []
    start = first = 0
    while first < len(pieces):
        last, total = first, 0
        while last < len(pieces) and total + sizes[last] <= most:
            total += sizes[last]
            last += 1
        # Counts of pieces add up to that of the whole but for rare merges across a border, and "How" may have
        # more tokens than " How".
        whole = "".join(pieces[first:last])
        while tokens.count(whole.strip()) > most and last > first + 1:
            last -= 1
            whole = "".join(pieces[first:last])
        if bare := whole.strip():
            chunks.append(Chunk(start, start + len(whole), bare if tokens.count(bare) <= most else whole))
        start, first = start + len(whole), last
    return tuple(chunks)


def holding(chunks: Sequence[Chunk], start: int, end: int) -> Sequence[Chunk]:
    """The chunks that the characters from ``start`` to ``end`` of the text lie in."""
    starts = [chunk.start for chunk in chunks]
    return chunks[max(0, bisect_right(starts, start) - 1) : bisect_right(starts, max(start, end - 1))]


def _pieces(text: str, most: int) -> Iterator[str]:
    share = max(1, most // _SHARE)
    levels: tuple[tuple[Callable[[str], list[str]], int], ...] = (
        (lambda whole: _behind(_BLOCK_END, whole), share),
        (lambda whole: _behind(_LINE_END, whole), share),
        (_sentences, most),
        (lambda whole: _behind(_WORD_END, whole), most),
    )
    yield from _apart(text, levels, most)


def _apart(text: str, levels: Sequence[tuple[Callable[[str], list[str]], int]], most: int) -> Iterator[str]:
    if not levels:
        yield from _halves(text, most)
        return
    (split, longest), *finer = levels
    parts = split(text)
    for part, size in zip(parts, tokens.count_each(parts), strict=True):
        if size <= longest:
            yield part
        else:
            yield from _apart(part, finer, most)


def _behind(end: re.Pattern[str], text: str) -> list[str]:
    """``text`` cut behind each match of ``end``."""
    borders = [0, *(match.end() for match in end.finditer(text)), len(text)]
    return [text[a:b] for a, b in pairwise(borders) if a < b]


def _sentences(text: str) -> list[str]:
    borders = [0]
    for match in _SENTENCE_END.finditer(text):
        seen_from = max(borders[-1], match.start() - _LONGEST_NO_END)
        if not (match[0] == "." and _NO_END.search(text, seen_from, match.end())):
            borders.append(match.end())
    borders.append(len(text))
    return [text[a:b] for a, b in pairwise(borders) if a < b]


def _halves(text: str, most: int) -> Iterator[str]:
    """One word that fits no chunk, cut in the middle until it does."""
    if len(text) == 1 or tokens.count(text) <= most:
        yield text
        return
    middle = len(text) // 2
    yield from _halves(text[:middle], most)
    yield from _halves(text[middle:], most)
