"""An analysis in a terminal."""

import io

import pytest
from rich.console import Console

from analysed import grid_analysis, grid_ledger
from memgauge.analysis.analyze import Choices, analyze
from memgauge.console.analysis import print_analysis
from served_ledgers import Memory, full_history, served_ledger


def printed(analysis, width=100):
    out = io.StringIO()
    print_analysis(analysis, Console(file=out, width=width, color_system=None))
    return out.getvalue()


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return grid_analysis(tmp_path_factory.mktemp("grid"))


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_stays_within_a_hundred_columns(analysis, width):
    assert max(map(len, printed(analysis, width).splitlines())) <= min(width, 100)


@pytest.mark.parametrize("width", [80, 100])
def test_no_row_takes_more_than_one_line(analysis, width):
    rows = [line.split() for line in printed(analysis, width).splitlines() if line.startswith("mem0 ")]
    assert all(len(row) > 4 for row in rows)
    # Two settings: 2 rows of the fit, 8 of break-even (twice where not all costs fit), 2 of tokens, 8 joint.
    assert len(rows) == (20 if width == 100 else 28)


def test_the_finding_comes_first_and_every_table_follows(analysis):
    text = printed(analysis)
    assert text.startswith("Message size and depth explain what full-history")
    for heading in (
        "What explains the cost", "When each memory pays", "Where the tokens go", "Accuracy for its price",
        "Beside the paper",
    ):  # fmt: skip
        assert f"\n{heading}\n" in text
    assert "\x1b" not in text


def test_break_even_stands_with_its_interval_and_its_ratio(analysis):
    lines = [" ".join(line.split()) for line in printed(analysis).splitlines()]
    assert any(line.startswith("mem0 12 × 80 12 [12, 12] 97 %") for line in lines)
    assert any(line.startswith("mem0 6 × 40 never [never]") for line in lines)


def test_what_could_not_be_done_is_said_with_its_reason(tmp_path):
    frames = served_ledger(tmp_path, [Memory("mem0", lambda size, turn, seed: size, ((6, 40), (9, 160)))])
    text = " ".join(printed(analyze(frames, None, Choices(resamples=5))).split())
    assert "No break-even: no finished full-history here; add it to the memories." in text
    assert "! mem0, low: no held-out error: it needs at least 3 cells, the ledger has 2" in text
    assert "! no break-even for low: full-history is missing; add it to the memories" in text


def test_failed_units_are_counted(tmp_path):
    frames = grid_ledger(tmp_path)
    text = " ".join(printed(analyze(frames, None, Choices(resamples=5))).split())
    assert "! 1 failed unit of full-history (low, 14 × 100) left out: HTTP 400: prompt rejected" in text


def test_a_figure_outside_the_papers_range_is_named(tmp_path):
    # Every turn costs the same, whatever its size: p is 0, and the paper's range begins at 0.95.
    frames = served_ledger(
        tmp_path, [Memory("full-history", lambda size, turn, seed: 500, ((6, 40), (6, 160), (9, 40)))]
    )
    assert "  ✗ full-history, low: p 0.00 outside [0.95, 0.97], the paper's range" in printed(
        analyze(frames, None, Choices(resamples=5))
    )


def test_a_cut_off_reference_is_starred(tmp_path):
    frames = served_ledger(
        tmp_path,
        [
            Memory("full-history", full_history, ((6, 40), (6, 160), (12, 80)), 2),
            Memory("full-history", full_history, [(14, 100)], dies_after=10),
            Memory("mem0", lambda size, turn, seed: 600, [(14, 100)]),
        ],
    )
    lines = [" ".join(line.split()) for line in printed(analyze(frames, None, Choices(resamples=5))).splitlines()]
    assert any(line.startswith("mem0 14 × 100 1") and "*" in line for line in lines)
