import pytest

from memgauge.metrics.porter import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # Porter 1980, the examples of each step carried through to the end
        ("caresses", "caress"), ("ponies", "poni"), ("caress", "caress"), ("cats", "cat"),
        ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"),
        ("sing", "sing"), ("conflated", "conflat"), ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"),
        ("tanned", "tan"), ("falling", "fall"), ("hissing", "hiss"), ("fizzed", "fizz"), ("failing", "fail"),
        ("filing", "file"), ("happy", "happi"), ("relational", "relat"), ("conditional", "condit"),
        ("digitizer", "digit"), ("vietnamization", "vietnam"), ("hopefulness", "hope"), ("triplicate", "triplic"),
        ("formative", "form"), ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
        ("adoption", "adopt"), ("communism", "commun"), ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"),
        ("controlling", "control"), ("roll", "roll"),
    ],
)  # fmt: skip
def test_the_steps_of_porter(word, expected):
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # where NLTK departs from the paper: dies, died and try keep their kin together, enjoy its y
        ("dies", "die"), ("died", "die"), ("dying", "die"), ("tries", "tri"), ("tried", "tri"), ("try", "tri"),
        ("skies", "sky"), ("enjoy", "enjoy"), ("by", "by"), ("us", "us"), ("hopefully", "hope"), ("generally", "gener"),
        ("theology", "theolog"), ("news", "news"), ("inning", "inning"),
    ],
)  # fmt: skip
def test_the_changes_of_nltk(word, expected):
    assert stem(word) == expected


def test_what_is_no_word_is_left_alone():
    assert [stem(text) for text in ("", "y", "1990", "yyyyyyyy", "日本語")] == ["", "y", "1990", "yyyyyyyi", "日本語"]
