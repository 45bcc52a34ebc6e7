"""What was served, turn by turn and stage by stage."""

from pathlib import Path

import pytest

from analysed import CELLS, grid_analysis
from memgauge.analysis.analyze import Analysis, Choices, analyze
from memgauge.analysis.curves import Curve
from served_ledgers import Memory, full_history, served_ledger


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return grid_analysis(tmp_path_factory.mktemp("grid"))


def curve(found: Analysis, memory: str, cell: str, cost: str = "tokens") -> Curve:
    (one,) = [
        entry
        for entry in found.curves
        if (entry.memory, entry.setting, entry.cell, entry.cost) == (memory, "low", cell, cost)
    ]
    return one


def test_cumulative_cost_is_the_mean_over_repeats(found: Analysis) -> None:
    # Repeats of 400 and 404 tokens for the answer, and 100 for writing, at each of six turns.
    assert curve(found, "mem0", "6 × 40").measured == pytest.approx([502 * turn for turn in range(1, 7)])
    assert curve(found, "mem0", "6 × 40").runs == 2


def test_where_full_history_was_cut_off_it_goes_on_by_the_fit(found: Analysis) -> None:
    cut = curve(found, "full-history", "14 × 100")
    # 100·(1 + 2 + … + 10) measured; the fit of three small cells comes near size·turn.
    assert (len(cut.measured), cut.measured[-1], len(cut.fitted)) == (10, 5500, 4)
    assert cut.fitted[-1] == pytest.approx(10_500, rel=0.06)
    assert cut.fitted[0] > cut.measured[-1]


def test_dollars_beyond_the_cut_are_priced_as_the_last_measured_turns_were(found: Analysis) -> None:
    tokens, dollars = (curve(found, "full-history", "14 × 100", cost) for cost in ("tokens", "usd uncached"))
    # 10 output tokens a turn at $0.30 beside 100·t input tokens at $0.075 per million: 5,500 in and 100 out.
    rate = (5500 * 0.075 + 100 * 0.30) / 1e6 / 5500
    assert dollars.measured[-1] == pytest.approx(5500 * rate)
    assert dollars.fitted[-1] - dollars.measured[-1] == pytest.approx((tokens.fitted[-1] - 5500) * rate)


def test_every_cell_has_a_curve_in_every_unit_of_cost(found: Analysis) -> None:
    labels = {f"{turns} × {tokens}" for turns, tokens in CELLS}
    units = {"tokens", "usd uncached", "usd, groq cache"}
    assert {(entry.cell, entry.cost) for entry in found.curves if entry.memory == "none"} == {
        (label, unit) for label in labels for unit in units
    }


def test_a_cost_that_is_unknown_ends_what_is_measured(tmp_path: Path) -> None:
    frames = served_ledger(tmp_path, [Memory("m", lambda size, turn, seed: None if turn == 3 else 5, [(4, 10)])])
    (one,) = analyze(frames, None, Choices(resamples=5)).curves
    assert one.measured == (5, 10)
    assert one.fitted == ()


def test_stages_stand_apart_and_say_whether_all_calls_told(tmp_path: Path, found: Analysis) -> None:
    stages = {(row.memory, row.setting, row.cell): row for row in found.stage_costs}
    assert stages["mem0", "low", "12 × 80"].input_by_stage == pytest.approx({"answer": 402, "write": 100})
    assert stages["mem0", "medium", "12 × 80"].input_by_stage == pytest.approx({"answer": 402})
    assert stages["none", "low", "6 × 40"].control
    frames = served_ledger(tmp_path, [Memory("m", lambda size, turn, seed: None if turn == 3 else 5, [(4, 10)])])
    (row,) = analyze(frames, None, Choices(resamples=5)).stage_costs
    assert (row.complete, row.input_by_stage) == (False, {"answer": 15 / 4})


def test_only_a_cut_off_run_has_no_stages(tmp_path: Path) -> None:
    frames = served_ledger(tmp_path, [Memory("full-history", full_history, [(9, 10)], dies_after=4)])
    assert analyze(frames, None, Choices(resamples=5)).stage_costs == ()
