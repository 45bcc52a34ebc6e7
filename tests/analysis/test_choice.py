import pytest

from memgauge.analysis.choice import choose, paired_difference
from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import MemoryRow, Quality


def _row(memory, f1, cost, *, unranked=None):
    scores = {"token_f1": Estimate(f1, f1, f1, 10, "by hand")}
    return MemoryRow(memory, "{}", False, False, unranked, {"done": 1}, 0.0, cost, None, None, None,
                     Quality(10, 10, 0, scores), None)  # fmt: skip


def _known(**values):
    return {
        memory: {("a", 0, str(place)): value for place, value in enumerate(found)} for memory, found in values.items()
    }


def test_the_cheapest_that_reaches_nine_tenths_of_the_best_is_chosen():
    rows = [_row("best", 0.80, 900), _row("near", 0.72, 300), _row("poor", 0.71, 100)]
    choice = choose(rows, _known(best=[0.8] * 4, near=[0.72] * 4, poor=[0.71] * 4))
    assert (choice.memory, choice.best, choice.rival) == ("near", "best", "best")
    assert choice.cost_ratio == pytest.approx(1 / 3)
    assert choice.certain  # every question differs by the same 0.08


def test_a_memory_that_is_not_ranked_is_not_chosen():
    rows = [_row("best", 0.8, 900), _row("broken", 0.9, 100, unranked="10 % ended in an error")]
    choice = choose(rows, _known(best=[0.8]))
    assert (choice.memory, choice.rival, choice.difference) == ("best", None, None)


def test_the_best_is_held_against_the_next_best():
    rows = [_row("best", 0.5, 100), _row("next", 0.45, 200), _row("last", 0.1, 50)]
    choice = choose(rows, _known(best=[1, 0], next=[0, 0.9], last=[0.1, 0.1]))
    assert (choice.memory, choice.rival) == ("best", "next")
    assert not choice.certain  # one question for, one against


def test_nothing_is_chosen_where_nothing_is_known():
    assert choose([], {}) is None
    assert choose([_row("mem", 0.0, 100)], _known(mem=[0.0])) is None


def test_two_memories_are_compared_on_the_questions_that_both_answered():
    one = {("a", 0, "q1"): 1.0, ("a", 0, "q2"): 0.5}
    other = {("a", 0, "q1"): 0.0, ("a", 0, "q3"): 1.0}
    found = paired_difference(one, other)
    assert (found.value, found.n) == (1.0, 1)
