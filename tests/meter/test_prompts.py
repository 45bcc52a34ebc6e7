"""A prompt's shared prefix and delta are those that a comparison with every earlier prompt gives."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from memgauge import tokens
from memgauge.meter import prompts as module
from memgauge.meter.prompts import PromptIndex
from memgauge.prefix import common_prefix

PIECES = st.lists(st.sampled_from(["red\n", "green\n", "blue\n", "Ann: hello there\n"]), max_size=7).map(tuple)


def naive_prefix(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    shared = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        shared += 1
    return shared


@given(PIECES, PIECES)
def test_the_common_prefix_is_the_one_found_element_by_element(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    assert common_prefix(left, right) == naive_prefix(left, right)


@given(st.lists(st.tuples(st.sampled_from(["read", "answer", "write"]), PIECES), max_size=12))
def test_prefix_and_age_are_those_of_the_longest_and_latest_match(prompts: list[tuple[str, tuple[str, ...]]]) -> None:
    index = PromptIndex()
    earlier: list[tuple[str, ...]] = []
    for turn, (stage, pieces) in enumerate(prompts, start=1):
        observed = index.observe("model", pieces, stage=stage, turn=turn)
        longest = max((naive_prefix(before, pieces) for before in earlier), default=0)
        assert observed.record.keep == longest
        assert observed.record.new == pieces[longest:]
        assert observed.record.counted_tokens == tokens.count_all(pieces)
        if longest:
            latest = max(i for i, before in enumerate(earlier, 1) if naive_prefix(before, pieces) == longest)
            assert observed.record.prefix_turns_ago == turn - latest
            assert observed.record.base is not None
            assert earlier[observed.record.base - 1][:longest] == pieces[:longest]
        assert observed.record.prefix_tokens >= tokens.count_all(pieces[:longest])
        observed.sent(turn)
        earlier.append(pieces)


def test_another_model_or_other_tools_share_nothing() -> None:
    index = PromptIndex()
    index.observe("model A", ("Hello\n", "world\n"), stage="answer", turn=1).sent(1)

    record = index.observe("model B", ("Hello\n", "world\n"), stage="answer", turn=2).record

    assert (record.keep, record.prefix_tokens, record.prefix_turns_ago) == (0, 0, None)


def test_text_that_grows_within_one_piece_counts_to_its_last_whole_word() -> None:
    index = PromptIndex()
    index.observe("m", ("the cat sat on the mat",), stage="answer", turn=1).sent(1)

    record = index.observe("m", ("the cat sat on the map and slept",), stage="answer", turn=4).record

    assert record.prefix_tokens == tokens.count("the cat sat on the")
    assert record.prefix_turns_ago == 3
    assert (record.base, record.keep) == (None, 0)


def test_a_prompt_that_was_not_sent_is_no_cache() -> None:
    index = PromptIndex()
    index.observe("m", ("Hello\n",), stage="answer", turn=1)

    assert index.observe("m", ("Hello\n",), stage="answer", turn=2).record.prefix_tokens == 0


@given(st.lists(st.tuples(st.sampled_from(["read", "answer"]), PIECES), max_size=40), st.integers(0, 12))
def test_a_prompt_of_long_ago_may_be_forgotten_but_is_never_mistaken(
    prompts: list[tuple[str, tuple[str, ...]]], room: int
) -> None:
    with patch.object(module, "_REMEMBERED_PREFIXES", room):
        index = PromptIndex()
        earlier: list[tuple[str, ...]] = []
        for turn, (stage, pieces) in enumerate(prompts, start=1):
            observed = index.observe("model", pieces, stage=stage, turn=turn)
            record = observed.record
            longest = max((naive_prefix(before, pieces) for before in earlier), default=0)
            just_before = next((p for (s, p) in reversed(prompts[: turn - 1]) if s == stage), ())
            assert naive_prefix(just_before, pieces) <= record.keep <= longest
            assert tuple(record.new) == pieces[record.keep :]
            if record.keep:
                assert record.base is not None
                assert earlier[record.base - 1][: record.keep] == pieces[: record.keep]
            observed.sent(turn)
            earlier.append(pieces)


def test_a_unit_that_lives_long_remembers_no_more_than_it_has_room_for() -> None:
    with patch.object(module, "_REMEMBERED_PREFIXES", 100):
        index = PromptIndex()
        for turn in range(1, 1001):
            index.observe("model", ("rules\n", f"message {turn}\n"), stage="answer", turn=turn).sent(turn)
            assert len(index._sent) <= 104
        again = index.observe("model", ("rules\n", "message 990\n"), stage="answer", turn=1001).record
    assert (again.keep, again.prefix_turns_ago) == (2, 11)
