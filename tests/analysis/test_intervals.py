import numpy as np
import pytest

from memgauge.analysis.intervals import Resamples, cluster_mean, estimate, share, wilson


def test_wilson_as_published():
    # Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_share_of_right_answers():
    found = share([1, 0, 1, 1])
    assert (found.value, found.n, found.method) == (0.75, 4, "Wilson 95 %")
    assert share([]) is None


def test_whole_conversations_are_drawn():
    # Within a conversation all answers agree, so the mean of 8 drawn ones is a number of eighths; 8 fair coins
    # show at most 1 head with a chance of 9/256 and none with 1/256: the 2.5 % point is 1/8.
    values = [float(place % 2) for place in range(8) for _ in range(50)]
    found = cluster_mean(values, [place for place in range(8) for _ in range(50)])
    assert (found.value, found.low, found.high) == (0.5, 0.125, 0.875)
    assert found.method == "cluster bootstrap 95 % over 8 conversations"


def test_with_few_conversations_their_questions_are_drawn_too():
    # Both conversations have a mean of exactly 1/2: drawing whole ones would give an interval of no width.
    found = cluster_mean([0.0, 1.0] * 50, ["a"] * 50 + ["b"] * 50)
    # the mean of 100 fair coins has a standard deviation of 0.05
    assert found.low == pytest.approx(0.4, abs=0.02)
    assert found.high == pytest.approx(0.6, abs=0.02)
    assert found.method == "bootstrap 95 % over 2 conversations and their questions"


def test_with_one_conversation_its_questions_are_drawn_and_it_is_said():
    found = cluster_mean([0.0] * 50 + [1.0] * 50, ["a"] * 100)
    # the mean of 100 fair coins has a standard deviation of 0.05
    assert found.low == pytest.approx(0.4, abs=0.02)
    assert found.high == pytest.approx(0.6, abs=0.02)
    assert "one conversation" in found.method


def test_a_conversation_weighs_as_many_questions_as_it_has():
    assert cluster_mean([1.0, 0.0, 0.0, 0.0], ["a", "b", "b", "b"]).value == 0.25


def test_the_same_seed_gives_the_same_interval():
    values, clusters = [0.1, 0.5, 0.9, 0.3], ["a", "b", "c", "d"]
    assert cluster_mean(values, clusters, seed=3) == cluster_mean(values, clusters, seed=3)
    assert cluster_mean([], []) is None


def test_figures_of_the_same_draws_can_be_subtracted():
    values = np.random.default_rng(1).random((60, 2))
    drawn = Resamples([place // 10 for place in range(60)])
    means = drawn.means(np.column_stack((values, values[:, 1] - values[:, 0])))
    assert means[:, 2] == pytest.approx(means[:, 1] - means[:, 0])


@pytest.mark.parametrize("conversations", [1, 3, 6])
def test_a_missing_value_takes_no_part(conversations):
    clusters = [place % conversations for place in range(60)]
    values = np.array([[np.nan if place >= 30 else 0.5] for place in range(60)])
    assert set(Resamples(clusters, resamples=50).means(values)[:, 0]) == {0.5}


def test_a_mean_of_nothing_is_no_number():
    # the only value stands in one of six conversations, which some resamples do not draw
    values = np.full((6, 1), np.nan)
    values[0] = 1
    means = Resamples(range(6), resamples=200).means(values)[:, 0]
    assert set(means[~np.isnan(means)]) == {1.0}
    # a resample misses it with a chance of (5/6)^6 = 0.335
    assert np.isnan(means).mean() == pytest.approx(0.335, abs=0.1)


def test_a_share_may_have_both_intervals():
    values = np.array([1.0, 0.0, np.nan])
    found = estimate(values, np.array([0.4, 0.6]), "drawn", binary=True)
    assert (found.value, found.n, found.wilson) == (0.5, 2, wilson(1, 2))
    assert estimate(np.array([np.nan]), np.array([np.nan]), "drawn") is None
