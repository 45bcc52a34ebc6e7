"""What an analysis says in words, on cost models and break-evens made by hand."""

from dataclasses import replace

from memgauge.analysis.analyze import Analysis
from memgauge.analysis.cost_model import CostModel
from memgauge.analysis.sustained import Comparisons, Missing, Sustained
from memgauge.report.analysis import sentences

EMPTY = Analysis((), (), Comparisons((), ()), (), (), (), (), (), ())


def model(memory, mape, setting="low", notes=()):
    return CostModel(memory, setting, "m", None, 2, 3, 10, 0, 0, None, mape, mape, (), notes)


def even(memory, turn, cell="100 × 100", cost="tokens", setting="low", last=100):
    return Sustained(memory, setting, cell, 100, 100, cost, 2, 2, turn, 0.5, last, None, None)


def models(*entries):
    return replace(EMPTY, cost_model=entries)


def compared(*rows, missing=()):
    return replace(EMPTY, break_even=Comparisons(rows, missing))


def test_the_title_says_whose_cost_is_explained_and_whose_is_not():
    found = models(model("full-history", 0.03), model("rolling-window", 0.06), model("mem0", 0.2))
    assert sentences.title(found) == (
        "Message size and depth explain what full-history and rolling-window cost, but not what mem0 costs"
    )
    assert sentences.title(models(model("mem0", 0.2))) == "Message size and depth do not explain what mem0 costs"


def test_a_memory_that_is_explained_under_some_settings_only_is_said_to_be():
    mixed = models(model("full-history", 0.03), model("om", 0.1), model("om", 0.4, "medium"))
    assert sentences.title(mixed) == (
        "Message size and depth explain what full-history costs, om under some settings only"
    )


def test_nothing_is_claimed_where_nothing_was_held_out():
    why = "no held-out error: it needs at least 3 cells, the ledger has 2"
    found = models(model("full-history", None, notes=(why,)))
    assert sentences.title(found) == "What memory costs to serve"
    assert sentences.explains(found) == "No held-out error: it needs at least 3 cells, the ledger has 2."
    assert sentences.title(EMPTY) == "Nothing was served in this run"


def test_held_out_errors_are_a_range_over_settings():
    found = models(model("om", 0.408), model("om", 0.685, "medium"))
    assert "om 41 % to 68 %." in sentences.explains(found)


def test_when_a_memory_pays_is_a_range_over_the_cells_in_which_it_does():
    told = sentences.pays(
        compared(even("mem0", 82), even("mem0", 260, "400 × 50"), even("mem0", None, "15 × 50"), even("om", 0),
                 even("hindsight", None))
    )  # fmt: skip
    assert told == {
        "tokens": "mem0 from turn 82 to 260 (2 of 3 cells); om from the start (1 of 1 cell); hindsight never (1 cell)"
    }


def test_dollars_are_told_only_where_they_differ():
    told = sentences.pays(
        compared(even("mem0", 82), even("mem0", 82, cost="usd uncached"), even("mem0", None, cost="usd, groq cache"))
    )
    assert list(told) == ["tokens", "dollars with groq's cache"]
    assert told["dollars with groq's cache"] == "mem0 never (1 cell)"


def test_without_break_even_the_reason_is_given():
    reason = "no finished full-history here; add it to the memories"
    found = compared(missing=(Missing("mem0", "low", "100 × 100", "tokens", reason),))
    assert sentences.pays(found) == {}
    assert sentences.no_break_even(found) == f"No break-even: {reason}."
