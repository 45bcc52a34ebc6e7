"""The figures of an analysis."""

import re
from xml.etree import ElementTree

import pytest

from analysed import grid_analysis
from memgauge.report.analysis import drawings

NAME = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return grid_analysis(tmp_path_factory.mktemp("grid"))


@pytest.fixture(scope="module")
def styles(analysis):
    return drawings.analysis_styles(analysis)


def of_class(text, css):
    return [
        node for node in ElementTree.fromstring(text).iter() if set(css.split()) <= set(node.get("class", "").split())
    ]


def told(text):
    return [node.get("aria-label") for node in of_class(text, "mark")]


def test_every_memory_has_one_colour(styles):
    assert styles == {"full-history": "ref", "mem0": "c0", "none": "control k0"}


def test_the_cell_that_most_memories_played_comes_first_and_of_these_the_longest(analysis):
    assert drawings.cells(analysis, "low") == ["12 × 80", "6 × 160", "6 × 40", "14 × 100"]


@pytest.mark.parametrize("width", [820, 350])
def test_nothing_is_drawn_outside_its_picture(analysis, width):
    for drawing in drawings.drawings(analysis):
        picture = ElementTree.fromstring(drawing.draw(width))
        high = float(picture.get("viewBox").split()[3])
        for node in picture.iter():
            x, y = node.get("x") or node.get("cx"), node.get("y") or node.get("cy")
            if x is not None:
                assert 0 <= float(x) <= width, drawing.name
                assert 0 <= float(y) <= high, drawing.name
        for path in picture.iter(f"{NAME}path"):
            for left, top in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path.get("d")):
                assert 0 <= float(left) <= width, drawing.name
                assert 0 <= float(top) <= high, drawing.name


def test_cumulative_cost_is_solid_where_measured_and_dashed_beyond(analysis, styles):
    text = drawings.cumulative(analysis, styles, "low", "14 × 100", "tokens", 820)
    assert len(of_class(text, "curve fitted")) == 1
    assert len(of_class(text, "curve")) == 3  # two memories, one of them in two parts
    whole = drawings.cumulative(analysis, styles, "low", "12 × 80", "tokens", 820)
    assert not of_class(whole, "fitted")


def test_the_tooltip_knows_from_which_turn_costs_are_fitted(analysis, styles):
    series = drawings.series(analysis, styles, "low", "14 × 100", "tokens")
    assert series["full-history"]["measured"] == 10
    assert len(series["full-history"]["costs"]) == 14
    # 100 + 200 + … + 1,000 tokens after ten turns.
    assert series["full-history"]["costs"][9] == 5500


def test_stages_are_told_and_drawn(analysis, styles):
    text = drawings.by_stage(analysis, styles, "low", "12 × 80", 620)
    # 400 and 404 tokens for the answers of the two repeats, and 100 for writing.
    assert "mem0: 502 input tokens per turn (answer 402, write 100)" in told(text)
    assert of_class(text, "bar write")
    assert not of_class(drawings.by_stage(analysis, styles, "medium", "12 × 80", 620), "bar write")


def test_held_out_error_is_a_square_per_cell(analysis, styles):
    text = drawings.held_out(analysis, styles, "low", 820)
    assert sum("mem0, cell" in line for line in told(text)) == 4
    assert sum("full-history, cell" in line for line in told(text)) == 3  # what was cut off is in no fit


def test_a_map_marks_the_measured_cells(analysis, styles):
    (mem0, none) = drawings.maps(analysis, styles, "low")
    assert (mem0.memory, none.memory) == ("mem0", "none")
    text = mem0.draw()
    # Turns 1 … 12 of 80 tokens: 40·t(t+1) against 502·t, equal at t = 11.55.
    assert "mem0, measured at 12 × 80: turn 12, at the end 97 % of full history's cost" in told(text)
    assert sum("never in 6" in line for line in told(text)) == 1
    assert of_class(text, "frontier")
    assert of_class(text, "tile saves")
    assert of_class(text, "tile wastes")


def test_the_tooltip_of_a_map_agrees_with_its_shades(analysis, styles):
    mem0, _ = drawings.maps(analysis, styles, "low")
    tiles = mem0.tiles()
    assert len(tiles["even"]) == len(tiles["ratio"]) == len(tiles["turns"]) * len(tiles["tokens"])
    # Within any one size of messages, paying goes on once it has begun, from the same turn.
    for start in range(0, len(tiles["even"]), len(tiles["turns"])):
        row = tiles["even"][start : start + len(tiles["turns"])]
        begun = [turn for turn in row if turn >= 0]
        assert len(set(begun)) <= 1
        assert row == [-1] * (len(row) - len(begun)) + begun


def test_accuracy_stands_against_dollars_with_both_intervals(analysis, styles):
    text = drawings.joint(analysis, styles, "12 × 80", "locomo", 820)
    assert any(line.startswith("full-history, low: 50 % right") for line in told(text))
    # A stroke and two caps for each interval, of accuracy and of cost, of two memories.
    assert len(of_class(text, "whisker")) == 12
    assert of_class(text, "front")
    assert {"$" in node.text for node in of_class(text, "tick")} == {True, False}
