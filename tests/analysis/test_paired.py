import numpy as np
import pytest

from memgauge.analysis.paired import mcnemar, paired_means, paired_ratio


def _column(*values):
    return np.array(values, dtype=np.float64)[:, None]


def test_mcnemars_exact_test():
    # 1 better, 9 worse: twice the chance of at most 1 head in 10 tosses, 2 * (1 + 10) / 1024
    assert mcnemar(1, 9) == mcnemar(9, 1) == 22 / 1024
    assert mcnemar(0, 0) == mcnemar(3, 3) == 1
    assert mcnemar(0, 40) == 2 / 2**40
    assert mcnemar(900, 1086) < 1e-4


def test_the_change_is_b_less_a_over_the_pairs_that_have_both():
    (found,) = paired_means(_column(0.2, 0.4, np.nan, 0.9), _column(0.5, 0.5, 0.7, np.nan), list("abcd"))
    assert (found.n, found.a, found.b) == (2, pytest.approx(0.3), pytest.approx(0.5))
    assert found.change.value == pytest.approx(0.2)
    assert found.relative.value == pytest.approx(2 / 3)


def test_pairs_are_drawn_together():
    # B is better by exactly 0.1 on every question however different the questions are: no doubt about the change
    a = np.random.default_rng(2).random((60, 1))
    (found,) = paired_means(a, a + 0.1, [place // 10 for place in range(60)])
    assert (found.change.low, found.change.high) == (pytest.approx(0.1), pytest.approx(0.1))
    assert found.p_value == pytest.approx(2 / 10_001)


def test_whole_conversations_are_drawn():
    # eight conversations, +1 in half of them and -1 in the others: the mean of 8 fair ±1 has a deviation of 0.354
    change = np.repeat([1.0, -1.0], 4).repeat(50)[:, None]
    (found,) = paired_means(np.zeros_like(change), change, [place // 50 for place in range(400)])
    # at most 1 of 8 drawn is +1 with a chance of 9/256, none with 1/256: the 2.5 % point is -1 + 2/8
    assert (found.change.low, found.change.high) == (-0.75, 0.75)
    assert found.p_value > 0.5


def test_no_change_at_all_has_a_p_value_of_one():
    (found,) = paired_means(_column(0.5, 0.7), _column(0.5, 0.7), ["a", "b"])
    assert (found.p_value, found.change.low, found.change.high) == (1, 0, 0)


def test_a_share_of_nothing_is_not_known():
    (found,) = paired_means(_column(0, 0), _column(1, 0), ["a", "b"])
    assert found.relative is None


def test_a_figure_without_a_pair_is_none():
    assert paired_means(_column(np.nan), _column(1), ["a"]) == [None]


def test_a_ratio_is_of_sums():
    # A: (100 + 300) / (10 + 10), B: (100 + 500) / (10 + 20)
    a, b = np.array([[100.0, 10], [300, 10]]), np.array([[100.0, 10], [500, 20]])
    found = paired_ratio(a, b, ["x", "y"])
    assert (found.n, found.a, found.b, found.relative.value) == (2, 20, 20, 0)
    # two conversations are too few to draw from
    assert (found.change.low, found.change.high, found.p_value) == (None, None, None)


def test_a_ratio_over_enough_conversations_has_an_interval():
    a = np.array([[100.0 + place, 10] for place in range(6)])
    b = a * [1.05, 1]  # five per cent dearer in every conversation
    found = paired_ratio(a, b, range(6))
    assert (found.relative.low, found.relative.high) == (pytest.approx(0.05), pytest.approx(0.05))


def test_a_ratio_of_what_one_side_lacks_is_none():
    assert paired_ratio(np.array([[np.nan, 1.0]]), np.array([[1.0, 1.0]]), ["x"]) is None
    assert paired_ratio(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]), ["x"]) is None
