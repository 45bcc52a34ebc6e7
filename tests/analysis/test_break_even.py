import numpy as np
import pytest

from memgauge.analysis.break_even import NoReferenceError, break_even, mean_by_turn


def _one(*costs):
    return {("a", 0): np.array(costs, float)}


FULL = _one(10, 20, 30, 40)  # cumulative: 10 30 60 100


def test_the_first_turn_from_which_it_stays_cheaper():
    found = break_even(_one(25, 25, 5, 5), FULL)  # cumulative: 25 50 55 60
    assert (found.turn, found.last_turn) == (3, 4)
    assert found.ratio == pytest.approx(0.6)


def test_being_cheaper_for_a_while_is_not_enough():
    found = break_even(_one(5, 5, 60, 20), FULL)  # cumulative: 5 10 70 90, above at turn 3
    assert found.turn == 4


def test_cheaper_from_the_start_is_zero():
    assert break_even(_one(9, 20, 30, 40), FULL).turn == 0


def test_still_dearer_at_the_last_turn_is_never():
    found = break_even(_one(10, 20, 30, 41), FULL)
    assert found.turn is None
    assert found.ratio == pytest.approx(1.01)


def test_the_same_cost_is_not_cheaper():
    assert break_even(FULL, FULL).turn is None
    assert break_even(_one(10, 20, 30, 39), FULL).turn == 4


def test_costs_are_averaged_over_what_both_have_played():
    memory = {("a", 0): np.array([0.0, 0.0]), ("a", 1): np.array([30.0, 0.0]), ("b", 0): np.array([999.0, 999.0])}
    full = {("a", 0): np.array([10.0, 20.0]), ("a", 1): np.array([10.0, 20.0])}
    # mean of seeds 0 and 1: 15, 0; full: 10, 20. Conversation b was not played by full history.
    assert break_even(memory, full).turn == 2


def test_conversations_of_different_lengths_are_averaged_turn_by_turn():
    assert mean_by_turn({1: np.array([2.0, 4.0]), 2: np.array([4.0])}).tolist() == [3.0, 4.0]


def test_an_unknown_cost_ends_what_is_measured():
    found = break_even(_one(5, 5, np.nan, 5), FULL)
    assert (found.turn, found.last_turn) == (0, 2)


def test_without_full_history_it_is_said_what_is_missing():
    with pytest.raises(NoReferenceError, match="no finished full-history"):
        break_even(_one(1), {})
