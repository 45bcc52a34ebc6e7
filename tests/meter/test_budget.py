"""A budget is never passed, whatever order calls come and end in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.meter.budget import Budget, BudgetExceeded, Spend


def test_the_worst_case_is_held_until_the_call_is_settled() -> None:
    budget = Budget(max_tokens=100)
    first = budget.reserve(60, None)
    with pytest.raises(BudgetExceeded, match="60 tokens; 100 are allowed"):
        budget.reserve(60, None)

    first.settle(10, None)

    assert budget.spent.tokens == 10
    budget.reserve(60, None)


def test_dollars_cannot_be_capped_without_a_price() -> None:
    with pytest.raises(BudgetExceeded, match="no price"):
        Budget(max_usd=1.0).reserve(10, None)


def test_what_an_earlier_attempt_spent_counts() -> None:
    with pytest.raises(BudgetExceeded):
        Budget(max_tokens=100, spent=Spend(tokens=95)).reserve(10, None)


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1), st.booleans()), max_size=60))
def test_spend_and_reservations_stay_within_the_cap(calls: list[tuple[int, float, bool]]) -> None:
    budget, open_calls = Budget(max_tokens=200), []
    for worst, share, settle_now in calls:
        try:
            reservation = budget.reserve(worst, None)
        except BudgetExceeded:
            continue
        if settle_now:
            reservation.settle(int(worst * share), None)
        else:
            open_calls.append((reservation, int(worst * share)))
    for reservation, real in open_calls:
        reservation.settle(real, None)
    assert budget.spent.tokens <= 200
