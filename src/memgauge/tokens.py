"""Token counts without a network: o200k_base, equal to tiktoken's on any text.

A prompt is a sequence of pieces. ``pieces`` cuts a text behind line breaks in such a way that no token of the
vocabulary can span a cut, so the counts of the pieces add up to the count of the whole, and a text that was
counted once is never counted again.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

VOCABULARY = "o200k_base"

# The pre-tokenizer of o200k keeps white space and '/' together with a line break before them, so a cut is
# exact only where something else follows.
_CUT = re.compile(r"(?<=\n)(?![\s/])")
_REMEMBERED_COUNTS = 1 << 16
_REMEMBERED_CHARACTERS = 1 << 25  # of all texts whose counts are remembered
_REMEMBERED_TEXT = 1 << 14  # characters up to which a text's pieces are remembered: system prompts recur whole


class _Counts(dict[str, int]):
    """Counts by text. Beyond its size it forgets everything, which costs a recount and keeps a look-up bare."""

    characters = 0

    def __missing__(self, text: str) -> int:
        self.add((text,))
        return self[text]

    def add(self, texts: Sequence[str]) -> None:
        """Counts ``texts`` in one call of the tokenizer, whose price is per call as much as per character."""
        import toktok  # three quarters of a second to load its vocabulary: only where something is counted

        if len(self) > _REMEMBERED_COUNTS or self.characters > _REMEMBERED_CHARACTERS:
            self.clear()
            self.characters = 0
        self.characters += sum(map(len, texts))
        self.update(zip(texts, toktok.batch_count(list(map(sanitize, texts)), VOCABULARY, threads=1), strict=True))


_counts = _Counts()


def sanitize(text: str) -> str:
    """Replaces lone surrogates, which no encoder accepts, by U+FFFD, as tiktoken does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# Number of o200k_base tokens of a text; special-token text counts as ordinary text.
count = _counts.__getitem__


def count_each(texts: Sequence[str]) -> list[int]:
    """The counts of ``texts``, those that are new counted together."""
    if new := [text for text in texts if text not in _counts]:
        _counts.add(new)
    return list(map(count, texts))


def count_all(texts: Iterable[str]) -> int:
    """Sum of the counts of ``texts``."""
    return sum(count_each(list(texts)))


def pieces(text: str) -> tuple[str, ...]:
    """Cuts ``text`` behind line breaks; the pieces join to the text, their counts add up to its count."""
    if "\n" not in text:
        return (text,)
    return _remembered_pieces(text) if len(text) <= _REMEMBERED_TEXT else tuple(_CUT.split(text))


@lru_cache(maxsize=256)
def _remembered_pieces(text: str) -> tuple[str, ...]:
    return tuple(_CUT.split(text))
