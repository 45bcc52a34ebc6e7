"""Which turns a fact came from, where it is known only in which batch of turns it was found."""

import re
from collections.abc import Sequence
from functools import lru_cache

from memgauge.conversation import Turn
from memgauge.memories.bm25 import STOP_WORDS

_WORD = re.compile(r"\w{3,}")
_STAMP = re.compile(r"^\[[^\]]*\] ")
_ENOUGH = 0.5  # of a fact's words


def narrowed(fact: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """Ids of the turns that share most words with ``fact``, where that is at least half of its words; else of all.

    A batch of ten turns behind every fact would make any recall of evidence look good.
    """
    words = telling_words(_STAMP.sub("", fact))
    shared = [len(words & telling_words(f"{turn.speaker} {turn.text}")) for turn in turns]
    most = max(shared, default=0)
    plain = most > 0 and most >= _ENOUGH * len(words)
    return tuple(turn.id for turn, count in zip(turns, shared, strict=True) if count == most or not plain)


@lru_cache(maxsize=1 << 13)  # the same turns stand behind fact after fact
def telling_words(text: str) -> frozenset[str]:
    """Words of three letters and more, in lower case, without stop words."""
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
