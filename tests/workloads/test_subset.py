"""The subset nearest to the whole is found among all of them, and scored as the paper scores it."""

from math import log
from pathlib import Path

import pytest

from memgauge.conversation import Conversation, Question, Turn
from memgauge.errors import UserError
from memgauge.workloads.subset import Facets, Subset, facets, nearest

ONE = Facets("1", evidence=1, sessions=1)
TWO = Facets("2", evidence=1, sessions=1)
SEVERAL = Facets("1", evidence=3, sessions=2)


def test_facets_count_the_evidence_and_its_sessions() -> None:
    turns = tuple(Turn(f"t{n}", "Ann", "x", session=f"s{n // 2}") for n in range(4))
    questions = (
        Question("q0", "?", category="4", evidence=("t0", "t1", "t3")),
        Question("q1", "?", evidence=()),
    )
    assert facets(Conversation("c", turns, questions)) == (Facets("4", 3, 2), Facets(None, 0, 0))


def test_the_subset_that_mirrors_the_whole_wins() -> None:
    # The whole is half 1 and half 2, and so is "b" alone.
    whole = {"a": [ONE, ONE], "b": [ONE, TWO], "c": [TWO, TWO]}
    assert nearest(whole, 1) == Subset(("b",), 0.0, 0.0, 0.0)
    assert nearest(whole, 2) == Subset(("a", "c"), 0.0, 0.0, 0.0)


def test_divergence_is_in_nats() -> None:
    # "a" has (1, 0) where the whole has (1/2, 1/2); their mean is (3/4, 1/4).
    # JS = (1·ln(1 / 0.75) + 0.5·ln(0.5 / 0.75) + 0.5·ln(0.5 / 0.25)) / 2 = 0.2157…
    found = nearest({"a": [ONE], "b": [TWO]}, 1)
    assert found.items == ("a",), "of equals the first"
    assert found.category == pytest.approx((log(4 / 3) + 0.5 * log(2 / 3) + 0.5 * log(2)) / 2)
    assert (found.evidence, found.span) == (0.0, 0.0)
    assert found.total == found.category


def test_bins_say_what_is_told_apart() -> None:
    two, three = Facets("1", 2, 1), Facets("1", 3, 1)
    whole = {"a": [two], "b": [three]}
    assert nearest(whole, 1).evidence == 0.0  # both are several
    assert nearest(whole, 1, evidence_bins=(1, 2, 3)).evidence == pytest.approx(0.2157615543)


def test_a_question_below_the_first_bin_is_not_counted_there() -> None:
    none = Facets("1", 0, 0)
    assert nearest({"a": [ONE], "b": [ONE, none]}, 1).total == 0.0
    # With a bin for none: the whole has 1/3 without evidence. "b" has 1/2, "a" 0, and "b" is nearer.
    assert nearest({"a": [ONE], "b": [ONE, none]}, 1, evidence_bins=(0, 1)).items == ("b",)


def test_an_item_without_questions_is_as_far_as_can_be() -> None:
    assert nearest({"a": [], "b": [SEVERAL]}, 1).items == ("b",)
    assert nearest({"a": []}, 1).total == 0.0


@pytest.mark.parametrize(
    ("items", "size", "bins", "message"),
    [
        (3, 0, (1, 2), "a subset of 0 out of 3 dialogues; expected 1 to 3"),
        (3, 4, (1, 2), "a subset of 4 out of 3"),
        (500, 20, (1, 2), "too many to score"),
        (3, 1, (), "expected rising lowest numbers"),
        (3, 1, (2, 1), r"bins \[2, 1\]: expected rising"),
        (3, 1, (1, 1), "expected rising"),
    ],
)
def test_what_makes_no_sense_is_refused(items: int, size: int, bins: tuple[int, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        nearest({f"d{n}": [ONE] for n in range(items)}, size, evidence_bins=bins)


REAL = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"


@pytest.mark.skipif(not REAL.is_file(), reason="LoCoMo's own file is not at hand")
def test_the_papers_subset_comes_out_of_the_real_file_with_the_papers_divergences() -> None:
    from memgauge.workloads.locomo import SUBSETS, LoCoMo

    workload = LoCoMo(path=str(REAL))
    found = nearest(workload.facets(), 4)
    assert found.items == SUBSETS["total-recall"] == ("conv-26", "conv-42", "conv-44", "conv-48")
    assert [round(score * 1e5, 1) for score in (found.category, found.evidence, found.span)] == [2.8, 0.9, 0.8]
    chosen = LoCoMo(path=str(REAL), subset=4, categories=[1, 2, 3, 4])
    assert chosen.items() == found.items
    assert sum(len(chosen.conversation(item).questions) for item in chosen.items()) == 665
