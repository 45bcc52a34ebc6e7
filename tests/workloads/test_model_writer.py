"""A chat model writes a dialogue in chunks, and what it gets wrong is mended or asked for again."""

import json

import pytest

from memgauge import tokens
from memgauge.errors import UserError
from memgauge.workloads import model_writer
from memgauge.workloads.lengths import bounds
from memgauge.workloads.model_writer import parsed
from support import Scripted, refusal


def chunk(first: int, count: int = 20) -> str:
    texts = [f"Turn {number}: my aunt planted a pear tree behind the barn." for number in range(first, first + count)]
    return json.dumps({"turns": texts})


async def test_fifty_turns_are_asked_for_in_chunks_of_twenty() -> None:
    writer = Scripted(chunk(1), chunk(21), chunk(41, 10))
    texts = await model_writer.written(writer, turns=50, length=20, seed=0)
    tasks = [request.messages[-1].text for request in writer.requests]
    assert [text.split(":")[0] for text in texts] == [f"Turn {number}" for number in range(1, 51)]
    assert "turns 1 to 20" in tasks[0]
    assert "turns 21 to 40" in tasks[1]
    assert "turns 41 to 50" in tasks[2]
    assert texts[19] in tasks[1], "the end of what was written is shown, so that the next chunk goes on from it"


async def test_turns_are_trimmed_and_padded_to_their_length() -> None:
    long, short = "the garden gate fell off its hinges again " * 20, "Yes."
    texts = await model_writer.written(Scripted(json.dumps({"turns": [long, short]})), turns=2, length=40, seed=0)
    low, high = bounds(40)
    assert all(low <= tokens.count(text) <= high for text in texts)
    assert texts[1].startswith("Yes")


async def test_a_bad_chunk_is_asked_for_again_in_other_words() -> None:
    writer = Scripted("I would rather not.", '{"turns": []}', chunk(1, 2))
    assert len(await model_writer.written(writer, turns=2, length=20, seed=0)) == 2
    assert len({request.messages[-1].text for request in writer.requests}) == 3


async def test_three_bad_chunks_are_an_error_that_shows_the_last_reply() -> None:
    with pytest.raises(UserError, match=r"scripted-1 wrote no usable turns in 3 attempts at turns 1 to 2.*'Sorry\.'"):
        await model_writer.written(Scripted("No.", "No.", "Sorry."), turns=2, length=20, seed=0)


async def test_a_chunk_that_is_a_little_short_is_made_up_for() -> None:
    writer = Scripted(chunk(1, 17), chunk(18, 3))
    texts = await model_writer.written(writer, turns=20, length=20, seed=0)
    assert len(texts) == 20
    assert "turns 18 to 20" in writer.requests[1].messages[-1].text


async def test_more_turns_than_asked_for_are_left_out() -> None:
    assert len(await model_writer.written(Scripted(chunk(1, 25)), turns=3, length=20, seed=0)) == 3


async def test_a_writer_that_is_down_is_an_error_of_one_line() -> None:
    with pytest.raises(UserError, match="scripted-1 could not write the synthetic dialogue: overloaded"):
        await model_writer.written(Scripted(refusal()), turns=2, length=20, seed=0)


@pytest.mark.parametrize(
    "reply",
    [
        '{"turns": ["a b", "c"]}',
        'Here you are:\n```json\n{"turns": ["a b", "c"]}\n```\nEnjoy!',
        '["a b", "c"]',
        '{"turns": [{"speaker": "Ann", "text": "a b"}, {"role": "user", "content": "c"}]}',
        '[{"text": "a b"}, {"text": "c"}]',
        '<think>[maybe] {so}</think>{"turns": ["a\\n b", " c ", "", 7]}',
    ],
)
def test_turns_are_found_in_many_kinds_of_reply(reply: str) -> None:
    assert parsed(reply) == ["a b", "c"]


@pytest.mark.parametrize("reply", ["", "no", '{"turns": "a"}', '{"turns": ["a"', "[[[[", "{}", "[1, 2]", "\ud800[1"])
def test_a_reply_without_turns_gives_none(reply: str) -> None:
    assert parsed(reply) == []
