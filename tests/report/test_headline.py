from dataclasses import replace

import pytest

from ledger_fixtures import sample_ledger
from memgauge.analysis.break_even import BreakEven
from memgauge.analysis.choice import Choice
from memgauge.analysis.intervals import Estimate
from memgauge.analysis.summary import summarize
from memgauge.ledger.frames import Frames
from memgauge.report import headline


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    found = summarize(Frames(sample_ledger(tmp_path_factory.mktemp("run")))).groups[0]
    assert [row.memory for row in found.rows if row.break_even and not row.control] == [
        "rolling-window",
        "dense",
        "bm25",
    ]
    return found


def _with(group, **turns):
    rows = tuple(
        replace(row, break_even=BreakEven(turns[name], 0.5, 24))
        if (name := row.memory.replace("-", "_")) in turns
        else row
        for row in group.rows
    )
    return replace(group, rows=rows)


def test_from_which_turn_each_memory_pays(group):
    told = headline.pays(_with(group, rolling_window=12, dense=7, bm25=7))
    assert told == "Cheaper than resending everything: dense and bm25 from turn 7; rolling-window from turn 12."


def test_a_memory_that_never_pays_is_named(group):
    told = headline.pays(_with(group, rolling_window=None, dense=0, bm25=3))
    assert told == (
        "Cheaper than resending everything: dense from the start; bm25 from turn 3."
        " Not within 24 turns: rolling-window."
    )


def test_where_none_pays_it_is_said(group):
    told = headline.pays(_with(group, rolling_window=None, dense=None, bm25=None))
    assert told == "Nothing became cheaper than resending everything within 24 turns."


def test_a_choice_that_is_not_the_best_is_held_against_it(group):
    doubt = Estimate(-0.03, -0.2, 0.1, 40, "")
    found = replace(group, choice=Choice("bm25", "dense", 0.57, 0.60, 217, 0.62, "dense", doubt))
    assert headline.knows(found) == (
        "It reaches 95 % of the best token F1 (dense, 0.60) for 217 input tokens per turn, 62 % of its cost."
        " On 40 questions its accuracy cannot be told apart from dense's."
    )


def test_a_small_model_makes_it_a_trial_run(group):
    assert headline.title(group)[0] == "In this trial run, "
    assert headline.title(replace(group, caveat=None))[0] == ""


def test_where_full_history_wins_it_is_told_what_the_cheaper_ones_lack(group):
    found = replace(group, caveat=None, choice=Choice("full-history", "full-history", 0.9, 0.9, 1000, 1.0, None, None))
    rows = {row.memory: row for row in found.rows}
    assert "".join(headline.title(found)) == "Nothing cheaper than full-history still knows"
    share = round(rows["bm25"].accuracy.value / 0.9 * 100)
    assert headline.knows(found).endswith(f" bm25 costs 34 % of that and reaches {share} % of its F1.")


def test_nothing_to_choose_from(group):
    assert headline.title(replace(group, choice=None))[0] == "No memory could be chosen"
