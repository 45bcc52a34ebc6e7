"""Where a span begins and ends, worked out from the tokens of its lines."""

import pytest

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.memskill.spans import Span, Spans


def sized(number: int, size: int) -> Turn:
    """A turn whose line has exactly ``size`` tokens."""
    words = "apple"
    while tokens.count(Turn("", "Ann", words).line()) < size:
        words += " apple"
    turn = Turn(f"t{number}", "Ann", words)
    assert tokens.count(turn.line()) == size
    return turn


def ids(turns: tuple[Turn, ...]) -> list[str]:
    return [turn.id for turn in turns]


def test_the_first_turn_that_does_not_fit_closes_a_span_whose_end_begins_the_next() -> None:
    spans = Spans(512, 64)
    closed = [span for number in range(1, 21) for span in spans.add([sized(number, 50)])]

    # Ten lines of 50 tokens fit 512; one of them fits the overlap of 64. The eleventh turn closes t1 to t10,
    # the twentieth t10 to t19.
    assert [ids(span.turns) for span in closed] == [
        [f"t{i}" for i in range(1, 11)],
        [f"t{i}" for i in range(10, 20)],
    ]
    assert [ids(span.before) for span in closed] == [[], ["t10"]]
    assert closed[1].tokens == 500
    assert ids(spans.open) == ["t20"]
    assert spans.open_tokens == 50


@pytest.mark.parametrize(
    ("size", "turns", "closed"),
    [
        (50, 10, 0), (50, 11, 1), (50, 19, 1), (50, 20, 2),  # n = 10, o = 1: 1 + (T − 11) // 9
        (20, 25, 0), (20, 26, 1), (20, 92, 4),  # n = 25, o = 3: 1 + (T − 26) // 22
        (100, 30, 5),  # n = 5, o = 0: 1 + (T − 6) // 5
        (300, 7, 6),  # n = 1, o = 0: every turn closes the one before
    ],
)  # fmt: skip
def test_spans_follow_their_closed_form(size: int, turns: int, closed: int) -> None:
    n, o = 512 // size, 64 // size
    assert closed == (1 + (turns - n - 1) // (n - o) if turns > n else 0)
    assert len(list(Spans(512, 64).add(sized(i, size) for i in range(turns)))) == closed


@pytest.mark.parametrize("text", ["The harbour was cold and the ferry late. " * 300, "x" * 20_000, "漢字" * 3000])
def test_a_long_turn_is_cut_into_parts_that_fit_and_lose_nothing(text: str) -> None:
    spans = Spans(512, 64)
    closed = list(spans.add([Turn("long", "Ann", text)]))

    parts = [turn for span in closed for turn in span.fresh] + list(spans.open)
    assert "".join(part.text for part in parts) == text
    assert {part.id for part in parts} == {"long"}
    assert max(span.tokens for span in closed) <= 512
    assert max(tokens.count(part.line()) for part in parts) <= 448


def test_words_stay_whole_where_a_long_turn_is_cut() -> None:
    [first, *_] = Spans(512, 64).add([Turn("long", "Ann", "harbour " * 2000)])
    assert first.turns[0].text.split() == ["harbour"] * first.turns[0].text.count("harbour")


def test_a_span_may_be_a_session_of_whatever_length() -> None:
    spans = Spans(0, 64)
    turns = [Turn(str(i), "Ann", "apple " * 300, session="one" if i < 4 else "two") for i in range(6)]
    assert [ids(span.turns) for span in spans.add(turns)] == [["0", "1", "2", "3"]]
    assert ids(spans.open) == ["4", "5"]


def test_where_no_session_is_named_what_is_added_together_is_one() -> None:
    spans = Spans(0, 0)
    turns = (Turn("a", "Ann", "One."), Turn("b", "Ann", "Two."))
    assert list(spans.add(turns)) == [Span(turns)]
    assert spans.open == ()
