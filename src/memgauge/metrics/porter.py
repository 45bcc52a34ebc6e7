"""Porter's stemmer (1980) with the changes that NLTK made to it: what LoCoMo's and ROUGE's scorers stem with.

A letter is a vowel where it is a, e, i, o, u, or a y after a consonant. The measure of a stem is how often a
consonant follows a vowel in it. A step takes the first rule whose suffix fits, and is over even where that
rule's condition does not hold.
"""

from collections.abc import Callable
from functools import lru_cache

_Rule = tuple[str, str, Callable[[str], bool]]  # suffix, what stands in its place, condition on the stem

# Words that the rules would spoil (NLTK).
_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe", "proceed": "proceed", "exceed": "exceed",
    "succeed": "succeed",
}  # fmt: skip


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The stem of a lower-case word; words of one or two letters are their own."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _final_y, _double_suffix, _suffix, _last_suffix, _final_e, _final_l):
        word = step(word)
    return word


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]  # dies -> die (NLTK), ponies -> poni
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]  # died -> die, tried -> tri (NLTK)
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        left = word.removesuffix(suffix)
        if left != word and _has_vowel(left):
            return _mended(left)
    return word


def _mended(left: str) -> str:
    """What is left of a word after -ed or -ing, with the e or the single letter that it had before."""
    if left.endswith(("at", "bl", "iz")):
        return f"{left}e"
    if _ends_double(left):
        return left if left[-1] in "lsz" else left[:-1]
    return f"{left}e" if _measure(left) == 1 and _ends_short(left) else left


def _final_y(word: str) -> str:
    turns = word.endswith("y") and len(word) > 2 and _letters(word)[-2] == "c"  # happy, but not enjoy (NLTK)
    return f"{word[:-1]}i" if turns else word


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _double_suffix(word[:-2])  # NLTK: the result may end in another suffix of this step
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word  # NLTK: the l counts, so that theologi -> theolog
    return _first(word, _DOUBLE_SUFFIXES)


def _suffix(word: str) -> str:
    return _first(word, _SUFFIXES)


def _last_suffix(word: str) -> str:
    return _first(word, _LAST_SUFFIXES)


def _final_e(word: str) -> str:
    left = word.removesuffix("e")
    dropped = left != word and (_measure(left) > 1 or (_measure(left) == 1 and not _ends_short(left)))
    return left if dropped else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _first(word: str, rules: tuple[_Rule, ...]) -> str:
    for suffix, instead, holds in rules:
        if word.endswith(suffix):
            left = word[: -len(suffix)]
            return left + instead if holds(left) else word
    return word


def _letters(word: str) -> str:
    """``v`` for each vowel and ``c`` for each consonant of ``word``."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(left: str) -> int:
    return _letters(left).count("vc")


def _has_vowel(left: str) -> bool:
    return "v" in _letters(left)


def _ends_double(left: str) -> bool:
    return len(left) >= 2 and left[-1] == left[-2] and _letters(left)[-1] == "c"


def _ends_short(left: str) -> bool:
    """Whether an e is missing after it: fil-, hop-, but not fail-; of two letters vowel and consonant (NLTK)."""
    kinds = _letters(left)
    return kinds == "vc" or (kinds.endswith("cvc") and left[-1] not in "wxy")


def _any(left: str) -> bool:
    return _measure(left) > 0


def _long(left: str) -> bool:
    return _measure(left) > 1


def _long_before_ion(left: str) -> bool:
    return _measure(left) > 1 and left.endswith(("s", "t"))


_DOUBLE_SUFFIXES: tuple[_Rule, ...] = tuple(
    (suffix, instead, _any)
    for suffix, instead in (
        ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
        ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
        ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
        ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
        ("fulli", "ful"),
    )
)  # fmt: skip
_SUFFIXES: tuple[_Rule, ...] = tuple(
    (suffix, instead, _any)
    for suffix, instead in (
        ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
    )
)  # fmt: skip
_LAST_SUFFIXES: tuple[_Rule, ...] = tuple(
    (suffix, "", _long_before_ion if suffix == "ion" else _long)
    for suffix in (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
        "iti", "ous", "ive", "ize",
    )
)  # fmt: skip
