"""Token counts without a network: o200k_base, equal to tiktoken's on any text.

A prompt is a sequence of pieces. ``pieces`` cuts a text behind line breaks in such a way that no token of the
vocabulary can span a cut, so the counts of the pieces add up to the count of the whole, and a text that was
counted once is never counted again.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

VOCABULARY = "o200k_base"

# The pre-tokenizer of o200k keeps white space and '/' together with a line break before them, so a cut is
# exact only where something else follows.
_CUT = re.compile(r"(?<=\n)(?![\s/])")


def sanitize(text: str) -> str:
    """Replaces lone surrogates, which no encoder accepts, by U+FFFD, as tiktoken does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@lru_cache(maxsize=1 << 16)
def count(text: str) -> int:
    """Number of o200k_base tokens of ``text``; special-token text counts as ordinary text."""
    import toktok  # three quarters of a second to load its vocabulary: only where something is counted

    return int(toktok.batch_count([sanitize(text)], VOCABULARY, threads=1)[0])


def count_all(texts: Iterable[str]) -> int:
    """Sum of the counts of ``texts``."""
    return sum(map(count, texts))


def pieces(text: str) -> tuple[str, ...]:
    """Cuts ``text`` behind line breaks; the pieces join to the text, their counts add up to its count."""
    return tuple(_CUT.split(text)) if "\n" in text else (text,)
