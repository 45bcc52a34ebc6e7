import pytest

from memgauge.analysis.break_even import BreakEven
from memgauge.analysis.intervals import Estimate
from memgauge.analysis.memory_rows import Seconds
from memgauge.analysis.money import LOCAL, Money
from memgauge.report import words


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "–"),
        (0, "0"),
        (0.25, "0.25"),
        (7.5, "7.5"),
        (88, "88"),
        (1340.4, "1,340"),
        (152_300, "152k"),
        (2_100_000, "2.1M"),
    ],
)
def test_counts(value, told):
    assert words.count(value) == told


@pytest.mark.parametrize(("value", "told"), [(0.4561, "46 %"), (1.0, "100 %"), (1.3, "1.3×"), (None, "–")])
def test_ratios(value, told):
    assert words.ratio(value) == told


@pytest.mark.parametrize(
    ("value", "told"), [(0.0004, "0.4 ms"), (0.057, "57 ms"), (0.914, "0.91 s"), (12.4, "12 s"), (None, "–")]
)
def test_durations(value, told):
    assert words.seconds(value) == told


@pytest.mark.parametrize(("value", "told"), [(0, "0 B"), (3600, "3.6 kB"), (1.2e6, "1.2 MB"), (None, "–")])
def test_sizes(value, told):
    assert words.size(value) == told


def test_no_price_is_never_a_price_of_nothing():
    assert words.dollars(Money(None, True, LOCAL)) == "local, no price"
    assert words.dollars(Money(None, False)) == "no price known"
    assert words.dollars(Money(0.075, True)) == "$0.0750"
    assert words.dollars(Money(0.000123, False)) == "≥ $0.000123"


def test_break_even():
    assert words.break_even(BreakEven(7, 0.5, 24)) == "turn 7"
    assert words.break_even(BreakEven(0, 0.5, 24)) == "from the start"
    assert words.break_even(BreakEven(None, 1.5, 24)) == "never in 24"
    assert words.break_even(None) == "–"


def test_intervals_and_latency():
    assert words.interval(Estimate(0.424, 0.18, 0.67, 10, "")) == "0.42 [0.18, 0.67]"
    assert words.latency(Seconds(0.9, 1.5, 24)) == "0.90 s, 1.50 s"


def test_plurals():
    assert words.plural(1, "memory") == "1 memory"
    assert words.plural(6, "memory") == "6 memories"
    assert words.plural(1986, "question") == "1,986 questions"


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "–"), (0, "$0"), (0.000412, "$0.000412"), (0.0352, "$0.0352"), (0.25, "$0.250"), (12.4, "$12.40"),
     (1234.5, "$1,234.50")],
)  # fmt: skip
def test_dollars_have_three_digits_or_whole_cents(value, told):
    assert words.usd(value) == told


@pytest.mark.parametrize(("value", "told"), [(None, "–"), (0.0321, "3.2 %"), (0.48, "48 %"), (1.22, "122 %")])
def test_an_error_is_a_share(value, told):
    assert words.error(value) == told


@pytest.mark.parametrize(("value", "told"), [(None, "–"), (0.966, "0.97"), (-0.04, "−0.04"), (-0.001, "0.00")])
def test_a_figure_below_zero_has_a_minus_and_zero_has_none(value, told):
    assert words.decimal(value) == told


def test_names_are_listed_as_one_would_say_them():
    assert [words.listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "", "a", "a and b", "a, b and c",
    ]  # fmt: skip
