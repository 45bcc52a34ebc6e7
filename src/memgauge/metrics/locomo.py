"""LoCoMo's official score: token F1 of Porter stems, by a rule of its own for each category.

Agrees with the scorer of the pinned release. A gold that is a number is taken as text, as there; an answer to a
question of category 5 is right by the two phrases alone that the scorer looks for, narrower than
``answers.abstains``.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from memgauge.metrics.porter import stem

_LEFT_OUT = re.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ABSTENTIONS = ("no information available", "not mentioned")
_SEVERAL, _OPEN, _UNANSWERABLE = "1", "3", "5"


def locomo_f1(answer: str, golds: Sequence[str], category: str | None) -> float | None:
    """F1 of stems (0 to 1); None where the category is not one of 1 to 5, or there is no gold.

    Category 1: both sides are lists between commas, the mean over golds of the best answer's F1. Category 3: the
    gold ends at its first semicolon, before the reason that follows. Category 5: 1 where the answer says one of
    the two phrases. The best of several golds counts; the source has one each.
    """
    if category == _UNANSWERABLE:
        return float(any(phrase in answer.lower() for phrase in _ABSTENTIONS))
    if category not in ("1", "2", "3", "4"):
        return None
    return max((_of_gold(answer, gold, category) for gold in golds if gold.strip()), default=None)


def _of_gold(answer: str, gold: str, category: str) -> float:
    if category == _SEVERAL:
        said = [_stems(part) for part in answer.split(",")]
        wanted = [_stems(part) for part in gold.split(",")]
        return sum(max(_f1(one, part) for one in said) for part in wanted) / len(wanted)
    return _f1(_stems(answer), _stems(gold.split(";")[0] if category == _OPEN else gold))


def _f1(said: Sequence[str], gold: Sequence[str]) -> float:
    shared = (Counter(said) & Counter(gold)).total()
    return 2 * shared / (len(said) + len(gold)) if shared else 0.0


def _stems(text: str) -> tuple[str, ...]:
    return _stemmed(text) if len(text) < 1000 else _stemmed.__wrapped__(text)


@lru_cache(maxsize=1 << 13)
def _stemmed(text: str) -> tuple[str, ...]:
    bare = text.lower().translate(_PUNCTUATION)  # a comma goes with the rest: "1,000" is one word
    return tuple(stem(word) for word in _LEFT_OUT.sub(" ", bare).split())
