"""A budget is never passed, whatever order calls come and end in."""

import asyncio

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


def test_a_unit_has_no_more_than_its_own_and_the_runs() -> None:
    run = Budget(max_tokens=100)
    unit, other = Budget(max_tokens=60, within=run), Budget(max_tokens=60, within=run)
    unit.reserve(50, None).settle(50, None)
    with pytest.raises(BudgetExceeded, match="60 are allowed in one unit") as own:
        unit.reserve(20, None)
    with pytest.raises(BudgetExceeded, match="100 are allowed in all") as all_of_it:
        other.reserve(60, None)
    assert (own.value.whole_run, all_of_it.value.whole_run) == (False, True)
    assert (run.spent.tokens, unit.spent.tokens, other.spent.tokens) == (50, 50, 0)


def test_many_small_dollars_are_not_rounded_away() -> None:
    budget = Budget(max_usd=1e-6)
    for _ in range(10):
        budget.reserve(1, 1e-7).settle(1, 1e-7)
    assert budget.spent.usd == 1e-6
    with pytest.raises(BudgetExceeded):
        budget.reserve(1, 1e-9)


async def test_a_call_waits_for_what_others_hold_and_may_not_need() -> None:
    budget = Budget(max_tokens=100)
    first = budget.reserve(80, None)
    second = asyncio.create_task(budget.admit(80, None))
    await asyncio.sleep(0)
    assert not second.done()
    first.settle(10, None)
    assert (await second).tokens == 80


async def test_a_call_that_waited_in_vain_is_refused() -> None:
    budget = Budget(max_tokens=100)
    first = budget.reserve(80, None)
    second = asyncio.create_task(budget.admit(80, None))
    await asyncio.sleep(0)
    first.settle(30, None)
    with pytest.raises(BudgetExceeded, match="80 tokens; 100 are allowed in all, 30 are spent"):
        await second
