"""Is an answer right? Exact match, token F1 and SubEM of one answer against its golds.

Both sides are normalised first (lower-case, punctuation and articles stripped, spaces squeezed, as SQuAD does).
The best gold counts. A gold of which nothing is left ("The") is none. Where a question is unanswerable the
right answer is to say so, and every metric is 1 or 0 by ``abstains``.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")

# What an answer says where it finds no answer. The first two are LoCoMo's own; the rest are what models write
# in their place. Matched anywhere, so "I see no information about X; perhaps Y" abstains, as LoCoMo has it.
_ABSTENTIONS = re.compile(
    r"no information"
    r"|not (?:explicitly |directly |specifically )?(?:mentioned|specified|stated|provided in|said in)"
    r"|no (?:mention|record) of"
    r"|(?:do|does|did|is|was|were|has|have)(?: not|n't) (?:explicitly |specifically |directly )?"
    r"(?:mention|specify|state|say|know|been mentioned|been specified|provide (?:any |enough )?information)"
    r"|(?:can not|cannot|can't|could not|couldn't) (?:be )?(?:determine|answer|find|tell|know)"
    r"|(?:not enough|insufficient) information"
    r"|(?:is|are) (?:unknown|not known)|^unknown$|unanswerable"
)


class _Punctuation(dict[int, int | None]):
    """Decides once per character whether it is dropped: every punctuation mark, and ASCII's symbols."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        drop = category[0] == "P" or (category[0] == "S" and code < 128)
        self[code] = None if drop else code
        return self[code]


_PUNCTUATION = _Punctuation()


def normalize(text: str) -> str:
    """Lower-case, without punctuation and the articles a, an, the, words one space apart."""
    return _normalized(text) if len(text) < 1000 else _normalized.__wrapped__(text)  # 100 kB are not remembered


@lru_cache(maxsize=1 << 14)
def _normalized(text: str) -> str:
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def abstains(text: str) -> bool:
    """Whether the answer says that the conversation does not tell."""
    return _ABSTENTIONS.search(" ".join(text.lower().replace("’", "'").split()).strip(" .!\"'")) is not None


def exact_match(answer: str, golds: Sequence[str], unanswerable: bool = False) -> float | None:
    """1 where the normalised answer equals a normalised gold, else 0 (P1). None where there is no gold."""
    return _best(answer, golds, unanswerable, lambda said, gold: float(said == gold))


def token_f1(answer: str, golds: Sequence[str], unanswerable: bool = False) -> float | None:
    """F1 over the multisets of words, 0 for an empty answer (P2). None where there is no gold."""
    return _best(answer, golds, unanswerable, _f1)


def sub_em(answer: str, golds: Sequence[str], unanswerable: bool = False) -> float | None:
    """1 where a normalised gold is a contiguous substring of the normalised answer, else 0 (P12).

    A substring of characters, as published: the gold "4" is found in "40". None where there is no gold.
    """
    return _best(answer, golds, unanswerable, lambda said, gold: float(gold in said))


def _best(answer: str, golds: Sequence[str], unanswerable: bool, compare: Callable[[str, str], float]) -> float | None:
    if unanswerable:
        return float(abstains(answer))
    wanted = [gold for gold in map(normalize, golds) if gold]
    said = normalize(answer)
    return max((compare(said, gold) for gold in wanted), default=None)


def _f1(said: str, gold: str) -> float:
    said_words, gold_words = said.split(), gold.split()
    shared = (Counter(said_words) & Counter(gold_words)).total()
    return 2 * shared / (len(said_words) + len(gold_words)) if shared else 0.0
