"""The constant backbone replies at once, and its usage is exact as if it had read the prompt."""

import bpe_openai
from hypothesis import given
from hypothesis import strategies as st

from memgauge import tokens
from memgauge.backbones.base import ChatRequest, Message, Usage
from memgauge.backbones.constant import Constant
from memgauge.backbones.counting import PromptCounter, truncated


async def test_the_reply_is_always_the_same() -> None:
    constant = Constant()
    first = await constant.chat(ChatRequest.of("Answer.", "Where is Ann?"))
    second = await constant.chat(ChatRequest.of("Answer.", "Where is Ann?"))
    assert first == second
    assert first.text == "I do not know."


async def test_usage_is_what_the_chat_format_would_count() -> None:
    # "Hi" is 1 token and " there" another; 3 for each of two messages and 3 for the reply: 2 + 6 + 3.
    # "I do not know." is 5 tokens: I, do, not, know and the stop.
    reply = await Constant().chat(ChatRequest.of("Hi", "Hi"))
    assert reply.usage == Usage(input=11, cached=0, output=5, reasoning=0, source="tokenizer")
    assert Usage.from_wire(reply.raw["usage"]).input == 11
    assert reply.raw["usage"]["total_tokens"] == 16


async def test_the_stream_adds_up_to_the_reply() -> None:
    chunks = []

    async def emit(chunk: object) -> None:
        chunks.append(chunk)

    reply = await Constant("Yes.").chat(ChatRequest.of("A", "B"), emit)
    said = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert said == reply.text == "Yes."
    assert chunks[-1]["usage"] == reply.raw["usage"]


def test_a_growing_prompt_is_counted_right_at_every_step() -> None:
    counter = PromptCounter()
    lines = tuple(f"Line {i} tells of {i * 7} things.\n" for i in range(200))
    encoding = bpe_openai.get_encoding("o200k_base")
    for length in (70, 71, 120, 200, 90, 64, 63):
        parts = (*lines[:length], "And then?")
        independent = 3 + 3 + len(encoding.encode("".join(parts)))
        assert counter.prompt_tokens([Message("user", parts)]) == independent


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=60, max_size=90), max_size=6))
def test_counting_does_not_depend_on_what_was_counted_before(prompts: list[list[str]]) -> None:
    counter = PromptCounter()
    for prompt in prompts:
        message = Message("user", tuple(prompt))
        assert counter.prompt_tokens([message]) == 6 + len(prompt)  # every letter is one token


@given(st.text(), st.integers(1, 9))
def test_a_truncated_text_begins_the_text_and_keeps_the_limit(text: str, limit: int) -> None:
    cut = truncated(tokens.sanitize(text), limit)
    assert tokens.sanitize(text).startswith(cut)
    assert tokens.count(cut) <= limit
