"""Vectors worked out by hand from the rules of LoCoMo's scorer."""

import pytest

from memgauge.metrics.locomo import locomo_f1


def test_words_are_compared_by_their_stems():
    # said: she enjoy paint (3), gold: enjoy paint (2); shared 2: 2*2/5
    assert locomo_f1("She enjoyed painting", ["enjoys paintings"], "4") == pytest.approx(4 / 5)


def test_a_an_the_and_and_are_dropped():
    # cats dogs against cats dogs
    assert locomo_f1("the cats and the dogs", ["cats, dogs"], "4") == 1


def test_commas_vanish_within_a_number():
    assert locomo_f1("1,000 euros", ["1000 euros"], "2") == 1


def test_category_1_is_the_mean_over_the_listed_golds_of_the_best_listed_answer():
    # golds: red car, boat. For "red car" the best of {red bike, boat} is red bike: 2*1/4 = 1/2; for boat 1.
    assert locomo_f1("red bike, boat", ["red car, boat"], "1") == pytest.approx((1 / 2 + 1) / 2)
    # without commas the whole answer is one item: for "red car" 2*2/(3+2), for "boat" 2*1/(3+1)
    assert locomo_f1("red car boat", ["red car, boat"], "1") == pytest.approx((4 / 5 + 1 / 2) / 2)


def test_an_empty_item_of_a_list_counts_as_missed():
    # the gold "boat," has the items "boat" and "", of which the second has no word to be found: (1 + 0) / 2
    assert locomo_f1("boat", ["boat,"], "1") == 0.5


def test_in_other_categories_a_list_is_one_text():
    assert locomo_f1("boat, red car", ["red car, boat"], "4") == 1


def test_category_3_leaves_out_the_reason_after_the_semicolon():
    assert locomo_f1("Likely yes", ["Likely yes; she said she would"], "3") == 1
    # so an answer that gives the reason too loses by it: gold 2 words, said 6, shared 2
    assert locomo_f1("Likely yes; she said she would", ["Likely yes; she said she would"], "3") == pytest.approx(1 / 2)
    # in category 4 it stays: 2 of 6 gold words, said 2: 2*2/8 ("likely yes she said she would")
    assert locomo_f1("Likely yes", ["Likely yes; she said she would"], "4") == pytest.approx(2 * 2 / 8)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("No information available", 1),
        ("It is NOT MENTIONED in the talk", 1),
        ("I do not know", 0),  # an abstention elsewhere, not by this scorer
        ("a blue car", 0),
        ("", 0),
    ],
)
def test_category_5_is_right_by_two_phrases_only(answer, value):
    assert locomo_f1(answer, ["No information available.", "No"], "5") == value


def test_an_empty_answer_and_a_wrong_one_score_nothing():
    assert locomo_f1("", ["Pepper"], "4") == locomo_f1("Ginger", ["Pepper"], "1") == 0


def test_a_question_of_another_workload_or_without_gold_is_not_scored():
    assert locomo_f1("Pepper", ["Pepper"], None) is None
    assert locomo_f1("Pepper", ["Pepper"], "multi-session") is None
    assert locomo_f1("Pepper", [], "4") is None
