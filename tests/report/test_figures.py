import re
from xml.etree import ElementTree

import pytest

from ledger_fixtures import sample_ledger
from memgauge.analysis.summary import summarize
from memgauge.ledger.frames import Frames
from memgauge.report import figures, scatter
from memgauge.report.page import memory_styles

NAME = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    summary = summarize(Frames(sample_ledger(tmp_path_factory.mktemp("run"))))
    group, styles = summary.groups[0], memory_styles(summary)
    return {
        (figure.__name__, width): ElementTree.fromstring(figure(group, styles, width))
        for figure in (figures.cumulative, figures.by_stage, figures.accuracy)
        for width in (820, 350)
    }


def _marks(picture, css):
    return [node for node in picture.iter() if css in node.get("class", "").split()]


def test_every_figure_shows_every_memory_in_its_class(drawn):
    for picture in drawn.values():
        shown = {node.get("data-memory"): node.get("class") for node in picture.iter() if node.get("data-memory")}
        assert len(shown) == 6
        assert "ref" in shown["full-history"]
        assert "control" in shown["none"]


def test_break_even_is_marked_for_the_three_that_compete_with_full_history(drawn):
    assert len(_marks(drawn["cumulative", 820], "even")) == 3


def test_nothing_is_drawn_outside_the_picture(drawn):
    for (_, width), picture in drawn.items():
        height = float(picture.get("viewBox").split()[3])
        for node in picture.iter():
            x, y = node.get("x") or node.get("cx"), node.get("y") or node.get("cy")
            if x is not None:
                assert 0 <= float(x) <= width
                assert 0 <= float(y) <= height
        for path in picture.iter(f"{NAME}path"):
            for number in re.findall(r"-?[\d.]+,-?[\d.]+", path.get("d")):
                left, top = map(float, number.split(","))
                assert 0 <= left <= width
                assert 0 <= top <= height


def test_names_in_the_scatter_do_not_cover_each_other(drawn):
    names = [node for node in drawn["accuracy", 820].iter(f"{NAME}text") if "name" in node.get("class", "")]
    places = [(round(float(node.get("x"))), round(float(node.get("y")))) for node in names]
    assert len(set(places)) == len(places) == 6


def test_the_front_leaves_out_what_is_beaten_on_both():
    assert scatter.pareto([(100, 0.5), (200, 0.4), (300, 0.9), (50, 0.1)]) == [(50, 0.1), (100, 0.5), (300, 0.9)]
