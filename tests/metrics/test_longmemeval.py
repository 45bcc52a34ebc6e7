from math import log2

import pytest

from memgauge.metrics.longmemeval import NAMES, retrieved

# s1 holds both evidence turns of session 1, s4 another one
EVIDENCE = ["s1/t2", "s1/t5", "s4/t1"]
RANKED = [["s9/t1"], ["s1/t3"], ["s1/t2"], ["s9/t2"], ["s8/t1"], ["s7/t1"], ["s4/t1"]]


def test_sessions_are_ranked_by_their_first_recalled_turn():
    found = retrieved(EVIDENCE, RANKED, False)
    # sessions in order: s9, s1, s8, s7, s4: both of {s1, s4} are among the first five
    assert (found["session_recall_any@5"], found["session_recall_all@5"]) == (1, 1)
    # their ranks are 2 and 5, discounted by the rank's own logarithm: 1/log2(2) + 1/log2(5), at best 1 + 1
    assert found["session_ndcg@5"] == pytest.approx((1 + 1 / log2(5)) / 2)


def test_turns_are_ranked_as_they_were_recalled():
    found = retrieved(EVIDENCE, RANKED, False)
    # s1/t2 at 3, s4/t1 at 7, s1/t5 never
    assert (found["turn_recall_any@5"], found["turn_recall_all@5"], found["turn_recall_all@10"]) == (1, 0, 0)
    # at best ranks 1 to 3: 1 + 1 + 1/log2(3)
    assert found["turn_ndcg@5"] == pytest.approx((1 / log2(3)) / (2 + 1 / log2(3)))
    assert found["turn_ndcg@10"] == pytest.approx((1 / log2(3) + 1 / log2(7)) / (2 + 1 / log2(3)))


def test_ranks_one_and_two_count_in_full():
    assert retrieved(["s1/t1"], [["s2/t1"], ["s1/t1"]], False)["turn_ndcg@5"] == 1


def test_an_abstention_question_and_one_without_evidence_are_left_out():
    nothing = dict.fromkeys(NAMES)
    assert retrieved(EVIDENCE, RANKED, True) == retrieved([], RANKED, False) == nothing


def test_nothing_recalled_is_nothing_found():
    assert set(retrieved(EVIDENCE, [], False).values()) == {0.0}
