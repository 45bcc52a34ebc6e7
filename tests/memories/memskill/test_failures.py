"""What counts as told, and what as a failure to learn from."""

from math import log

import pytest

from memgauge.memories.memskill.failures import POOL, Case, FailurePool, told


@pytest.mark.parametrize(
    ("text", "by", "share"),
    [
        # cat, miso, loves, sunny, balcony: three of five
        ("My cat Miso loves a sunny balcony.", ["Ann's cat is Miso.", "Ann has a balcony"], 0.6),
        ("Miso sleeps, eats, purrs.", ["Miso sleeps, eats and purrs all day."], 1.0),
        ("Miso sleeps, eats, purrs.", [], 0.0),
        ("Miso sleeps, eats, purrs.", ["Miso sleeps."], 0.5),
        ("Hey, good to hear!", ["Hey, good to hear!"], None),  # hey, good, hear: too few to tell anything
        ("Did your cat Miso like the new balcony?", [], None),  # asks, and tells nothing
        ("", [], None),
    ],
)
def test_told_is_the_share_of_words_that_others_say(text: str, by: list[str], share: float | None) -> None:
    assert told(text, by) == (pytest.approx(share) if share is not None else None)


def test_a_case_weighs_more_the_worse_it_is_told_and_the_oftener_it_failed() -> None:
    assert Case("a", (), score=0.25, fails=2).weight == pytest.approx(0.75 * log(3))
    assert Case("a", (), score=0.0, fails=1).weight > Case("a", (), score=0.4, fails=1).weight


def test_the_same_words_are_one_case_that_failed_again() -> None:
    pool = FailurePool()
    pool.add(Case("Ann: I moved.\n", ("x",), 0.1, fails=1))
    pool.add(Case("Ben: Me too.\n", ("x",), 0.2))
    pool.add(Case("ann:  I moved. ", ("y",), 0.3))
    assert list(pool) == [Case("Ben: Me too.\n", ("x",), 0.2), Case("ann:  I moved. ", ("y",), 0.3, fails=2)]


def test_the_pool_forgets_the_oldest_cases() -> None:
    pool = FailurePool()
    for i in range(POOL + 3):
        pool.add(Case(f"case {i}", (), 0.0))
    assert len(pool) == POOL
    assert next(iter(pool)).said == "case 3"
