"""Vectors worked out by hand: what the benchmark's scorer says, and what its prompts ask for."""

import pytest

from memgauge.metrics.memory_agent_bench import corrected, official, reading

LABELS, DETECTIVE, FACTS = "icl_banking77_5900shot_balance", "detective_qa", "factconsolidation_sh_6k"


@pytest.mark.parametrize(
    ("answer", "officially", "really"),
    [
        ("43", 1, 1),
        ("Answer: 43", 1, 1),
        ("label: 43", 0, 1),  # as the prompt asks; the scorer reads "label 43"
        ("Label: **43**", 0, 1),
        ("The label is 43.", 0, 1),
        ("43 (card arrival)", 0, 1),
        ("label: 4", 0, 0),
        ("label: 430", 0, 0),
        ("43 or 44", 0, 0),
        ("Answer: 43\nlabel: 12", 1, 0),  # the scorer takes the first marker, we the last
        ("", 0, 0),
    ],
)
def test_example_labels(answer, officially, really):
    assert (official(answer, ["43"], LABELS), corrected(answer, ["43"], LABELS)) == (officially, really)


def test_officially_the_raw_text_of_a_label_does_not_count():
    # only what follows the marker is scored: raw, "43 Answer: none" would not match either, but nor does "none"
    assert official("43\nAnswer: none", ["43"], LABELS) == 0


@pytest.mark.parametrize(
    ("answer", "officially", "really"),
    [
        ("C. The Brandt couple", 1, 1),
        ("Answer: C. The Brandt couple", 1, 1),
        ('{"answer":"C. The Brandt couple", "reasoning":"Both were there."}', 0, 1),  # as the prompt asks
        ('{"answer": "C", "reasoning": "…"}', 0, 1),
        ('```json\n{"answer": "(C) The Brandt couple"}\n```', 0, 1),
        ("c", 0, 1),
        ("The Brandt couple", 0, 1),  # officially "c brandt couple" is not "brandt couple"
        ("D. The Brandt couple", 0, 0),  # the letter decides
        ('{"answer": "A. Mrs. Hemm"}', 0, 0),
        ('{"answer": "C. The Brandt cou', 0, 1),  # cut off, the letter is there
        ("I cannot tell.", 0, 0),
    ],
)
def test_detective_questions(answer, officially, really):
    gold = ["C. The Brandt couple"]
    assert (official(answer, gold, DETECTIVE), corrected(answer, gold, DETECTIVE)) == (officially, really)


def test_officially_the_letter_a_is_dropped_as_an_article():
    assert official("Dislike", ["A. Dislike"], DETECTIVE) == 1
    assert official("Actor", ["B. Actor"], DETECTIVE) == 0


def test_a_gold_without_a_space_after_its_letter():
    assert official("B. Hila Weber", ["B.Hila Weber"], DETECTIVE) == 0  # "b hila weber" is not "bhila weber"
    assert corrected("B. Hila Weber", ["B.Hila Weber"], DETECTIVE) == 1


@pytest.mark.parametrize(
    ("answer", "officially", "really"),
    [
        ("Iran", 1, 1),
        ("He was born in Iran, they say.", 1, 1),
        ("Tirana", 1, 0),  # a substring of characters
        ("First Iran, later Albania.\nAnswer: Albania", 1, 0),  # the raw text still names it
        ("Answer: Iran", 1, 1),
        ("Albania", 0, 0),
        ("", 0, 0),
    ],
)
def test_facts(answer, officially, really):
    assert (official(answer, ["Iran"], FACTS), corrected(answer, ["Iran"], FACTS)) == (officially, really)


def test_punctuation_and_articles_do_not_matter():
    assert official("Washington DC", ["Washington, D.C.."], FACTS) == 1
    assert corrected("the United States of America", ["United States of America"], "eventqa_full") == 1


def test_the_best_gold_counts_and_no_gold_is_not_scored():
    assert corrected("Rome", ["Watertown", "Rome"], "ruler_qa1_197K") == 1
    assert official("Rome", [], FACTS) is corrected("Rome", [" "], FACTS) is None


def test_a_task_that_a_judge_decides_has_no_rule():
    assert official("7 days", ["7 days"], "longmemeval_s*") is corrected("7 days", ["7 days"], "") is None


def test_reading_takes_the_json_field_then_the_marker_then_everything():
    assert reading('So {"answer": "B. \\"Ace\\"", "n": 1}') == 'B. "Ace"'
    assert reading('{"answer": 43}') == "43"
    assert reading("Thinking…\nFinal answer: Rome\nbecause") == "Rome"
    assert reading(" plain ") == "plain"
    assert reading('{"answer": "a \\x b"}') == r"a \x b"  # an escape that JSON does not know
