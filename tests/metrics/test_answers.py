import pytest

from memgauge.metrics.answers import abstains, exact_match, normalize, sub_em, token_f1


def test_normalising_drops_case_punctuation_articles_and_extra_spaces():
    assert normalize("  The “Ferrari”, a  488-GTB!\n") == "ferrari 488gtb"


def test_an_article_inside_a_word_stays():
    assert normalize("theatre of another anthem") == "theatre of another anthem"


def test_an_exact_match_ignores_what_normalising_drops():
    assert exact_match("On the 8th of May.", ["on 8th of may"]) == 1
    assert exact_match("On the 8th of May, I think", ["on 8th of may"]) == 0


def test_token_f1_counts_words_as_a_multiset():
    # said: red red car (3), gold: red car car (3); shared: red once, car once = 2; F1 = 2*2/(3+3)
    assert token_f1("red red car", ["red car car"]) == pytest.approx(2 / 3)


def test_token_f1_of_a_wordy_answer():
    # said "it is pumpkin soup" has 4 words, gold 2, shared 2: F1 = 2*2/(4+2)
    assert token_f1("It is the pumpkin soup.", ["pumpkin soup"]) == pytest.approx(2 / 3)


def test_the_best_gold_counts():
    assert token_f1("180", ["180 euros", "180"]) == 1
    assert sub_em("about 180 I think", ["two hundred", "180"]) == 1


def test_an_empty_answer_scores_nothing():
    assert token_f1("", ["Pepper"]) == exact_match("...", ["Pepper"]) == sub_em("", ["Pepper"]) == 0


def test_sub_em_looks_for_a_contiguous_substring_of_characters():
    assert sub_em("She plays the cello in a band", ["The cello"]) == 1
    assert sub_em("cello she plays well", ["cello well"]) == 0
    assert sub_em("40 days", ["4"]) == 1


def test_a_question_without_gold_is_not_scored():
    assert token_f1("anything", []) is None
    assert exact_match("the", ["The"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "No information available",
        "That is not mentioned in the conversation.",
        "The dialogue doesn’t mention her passport.",
        "I don't know.",
        "It is not explicitly stated.",
        "This cannot be determined from what they said.",
        "There is no mention of it.",
        "Unknown",
        "Not enough information to answer",
    ],
)
def test_saying_that_nothing_is_known_is_abstaining(text):
    assert abstains(text)


@pytest.mark.parametrize("text", ["", "She does not like dogs", "An unknown painter", "Tickets were not available"])
def test_an_answer_is_not_abstaining(text):
    assert not abstains(text)


def test_on_an_unanswerable_question_only_abstaining_is_right():
    for metric in (exact_match, token_f1, sub_em):
        assert metric("No information available.", [], True) == 1
        assert metric("X1234567", ["no information available"], True) == 0
