"""BERT's uncased WordPiece: text to the ids that MiniLM reads."""

import json
import string
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_LONGEST_WORD = 100  # characters; a longer word is unknown, as in BERT


class WordPiece:
    """Splits text as BERT's uncased tokenizer does; ``[CLS]`` and the like in the text are ordinary text."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._ids = vocabulary
        self._unknown, self._start, self._end = (vocabulary[name] for name in ("[UNK]", "[CLS]", "[SEP]"))
        self._word = lru_cache(maxsize=1 << 16)(self._split)

    @classmethod
    def load(cls, path: Path) -> "WordPiece":
        """Reads the vocabulary of a ``tokenizer.json``."""
        return cls(json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"])

    def ids(self, text: str, limit: int) -> list[int]:
        """The ids of ``text`` between start and end mark, cut to ``limit`` in all."""
        body: list[int] = []
        for word in _words(text):
            body += self._word(word)
            if len(body) >= limit - 2:
                break
        return [self._start, *body[: limit - 2], self._end]

    def _split(self, word: str) -> tuple[int, ...]:
        """Longest known piece first, from the left; a word with an unknown rest is unknown as a whole."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (piece := self._ids.get(mark + word[start:end])) is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(found)


def _words(text: str) -> Iterator[str]:
    for chunk in "".join(map(_clean, text)).split():
        # Lower-cased letter by letter: str.lower() knows of the final sigma, BERT does not.
        plain = "".join(_bare(letter) for letter in unicodedata.normalize("NFD", chunk))
        yield from "".join(f" {letter} " if _punctuation(letter) else letter for letter in plain).split()


@lru_cache(maxsize=1 << 16)
def _clean(letter: str) -> str:
    if letter in "\t\n\r":
        return " "
    if letter == "\ufffd" or unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if letter.isspace():
        return " "
    return f" {letter} " if any(first <= ord(letter) <= last for first, last in _CJK) else letter


@lru_cache(maxsize=1 << 16)
def _bare(letter: str) -> str:
    return "" if unicodedata.category(letter) == "Mn" else letter.lower()


@lru_cache(maxsize=1 << 16)
def _punctuation(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter)[0] == "P"
