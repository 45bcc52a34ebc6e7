from xml.etree import ElementTree

from memgauge.report import words
from memgauge.report.line_chart import Line, line_chart


def drawn(*lines, **how):
    return ElementTree.fromstring(line_chart(lines, 820, "Cost", **how))


def of_class(picture, css):
    return [node for node in picture.iter() if set(css.split()) <= set(node.get("class", "").split())]


def points(path):
    return [tuple(map(float, place.split(","))) for place in path.get("d").lstrip("M").split("L")]


def test_what_was_fitted_goes_on_where_what_was_measured_ends():
    picture = drawn(Line("full-history", "ref", [10, 30, 60], "told", extended=[100, 150]))
    (fitted,) = of_class(picture, "curve fitted")
    (measured,) = [path for path in of_class(picture, "curve") if path is not fitted]
    assert points(measured)[-1] == points(fitted)[0]
    assert points(fitted)[-1][0] == 820 - (16 + words_wide("full-history"))


def words_wide(name):
    from memgauge.report import svg

    return round(svg.text_width(name, 12.0), 1)


def test_a_dot_marks_the_turn_of_break_even_and_stands_on_the_line():
    picture = drawn(Line("mem0", "c0", [10, 20, 30, 40], "told", even=3), Line("full", "ref", [5, 20, 45, 80], "told"))
    (dot,) = of_class(picture, "even")
    line = of_class(picture, "curve")[0]
    start, end = points(line)[0], points(line)[-1]
    # Turn 3 of 4: two thirds of the way, and the line is straight.
    assert abs(float(dot.get("cx")) - (start[0] + (end[0] - start[0]) * 2 / 3)) < 0.1
    assert abs(float(dot.get("cy")) - (start[1] + (end[1] - start[1]) * 2 / 3)) < 0.1


def test_break_even_within_what_was_fitted_is_dashed():
    picture = drawn(Line("mem0", "c0", [10, 20], "told", even=4, extended=[30, 40]))
    assert of_class(picture, "even fitted")


def test_a_control_competes_with_nobody():
    assert not of_class(drawn(Line("none", "control k0", [1, 2, 3], "told", even=2, control=True)), "even")


def test_dollars_are_written_on_the_axis():
    picture = drawn(Line("mem0", "c0", [0.01, 0.02, 0.03], "told"), told=words.usd_tick)
    assert "$0.01" in {node.text for node in of_class(picture, "tick")}


def test_nothing_is_drawn_of_nothing():
    assert line_chart([Line("mem0", "c0", [], "told")], 820, "Cost") == ""
