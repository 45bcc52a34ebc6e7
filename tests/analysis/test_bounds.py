import pytest

from memgauge.analysis.bounds import Bound, BoundError, parse_bound
from memgauge.errors import UnknownNameError

FIGURES = {"token_f1": True, "input_tokens_per_turn": False}


def _parsed(text):
    return parse_bound(text, FIGURES)


def test_an_absolute_and_a_relative_bound():
    assert _parsed("token_f1=-0.02") == Bound("token_f1", -0.02, relative=False, higher_is_better=True)
    assert _parsed(" input_tokens_per_turn = +5 % ") == Bound("input_tokens_per_turn", 0.05, True, False)
    assert _parsed("token_f1=-.5%") == Bound("token_f1", -0.005, True, True)


@pytest.mark.parametrize("text", ["token_f1=-0.02", "input_tokens_per_turn=+5%", "token_f1=-0"])
def test_a_bound_is_written_as_it_is_read(text):
    assert str(_parsed(text)) == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("token_f1", "expected FIGURE=CHANGE"),
        ("=-0.02", "expected FIGURE=CHANGE"),
        ("token_f1=", "better when higher; expected a change such as -0.02 or -5%"),
        ("token_f1=0.02", "-0.02"),
        ("token_f1=+0.02", "better when higher"),
        ("token_f1=-nan", "better when higher"),
        ("token_f1=-0.02.1", "better when higher"),
        ("input_tokens_per_turn=-5%", "better when lower; expected a change such as +0.02 or +5%"),
    ],
)
def test_what_is_no_bound_is_told_in_one_line(text, hint):
    with pytest.raises(BoundError) as fault:
        _parsed(text)
    assert hint in str(fault.value)
    assert "\n" not in str(fault.value)


def test_an_unknown_figure_suggests_the_closest():
    with pytest.raises(UnknownNameError, match="did you mean 'token_f1'"):
        _parsed("tokenf1=-0.02")


def test_a_change_up_to_the_bound_holds_and_one_beyond_does_not():
    f1, cost = _parsed("token_f1=-0.02"), _parsed("input_tokens_per_turn=+5%")
    assert [f1.worse(change) for change in (0.1, 0.0, -0.02, 0.58 - 0.6, -0.021)] == [False, False, False, False, True]
    assert [cost.worse(change) for change in (-0.5, 0.05, 0.0501)] == [False, False, True]


def test_a_bound_of_nothing_allows_nothing():
    assert _parsed("token_f1=-0").worse(-1e-6)
    assert not _parsed("token_f1=-0").worse(0.0)
