"""The tables of an analysis."""

import re

import pytest

from analysed import grid_analysis
from memgauge.analysis.analyze import Choices, analyze
from memgauge.report.analysis import drawings, tables
from memgauge.report.analysis.beside import side_by_side_tables
from served_ledgers import Memory, full_history, served_ledger


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return grid_analysis(tmp_path_factory.mktemp("grid"))


@pytest.fixture(scope="module")
def styles(analysis):
    return drawings.analysis_styles(analysis)


def rows(html):
    """The cells of every row, as text."""
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body)
    ]


def test_the_cost_model_stands_with_both_intervals(analysis, styles):
    html = tables.cost_model_table(analysis, styles)
    first = rows(html)[0]
    assert first[:2] == ["full-history", "low"]
    assert re.fullmatch(r"1\.0\d \[0\.9\d, [01]\.\d\d\]bootstrap \[0\.9\d, [01]\.\d\d\]", first[2])
    assert 'title="95 %, CR2' in html
    assert first[-2:] == ["3", "6"]  # folds and runs


def test_break_even_is_told_in_every_unit_with_its_interval(analysis, styles):
    found = {(row[0], row[1]): row[2:] for row in rows(tables.break_even_table(analysis, styles, "low"))}
    # 502 tokens a turn against 80·t: cumulative 502·t is first below 40·t(t+1) at turn 12, of 12.
    assert found["mem0", "12 × 80"][:2] == ["turn 12 [12, 12]", "97 %"]
    assert found["mem0", "6 × 40"][0] == "never in 6 [never]"
    assert len(found["mem0", "12 × 80"]) == 6  # tokens, dollars, dollars with a cache: a turn and a ratio each


def test_a_turn_beyond_what_was_measured_is_marked_as_fitted(tmp_path):
    # 600·t against 50·t(t+1): dearer at the last measured turn, 10, and equal at 11.
    frames = served_ledger(
        tmp_path,
        [
            Memory("full-history", full_history, ((6, 40), (6, 160), (12, 80)), 2),
            Memory("full-history", full_history, [(14, 100)], dies_after=10),
            Memory("mem0", lambda size, turn, seed: 600, [(14, 100)]),
        ],
    )
    found = analyze(frames, None, Choices(resamples=10))
    html = tables.break_even_table(found, drawings.analysis_styles(found), "low")
    (row,) = rows(html)
    assert row[2].startswith("never in 10fitted: turn 1")
    assert "full history was measured to turn 10 and is fitted beyond" in html


def test_the_joint_matrix_prices_a_right_answer(analysis, styles):
    found = {(row[0], row[1]): row for row in rows(tables.joint_table(analysis, styles, "12 × 80"))}
    mem0 = found["mem0", "low"]
    # 12 turns: 402 in and 10 out for answers, 100 in and 5 out for writing, at $0.075 and $0.30 per million.
    usd = 12 * (502 * 0.075 + 15 * 0.30) / 1e6
    assert any(cell.startswith(f"${usd:.6f}") for cell in mem0)
    assert any(cell.startswith(f"${usd / 0.8:.6f}") for cell in mem0)  # 8 of 10 were right
    assert found["full-history", "low"][-1] == "✓"
    assert ("nonecontrol", "low") in found


def test_each_published_table_says_what_it_holds(analysis):
    html = side_by_side_tables(analysis.side_by_side)
    assert html.count('class="published"') == 7
    assert "Table 1: exponents and fit" in html
    text = re.sub(r"<[^>]+>", "", html)
    assert "not in this ledger: of rolling-window, hindsight and mastra-om." in text
    # Mem0 on gpt-oss-20b low is a setting of the paper's, and its questions were judged on LoCoMo.
    assert "Table 2: accuracy on LoCoMo 1 outside, 3 not comparable, 8 not run" in text
    assert "run with gpt-oss-20b low, the paper with gpt-oss-20b medium" in text
