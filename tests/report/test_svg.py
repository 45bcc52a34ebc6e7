import pytest

from memgauge.report import svg


def test_a_linear_scale_and_its_round_ticks():
    x = svg.Linear(0, 17_900, 0, 100)
    assert x(8950) == 50
    assert x.ticks(5) == [0, 5000, 10_000, 15_000]


def test_a_log_scale_and_its_round_ticks():
    x = svg.Log(10, 1000, 0, 100)
    assert x(100) == pytest.approx(50)
    assert x(0) == 0  # what a log scale cannot show lies at its foot
    assert x.ticks(8) == pytest.approx([10, 20, 50, 100, 200, 500, 1000])
    assert svg.Log(1, 1e6, 0, 1).ticks(6) == pytest.approx([1, 10, 100, 1e3, 1e4, 1e5, 1e6])


@pytest.mark.parametrize(("rough", "step"), [(3580, 5000), (1, 1), (0.18, 0.2), (22, 25), (0, 1)])
def test_steps_are_round(rough, step):
    assert svg.round_step(rough) == pytest.approx(step)


def test_labels_are_spread_in_their_order():
    assert svg.spread([50, 51, 10], 14, 0, 100) == [50, 64, 10]
    assert svg.spread([99, 98], 14, 0, 100) == [100, 86]


def test_too_many_labels_share_the_room():
    assert svg.spread([5, 5, 5], 14, 0, 10) == [0, 5, 10]


def test_text_and_attributes_are_escaped():
    assert svg.label(0, 0, "<b>&").count("&lt;b&gt;&amp;") == 1
    drawn = svg.mark("c0", '"><script>', '"><script>')
    assert "<script>" not in drawn
