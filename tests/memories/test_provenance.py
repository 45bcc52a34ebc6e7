"""A fact is traced to the turn that says it, and no further than its batch where none plainly does."""

import pytest

from memgauge.conversation import Turn
from memgauge.memories.provenance import narrowed

BATCH = (
    Turn("t1", "Ann", "I moved to Porto last week."),
    Turn("t2", "Ben", "How is the new flat?"),
    Turn("t3", "Ann", "Small, but my cat Miso loves the balcony."),
    Turn("t4", "Ben", "My sister Clara starts at the bakery on Monday."),
    Turn("t5", "Ann", "My sister lives in Braga."),
)


@pytest.mark.parametrize(
    ("fact", "turns"),
    [
        ("Ann moved to Porto in the week before 8 May 2024.", ("t1",)),  # ann, moved, porto, week of seven words
        ("[8 May 2024, 13:56] Ann's cat Miso loves the balcony.", ("t3",)),
        ("Ben has a sister called Clara who works at a bakery.", ("t4",)),
        ("Somebody owns a feline creature.", ("t1", "t2", "t3", "t4", "t5")),
        ("", ("t1", "t2", "t3", "t4", "t5")),
        ("sister", ("t4", "t5")),
    ],
)
def test_the_turns_that_share_most_words(fact: str, turns: tuple[str, ...]) -> None:
    assert narrowed(fact, BATCH) == turns


def test_no_turns_stay_none() -> None:
    assert narrowed("Ann moved to Porto.", ()) == ()
