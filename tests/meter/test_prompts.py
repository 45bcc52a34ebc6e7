"""A prompt's shared prefix and delta are those that a comparison with every earlier prompt gives."""

from hypothesis import given
from hypothesis import strategies as st

from memgauge import tokens
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
