"""The conversation that ships with memgauge has the shape that the demo counts on."""

from collections import Counter

import pytest

from memgauge import tokens
from memgauge.conversation import Conversation
from memgauge.errors import UnknownNameError
from memgauge.workloads.sample import Sample


@pytest.fixture
def sample() -> Conversation:
    return Sample().conversation("sample")


def test_it_has_twenty_two_turns_of_two_friends_over_four_sittings(sample: Conversation) -> None:
    assert Sample().items() == ("sample",)
    assert len(sample.turns) == 22
    assert {turn.speaker for turn in sample.turns} == {"Ines", "Jonah"}
    assert Counter(turn.session for turn in sample.turns) == {"1": 6, "2": 6, "3": 4, "4": 6}
    assert sample.anomalies == {}


def test_turns_are_short_enough_for_a_small_model(sample: Conversation) -> None:
    assert all(16 <= tokens.count(turn.text) <= 26 for turn in sample.turns)


def test_its_ten_questions_are_of_five_kinds(sample: Conversation) -> None:
    assert Counter(question.category for question in sample.questions) == {
        "single-hop": 5, "multi-hop": 1, "temporal": 2, "update": 1, "adversarial": 1,
    }  # fmt: skip


def test_every_answer_stands_word_for_word_in_its_evidence(sample: Conversation) -> None:
    text = {turn.id: turn.text for turn in sample.turns}
    for question in sample.questions:
        if not question.unanswerable:
            assert question.answers[0] in " ".join(text[turn_id] for turn_id in question.evidence)


def test_a_window_of_ten_turns_holds_some_answers_and_lacks_others(sample: Conversation) -> None:
    window = {turn.id for turn in sample.turns[-10:]}
    held = [window.issuperset(question.evidence) for question in sample.questions if question.evidence]
    assert Counter(held) == {True: 4, False: 5}


def test_the_fact_that_changes_is_asked_for_as_it_was_last_told(sample: Conversation) -> None:
    (question,) = [question for question in sample.questions if question.category == "update"]
    told = [turn.id for turn in sample.turns if "2 June" in turn.text or "16 June" in turn.text]
    assert told == ["t14", "t18"]
    assert question.evidence == ("t18",)
    assert question.answers[0] == "16 June"


def test_the_question_without_an_answer_has_a_trap_that_was_said_of_somebody_else(sample: Conversation) -> None:
    (question,) = [question for question in sample.questions if question.unanswerable]
    assert question.answers == ("No information available.",)
    assert question.trap == "Pepper"
    assert "your dog Pepper" in sample.turns[4].text, "Ines says it to Jonah: the dog is his"


def test_there_is_no_other_item() -> None:
    with pytest.raises(UnknownNameError):
        Sample().conversation("other")
