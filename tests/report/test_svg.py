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


def test_a_thinned_line_keeps_its_ends_and_its_corners():
    straight = [(float(x), 2.0 * x) for x in range(100)]
    assert svg.thinned(straight) == [(0.0, 0.0), (99.0, 198.0)]
    corner = [(float(x), 0.0 if x < 50 else 10.0 * (x - 50)) for x in range(100)]
    assert svg.thinned(corner) == [(0.0, 0.0), (50.0, 0.0), (99.0, 490.0)]
    assert svg.thinned([(1.0, 1.0)]) == [(1.0, 1.0)]


def test_a_thinned_curve_stays_within_its_tolerance():
    curve = [(float(x), x * x / 100) for x in range(400)]
    kept = dict(svg.thinned(curve, 0.25))
    assert len(kept) < 60
    xs = sorted(kept)
    for x, y in curve:
        left = max(at for at in xs if at <= x)
        right = min(at for at in xs if at >= x)
        between = kept[left] if left == right else kept[left] + (kept[right] - kept[left]) * (x - left) / (right - left)
        # Measured upright, which is more than at right angles to a steep line: slope at most 8.
        assert abs(between - y) <= 0.25 * (1 + 8**2) ** 0.5


def test_every_shape_is_another():
    drawn = {svg.shape(which, 10, 10, 5, "point") for which in range(4)}
    assert len(drawn) == 4
    assert svg.shape(4, 10, 10, 5, "point") == svg.dot(10, 10, 5, "point")
