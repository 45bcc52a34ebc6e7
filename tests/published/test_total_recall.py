"""The paper's figures as we entered them."""

import csv
from pathlib import Path

import pytest

from memgauge.published.total_recall import Key, load

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference" / "total_recall"


def test_every_setting_of_every_table_is_there() -> None:
    published = load()
    # Five memories by four settings; three memories in tables 2, 3, 4 and 7 (and full history once in table 4);
    # table 8: four settings, three cells, three memories.
    assert len(published.fits) == 20
    assert len(published.accuracies) == 12
    assert len(published.costs) == 25
    assert len(published.diagnostics) == 12
    assert len(published.break_evens) == 36


def test_table_1_is_the_range_of_table_6() -> None:
    published = load()
    assert published.range_of("full-history", "p") == (0.95, 0.97)
    assert published.range_of("rolling-window", "r2") == (0.913, 0.950)
    assert published.range_of("mastra-om", "loocv_mape") == (0.408, 0.685)


def test_never_is_no_turn_and_zero_is_from_the_start() -> None:
    turns = {(row.key, row.turns, row.tokens): row.turn for row in load().break_evens}
    low, medium = Key("mem0", "gpt-oss-20b", "low"), Key("mem0", "gpt-oss-20b", "medium")
    assert turns[low, 400, 50] == 260
    assert turns[medium, 100, 100] is None
    assert turns[Key("mastra-om", "gpt-oss-20b", "low"), 400, 200] == 0


def test_cost_per_correct_answer_is_cost_over_accuracy_as_printed() -> None:
    published = load()
    accuracy = {row.key: row.accuracy for row in published.accuracies}
    for row in published.costs:
        if row.usd_per_correct is not None and row.cost_usd >= 0.05:
            assert row.usd_per_correct == pytest.approx(row.cost_usd / accuracy[row.key], rel=0.02)


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the paper's reference tables are not on this machine")
def test_our_figures_are_the_reference_tables() -> None:
    def reference(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((REFERENCE / f"{name}.csv").read_text(encoding="utf-8").splitlines()))

    published = load()
    theirs = [(row["system"], float(row["p"]), float(row["max_ape"])) for row in reference("cost_model")]
    assert theirs == [(row.key.memory, row.p, row.max_ape) for row in published.fits]
    costs = [(row["turns"], row["system"], float(row["cost_usd"])) for row in reference("joint_cost")]
    assert costs == [(str(row.turns), row.key.memory, row.cost_usd) for row in published.costs]
    turns = [row[memory] for row in reference("break_even") for memory in ("mem0", "hindsight", "mastra-om")]
    assert turns == ["never" if row.turn is None else str(row.turn) for row in published.break_evens]
