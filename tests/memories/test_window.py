"""What of a ranking is recalled when the window is small."""

from memgauge import tokens
from memgauge.memories.base import Item
from memgauge.memories.window import recalled_within

LONG = Item("one two three four five six seven eight nine ten\n", ("a", "b"))
SHORT = Item("one two\n", ("a", "b"))
OTHER = Item("three four\n", ("c",))
LAST = Item("five six\n", ("d",))


def test_the_ranking_decides_what_fits_and_the_place_where_it_stands() -> None:
    window = tokens.count(OTHER.text) + tokens.count(LAST.text)
    recalled = recalled_within(window, [((3,), LAST), ((2,), OTHER), ((1,), SHORT)])
    assert recalled.items == (OTHER, LAST)
    assert recalled.ranked == (("d",), ("c",))
    assert recalled.dropped_turns == 2  # a and b


def test_of_two_items_in_one_place_the_first_that_fits_is_shown() -> None:
    ranking = [((1,), LONG), ((2,), OTHER), ((1,), SHORT)]
    assert recalled_within(None, ranking).items == (LONG, OTHER)
    small = recalled_within(tokens.count(SHORT.text) + tokens.count(OTHER.text), ranking)
    assert small.items == (SHORT, OTHER)
    assert small.dropped_turns == 0  # a and b are there in short


def test_what_is_behind_something_too_large_is_still_shown() -> None:
    assert recalled_within(tokens.count(OTHER.text), [((1,), LONG), ((2,), OTHER)]).items == (OTHER,)


def test_nothing_fits_no_window() -> None:
    recalled = recalled_within(0, [((1,), SHORT), ((2,), OTHER)])
    assert (recalled.items, recalled.ranked, recalled.dropped_turns) == ((), (), 3)
