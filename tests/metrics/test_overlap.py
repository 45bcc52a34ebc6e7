from math import exp

import pytest

from memgauge.metrics.overlap import bleu1, rouge_l


def test_bleu1_is_the_share_of_the_answers_words_that_are_the_golds():
    # it is pumpkin soup: 2 of 4 words, longer than the gold, so no penalty
    assert bleu1("It is the pumpkin soup.", ["pumpkin soup"]) == 0.5


def test_a_word_counts_as_often_as_the_gold_has_it():
    assert bleu1("soup soup soup", ["pumpkin soup"]) == pytest.approx(1 / 3)


def test_bleu1_punishes_a_shorter_answer():
    # 1 of 1 word, gold has 4: exp(1 - 4/1)
    assert bleu1("Lofoten", ["Lofoten Islands in Norway"]) == pytest.approx(exp(-3))


def test_rouge_l_is_the_f1_of_the_longest_common_subsequence():
    # said: police kill the gunman (4), gold: police killed the gunman (4), kill = killed once stemmed
    assert rouge_l("police kill the gunman", ["police killed the gunman"]) == 1
    # the gunman kill police: the longest common subsequence is "the gunman" or "kill", ...: 2 of 4 and 4
    assert rouge_l("the gunman kill police", ["police killed the gunman"]) == pytest.approx(2 * 2 / 8)


def test_rouge_l_splits_at_punctuation_keeps_articles_and_stems_words_of_four_letters_on():
    # said: the well being (3), gold: well being (2), shared 2
    assert rouge_l("The well-being", ["well being"]) == pytest.approx(4 / 5)
    # "runs" is stemmed to "run", "was" is not
    assert rouge_l("runs was", ["run wa"]) == pytest.approx(2 / 4)


def test_rouge_l_knows_letters_of_every_alphabet():
    # by choice: the reference package takes only a to z, for which this would be 0
    assert rouge_l("Кукай", ["кукай"]) == 1


def test_the_longest_common_subsequence_of_long_answers():
    words = [str(place) for place in range(5000)]
    other = words[::2]  # every other word, in order: 2500 are shared
    assert rouge_l(" ".join(words), [" ".join(other)]) == pytest.approx(2 * 2500 / 7500)


@pytest.mark.parametrize("metric", [bleu1, rouge_l])
def test_the_best_gold_counts_and_an_empty_answer_scores_nothing(metric):
    assert metric("Pepper", ["Ginger", "Pepper"]) == 1
    assert metric("", ["Pepper"]) == metric("...", ["Pepper"]) == 0
    assert metric("anything", []) is None
    assert metric("No information available.", [], True) == 1
