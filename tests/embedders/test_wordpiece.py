"""Splitting text as BERT's uncased tokenizer does, on a vocabulary made here."""

import importlib.util

import pytest

from embedded_model import needs_embedded_model
from memgauge import install
from memgauge.embedders.wordpiece import WordPiece

PIECES = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##ed", "player", ".", "'", "don", "t", "cafe", "猫",
    "σοφος", "σοφοσ", "##o",
]  # fmt: skip
TINY = WordPiece({piece: number for number, piece in enumerate(PIECES)})


def pieces(text: str) -> list[str]:
    marked = [PIECES[i] for i in TINY.ids(text, 256)]
    assert (marked[0], marked[-1]) == ("[CLS]", "[SEP]")
    return marked[1:-1]


def test_the_longest_known_piece_is_taken_first() -> None:
    assert pieces("playing played player") == ["play", "##ing", "play", "##ed", "player"]


def test_a_word_with_an_unknown_rest_is_unknown_as_a_whole() -> None:
    assert pieces("playful play") == ["[UNK]", "play"]


def test_a_word_of_more_than_a_hundred_letters_is_unknown() -> None:
    assert pieces("play" + "o" * 96) == ["play"] + ["##o"] * 96
    assert pieces("play" + "o" * 97) == ["[UNK]"]


def test_case_and_accents_do_not_count() -> None:
    assert pieces("PLAY Café") == ["play", "cafe"]


def test_a_capital_sigma_becomes_the_ordinary_one_even_at_the_end() -> None:
    assert pieces("ΣΟΦΟΣ") == ["σοφοσ"]
    assert pieces("σοφος") == ["σοφος"]


def test_punctuation_and_chinese_characters_stand_alone() -> None:
    assert pieces("don't.play猫play") == ["don", "'", "t", ".", "play", "猫", "play"]


def test_control_characters_vanish_and_any_white_space_separates() -> None:
    assert pieces("pl\x00a\u200dy\x85ing\u00a0play\tplay") == ["play", "##ing", "play", "play"]


def test_marks_written_in_the_text_are_ordinary_text() -> None:
    assert pieces("[SEP]") == ["[UNK]"] * 3


def test_a_lone_surrogate_vanishes() -> None:
    assert pieces("play\ud800") == ["play"]


def test_text_is_cut_to_the_limit_with_both_marks_kept() -> None:
    assert TINY.ids("play " * 9, 4) == [2, 4, 4, 3]


def test_no_text_is_the_two_marks() -> None:
    assert TINY.ids(" \n", 256) == [2, 3]


@needs_embedded_model
def test_the_real_vocabulary_gives_berts_published_ids() -> None:
    # "hello world" is 7592 2088 in bert-base-uncased, between 101 and 102.
    assert WordPiece.load(install.MINILM_TOKENIZER.path).ids("Hello, world", 256) == [101, 7592, 1010, 2088, 102]


@needs_embedded_model
@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is None, reason="the tokenizers library is not installed")
def test_ids_equal_those_of_the_tokenizers_library() -> None:
    from tokenizers import Tokenizer

    theirs = Tokenizer.from_file(str(install.MINILM_TOKENIZER.path))
    theirs.no_padding()
    theirs.enable_truncation(256)
    ours = WordPiece.load(install.MINILM_TOKENIZER.path)
    texts = [
        "Ünïcode Straße ΣΊΣΥΦΟΣ İstanbul ẞ Ǆ", "汉字かな交じり文 한국어", "👩‍👩‍👧 zwj \ufffd\x00\x85\u2028x",
        "$5+3=8 ^`|~<>", "don't — “quoted” …", "عربي हिन्दी ไทย", "½ ② ﬁ e\u0301", "x" * 3000,
        "so " * 400, "", "\u05f8\u0383",
    ]  # fmt: skip
    assert [ours.ids(text, 256) for text in texts] == [theirs.encode(text).ids for text in texts]
