"""Which sentences of a prompt bear on a question: overlap of stems, each weighted by how rare it is there."""

from collections.abc import Collection, Mapping, Sequence, Set
from heapq import nlargest
from math import log
from typing import NamedTuple

from memgauge.backbones.rules.lines import Block, Sentence, read

_CAPACITY = 1 << 24  # characters of text that are indexed before the index is begun anew
_BLOCKS = 8  # blocks whose sentences are looked at one by one
_PRIOR = 50  # blocks without the term that are taken to exist elsewhere: in a short prompt all words are rare
_REST_OF_BLOCK = 0.5  # what a term counts that stands beside the sentence, in the same block
_LINE_BEFORE = 0.7  # what a term counts that stands in the question that the block answers
_ASKING = 0.2  # a question seldom tells anything


class Hit(NamedTuple):
    """A sentence, how much of the question it covers (1: every term), and its place in the prompt."""

    score: float
    place: int
    sentence: Sentence


class Index:
    """For every term the blocks that hold it; a block, one part of a prompt, is entered once."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._texts: list[str] = []
        self._asks: list[bool] = []  # whether the block ends in a question
        self._postings: dict[str, set[int]] = {}
        self._held = 0

    def ids(self, parts: Sequence[str]) -> list[int]:
        """The blocks' numbers; parts not seen before are read."""
        try:
            return list(map(self._ids.__getitem__, parts))
        except KeyError:
            if self._held > _CAPACITY:
                Index.__init__(self)
            for part in parts:
                if part not in self._ids:
                    self._add(part)
            return list(map(self._ids.__getitem__, parts))

    def block(self, number: int) -> Block:
        """The block of a number that ``ids`` has just given."""
        return read(self._texts[number])

    def rank(self, ids: Sequence[int], terms: Collection[str], names: Set[str] = frozenset()) -> list[Hit]:
        """Sentences among the blocks ``ids`` that bear on ``terms``, best first; of equals the latest first.

        Those of ``terms`` that are ``names`` of whom it is about do not suffice where there are others.
        """
        places = dict(zip(ids, range(len(ids)), strict=True))  # a block that is repeated counts where it is last
        here = places.keys()
        found: dict[int, float] = {}
        weights: dict[str, float] = {}
        for term in terms:
            blocks = here & self._postings.get(term, _NOWHERE)
            weights[term] = weight = log((len(places) + _PRIOR) / (len(blocks) + 1))
            for number in blocks:
                found[number] = found.get(number, 0.0) + weight
        if not found:
            return []
        least = nlargest(_BLOCKS, found.values())[-1]
        best = nlargest(_BLOCKS, (number for number, score in found.items() if score >= least),
                        key=lambda number: (found[number], places[number]))  # fmt: skip
        candidates = {places[number] for number in best}
        candidates |= {place + 1 for place in candidates if place + 1 < len(ids) and self._asks[ids[place]]}
        hits = [hit for place in candidates for hit in self._hits(ids, place, weights, names)]
        hits.sort(key=lambda hit: (-round(hit.score, 6), -hit.place))
        return hits

    def _hits(self, ids: Sequence[int], place: int, weights: Mapping[str, float], names: Set[str]) -> list[Hit]:
        number, before = ids[place], ids[place - 1] if place else None
        asked = before is not None and self._asks[before]
        beside = {}  # what each term counts that the sentence itself lacks
        for term, weight in weights.items():
            holders = self._postings.get(term, _NOWHERE)
            beside[term] = weight * (
                _REST_OF_BLOCK if number in holders else _LINE_BEFORE if asked and before in holders else 0
            )
        hits = []
        total = sum(weights.values())
        topic = weights.keys() - names or weights.keys()
        for sentence in self.block(number).sentences:
            held = [term for term in weights if term in sentence.terms or term in sentence.tags]
            if topic.isdisjoint(held) and not any(beside[term] for term in topic):
                continue
            covered = sum(beside.values()) + sum(weights[term] - beside[term] for term in held)
            hits.append(Hit(covered / total * (_ASKING if sentence.asks else 1.0), place, sentence))
        return hits

    def _add(self, part: str) -> None:
        block = read(part)
        number = self._ids[part] = len(self._texts)
        self._texts.append(part)
        self._asks.append(block.asks)
        self._held += len(part) + 64
        for term in block.terms:
            self._postings.setdefault(term, set()).add(number)


_NOWHERE: set[int] = set()
