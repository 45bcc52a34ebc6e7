from math import log2

import pytest

from memgauge.metrics.retrieval import ndcg, recall

RANKED = [["t1"], ["t4", "t5"], ["t2"], ["t9"]]


def test_recall_at_k_counts_the_evidence_among_the_first_k_items():
    assert recall(["t5", "t9"], RANKED, 2) == 0.5
    assert recall(["t5", "t9"], RANKED, 3) == 0.5
    assert recall(["t5", "t9"], RANKED) == 1


def test_evidence_named_twice_counts_once():
    assert recall(["t5", "t5", "t3"], RANKED) == 0.5


def test_a_question_without_evidence_is_not_scored():
    assert recall([], RANKED) is None
    assert ndcg([], RANKED, 10) is None


def test_nothing_recalled_is_nothing_found():
    assert recall(["t1"], []) == 0
    assert ndcg(["t1"], [], 10) == 0


def test_ndcg_discounts_by_rank():
    # t9 stands at rank 4: 1/log2(5). Alone, it could have stood at rank 1: 1.
    assert ndcg(["t9"], RANKED, 10) == pytest.approx(1 / log2(5))
    assert ndcg(["t9"], RANKED, 3) == 0
    # t1 at rank 1 and t2 at rank 3: 1 + 1/2, over the ideal 1 + 1/log2(3)
    assert ndcg(["t1", "t2"], RANKED, 10) == pytest.approx(1.5 / (1 + 1 / log2(3)))


def test_ndcg_credits_a_turn_once_and_never_exceeds_one():
    assert ndcg(["t1"], [["t1"], ["t1"]], 10) == 1
    assert ndcg(["t4", "t5"], [["t4", "t5"]], 10) == 1
