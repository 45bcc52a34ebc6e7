import pytest

from memgauge.analysis.failures import Cause, count, explained, failures
from memgauge.metrics.score import scores_frame
from recalled_ledgers import Asked, Said, recalled_ledger

WHOLE, SMALLER = (600, 100), (600, 40)  # a store as large as the 100 tokens written, and one that left something out


def _causes(directory, *answers, store=WHOLE):
    found = failures(recalled_ledger(directory, Asked(answers, store=store)))
    return [(failed.ordinal, failed.cause) for failed in found]


def test_a_right_answer_and_one_without_gold_are_no_failures(tmp_path):
    assert _causes(tmp_path, Said("Pepper"), Said("anything", golds=())) == []


def test_evidence_that_was_recalled_was_not_used(tmp_path):
    wrong = Said("Ginger", evidence=["t1", "t3"], recalled=[["t9"], ["t3", "t1"]])
    assert _causes(tmp_path, wrong) == [(1, Cause.NOT_USED)]


def test_evidence_in_a_store_that_left_nothing_out_was_not_retrieved(tmp_path):
    wrong = Said("Ginger", evidence=["t1", "t3"], recalled=[["t1"], ["t9"]])
    (failed,) = failures(recalled_ledger(tmp_path, Asked([wrong])))
    assert (failed.cause, failed.missing) == (Cause.NOT_RETRIEVED, ("t3",))


def test_evidence_that_no_read_ever_brought_up_was_not_stored_where_the_store_left_something_out(tmp_path):
    wrong = Said("Ginger", evidence=["t1", "t3"], recalled=[["t1"]])
    (failed,) = failures(recalled_ledger(tmp_path, Asked([wrong], store=SMALLER)))
    assert (failed.cause, failed.missing) == (Cause.NOT_STORED, ("t3",))


def test_what_another_question_brought_up_is_stored(tmp_path):
    wrong, other = Said("Ginger", evidence=["t3"], recalled=[["t1"]]), Said("Pepper", recalled=[["t3"]])
    assert _causes(tmp_path, wrong, other, store=SMALLER) == [(1, Cause.NOT_RETRIEVED)]


def test_what_another_conversation_brought_up_is_not(tmp_path):
    wrong = Asked([Said("Ginger", evidence=["t3"], recalled=[["t1"]])], item="one", store=SMALLER)
    other = Asked([Said("Pepper", recalled=[["t3"]])], item="two", store=SMALLER)
    (failed,) = failures(recalled_ledger(tmp_path, wrong, other))
    assert failed.cause is Cause.NOT_STORED


def test_an_empty_memory_stored_nothing(tmp_path):
    assert _causes(tmp_path, Said("Ginger", recalled=[]), store=(0, 0)) == [(1, Cause.NOT_STORED)]


def test_missing_evidence_may_be_in_what_names_no_turn(tmp_path):
    untraced = Said("Ginger", evidence=["t3"], recalled=[["t1"], []])
    assert _causes(tmp_path, untraced, Said("Ginger", recalled=None)) == [(1, Cause.UNTRACED), (2, Cause.UNTRACED)]


def test_all_evidence_beside_what_names_no_turn_was_not_used(tmp_path):
    assert _causes(tmp_path, Said("Ginger", recalled=[[], ["t1"]])) == [(1, Cause.NOT_USED)]


def test_a_question_without_evidence_cannot_be_told(tmp_path):
    assert _causes(tmp_path, Said("Ginger", evidence=[])) == [(1, Cause.NO_EVIDENCE)]


def test_an_unanswerable_question_answered_anyway(tmp_path):
    assert _causes(tmp_path, Said("Ginger", unanswerable=True)) == [(1, Cause.ANSWERED_ANYWAY)]


def test_an_error_and_a_verdict_not_given_are_not_wrong(tmp_path):
    undecided = [Said(None), Said("Ginger", verdicts={"standard-1": "E"})]
    assert _causes(tmp_path, *undecided) == [(1, Cause.NO_ANSWER), (2, Cause.NO_VERDICT)]


def test_the_gold_itself_judged_wrong_is_the_judges_error(tmp_path):
    judged = [
        Said("pepper!", verdicts={"standard-1": "W"}),
        Said("No information available.", unanswerable=True, verdicts={"standard-1": "W"}),
        Said("Pepper, Ginger or Salt", verdicts={"standard-1": "W"}),  # holds the gold, but the judge may be right
    ]
    assert [cause for _, cause in _causes(tmp_path, *judged)] == [
        Cause.JUDGE_ERROR, Cause.JUDGE_ERROR, Cause.NOT_USED
    ]  # fmt: skip


def test_counting_adds_up_to_the_questions(tmp_path):
    answers = [
        Said("Pepper"), Said("Ginger"), Said("I don't know."), Said("I don't know.", recalled=[["t9"]]),
        Said(None), Said("anything", golds=()), Said("Ginger", unanswerable=True),
    ]  # fmt: skip
    frames = recalled_ledger(tmp_path, Asked(answers))
    found = count(explained(frames.units(), frames.answers(), scores_frame(frames)))
    assert (found.right, found.wrong, found.undecided, found.unscored) == (1, 4, 1, 1)
    assert found.causes == {
        "stored but not retrieved": 1,
        "retrieved but not used": 2,
        "unanswerable, answered anyway": 1,
        "no answer: an error": 1,
    }
    # two gave up on a question that has an answer, one of them with the evidence before it
    assert (found.abstained, found.abstained_with_evidence) == (2, 1)


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_reads_as_words(cause):
    assert " " in cause
