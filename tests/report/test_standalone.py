import re
from xml.etree import ElementTree

from memgauge.report import svg
from memgauge.report.standalone import standalone


def made(*children, css="chart lines"):
    return standalone(svg.picture(100, 50, css, "a picture", *children), "Title <1>", "what it shows")


def nodes(text, name):
    return ElementTree.fromstring(text).iter(f"{{http://www.w3.org/2000/svg}}{name}")


def test_colours_of_a_memory_become_colours():
    text = made(svg.tag("g", {"class": "c1"}, svg.path([(0, 0), (1, 1)], "curve")))
    (line,) = nodes(text, "path")
    assert (line.get("stroke"), line.get("fill"), line.get("stroke-width")) == ("#c8500a", "none", "2.25")


def test_the_stronger_rule_wins_and_a_control_is_dashed():
    text = made(svg.tag("g", {"class": "control k1"}, svg.path([(0, 0), (1, 1)], "curve")))
    (line,) = nodes(text, "path")
    assert (line.get("stroke"), line.get("stroke-dasharray"), line.get("stroke-width")) == (
        "#8b9097",
        "1.5 4.5",
        "1.75",
    )


def test_a_fallback_is_used_where_nothing_is_set_near():
    (name,) = (node for node in nodes(made(svg.label(5, 5, "mem0", "name")), "text") if node.text == "mem0")
    assert (name.get("fill"), name.get("font-weight")) == ("#1c2126", "600")


def test_nothing_of_the_page_is_left():
    text = made(svg.mark("c0", "mem0", "told", svg.dot(5, 5, 3, "point")), svg.rect(0, 0, 9, 9, "hover"))
    assert not re.search(r"var\(|class=|data-|aria-|tabindex|px\"", text)
    assert len(list(nodes(text, "title"))) == 1
    assert len(list(nodes(text, "rect"))) == 1  # the sheet, and no field to hover over


def test_it_has_a_heading_and_room_for_it():
    text = made(svg.dot(5, 5, 3, "point"))
    root = ElementTree.fromstring(text)
    assert (root.get("width"), root.get("height")) == ("140", "128")  # 20 on either side; 58 above and 20 below
    assert [node.text for node in nodes(text, "text")] == ["Title <1>", "what it shows"]
