"""How much wording does an answer share with a gold? BLEU-1 (P3) and ROUGE-L of one answer; the best gold counts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import exp

from memgauge.metrics.answers import abstains, normalize
from memgauge.metrics.porter import stem

_WORDS = re.compile(r"[^\W_]+")


def bleu1(answer: str, golds: Sequence[str], unanswerable: bool = False) -> float | None:
    """Share of the answer's words that are the gold's, times the penalty exp(1 - gold/answer) for a shorter answer.

    Words and their counts are those of token F1. 0 for an empty answer, None where there is no gold.
    """
    if unanswerable:
        return float(abstains(answer))
    said = normalize(answer).split()
    return _best(_bleu1, said, (normalize(gold).split() for gold in golds))


def rouge_l(answer: str, golds: Sequence[str], unanswerable: bool = False) -> float | None:
    """F1 of the longest common subsequence of stemmed words. 0 for an empty answer, None where there is no gold.

    As the rouge-score package has it with its stemmer, articles kept; but a letter is a letter in every
    alphabet here, not only a to z.
    """
    if unanswerable:
        return float(abstains(answer))
    return _best(_rouge_l, _stems(answer), map(_stems, golds))


def _best(
    compare: Callable[[Sequence[str], Sequence[str]], float], said: Sequence[str], golds: Iterable[Sequence[str]]
) -> float | None:
    return max((compare(said, gold) if said else 0.0 for gold in golds if gold), default=None)


def _bleu1(said: Sequence[str], gold: Sequence[str]) -> float:
    shared = (Counter(said) & Counter(gold)).total()
    return min(1.0, exp(1 - len(gold) / len(said))) * shared / len(said)


def _rouge_l(said: Sequence[str], gold: Sequence[str]) -> float:
    return 2 * _common(said, gold) / (len(said) + len(gold))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence, a row of the usual table at a time as bits of one number.

    The table itself would hold 10^8 cells for an answer of 100 kB (Hyyrö 2004).
    """
    short, long = sorted((one, other), key=len)
    places: dict[str, int] = {}
    for place, word in enumerate(short):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(short)) - 1
    row = full
    for word in long:
        if matches := row & places.get(word, 0):
            row = (row + matches | row - matches) & full
    return len(short) - row.bit_count()


def _stems(text: str) -> Sequence[str]:
    return _stemmed(text) if len(text) < 1000 else _stemmed.__wrapped__(text)


@lru_cache(maxsize=1 << 13)
def _stemmed(text: str) -> tuple[str, ...]:
    return tuple(stem(word) if len(word) > 3 else word for word in _WORDS.findall(text.lower()))
