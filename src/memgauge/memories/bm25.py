"""BM25: every turn in a word index, the best k by Okapi scoring recalled (paper 2, M2)."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from heapq import nlargest
from math import log
from typing import ClassVar

from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Item, Recalled

_WORD = re.compile(r"\b\w\w+\b")
# The thirty-three words that Lucene's English analyser drops.
_DROPPED = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
    " to was will with"
)
STOP_WORDS = frozenset(_DROPPED.split())


class BM25:
    """No model and no embedding in any stage; the index grows turn by turn and is never rebuilt.

    Scores are Lucene's: idf = ln(1 + (N − df + 0.5) / (df + 0.5)), k1 = 1.5, b = 0.75 (the defaults of bm25s).
    A query of nothing but stop words is searched with them.
    """

    card: ClassVar[Card] = Card(
        name="bm25",
        title="BM25",
        summary="every turn in a word index, the best k recalled",
        paper_id="M2",
        parallel_reads=True,
    )

    def __init__(self, k: int = 10, k1: float = 1.5, b: float = 0.75) -> None:
        self._k, self._k1, self._b = k, k1, b
        self._items: list[Item] = []
        self._lengths: list[int] = []
        self._total_length = 0
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)  # word -> (turn, count)

    async def write(self, turns: Sequence[Turn]) -> None:
        """Indexes the turns."""
        for turn in turns:
            place = len(self._items)
            item = Item.of(turn)
            words = _WORD.findall(f"{turn.speaker} {turn.text}".lower())
            for word, count in Counter(words).items():
                self._postings[word].append((place, count))
            self._items.append(item)
            length = sum(word not in STOP_WORDS for word in words)
            self._lengths.append(length)
            self._total_length += length

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The best k turns that share a word with the query; equal scores go to the later turn."""
        scores = self.scores(query)
        best = nlargest(self._k, scores, key=lambda place: (scores[place], place))
        return Recalled(
            tuple(self._items[place] for place in sorted(best)),
            ranked=tuple(self._items[place].turn_ids for place in best),
        )

    def scores(self, query: str) -> dict[int, float]:
        """Score by place of the turn, for turns that share a word with the query."""
        words = _WORD.findall(query.lower())
        terms = [word for word in words if word not in STOP_WORDS] or words
        scores: defaultdict[int, float] = defaultdict(float)
        held = len(self._items)
        mean_length = self._total_length / held if held else 0.0
        for term in terms:
            postings = self._postings.get(term, ())
            weight = log(1 + (held - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, count in postings:
                norm = 1 - self._b + self._b * self._lengths[place] / (mean_length or 1.0)
                scores[place] += weight * count / (count + self._k1 * norm)
        return dict(scores)

    async def manage(self) -> None:
        """Nothing to tidy."""

    def footprint(self) -> Footprint:
        """The turns and their postings, eight bytes each."""
        postings = sum(map(len, self._postings.values()))
        return Footprint.of_text((item.text for item in self._items), 8 * postings)

    async def close(self) -> None:
        """Forgets everything."""
        self._items.clear()
        self._postings.clear()
