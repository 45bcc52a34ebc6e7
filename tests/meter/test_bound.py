"""No tokenizer that gives every byte at most one token can pass the bound on a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge import tokens
from memgauge.backbones.base import ChatRequest, Message
from memgauge.meter.bound import FRAME, PER_IMAGE, PER_MESSAGE, TOOLS_FRAME, of_chat, of_texts
from memgauge.meter.meter import _pieces


def bound(request: ChatRequest):  # type: ignore[no-untyped-def]
    return of_chat(request.messages, _pieces(request.messages), request.params)


def test_a_prompt_is_bounded_by_its_bytes_and_what_is_put_around_it() -> None:
    # Six bytes (ß has two) and the two marks of the roles: "\x02system" (7) and "\x02user" (5);
    # parameters {"max_tokens":10}, 17 bytes, twice.
    found = bound(ChatRequest.of("ab", "cdß", max_tokens=10))
    assert found.input == FRAME + 2 * PER_MESSAGE + 6 + 7 + 5 + 2 * 17 - 0
    assert (found.output, found.why_open) == (10, None)


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_the_bound_is_above_the_count_of_o200k(texts: list[str]) -> None:
    found = bound(ChatRequest(tuple(Message("user", (text,)) for text in texts), {"max_tokens": 1}))
    assert found.input > tokens.count_all(texts)
    assert of_texts(texts).input > tokens.count_all(texts)


def test_every_choice_is_written_and_charged() -> None:
    assert bound(ChatRequest.of("s", "u", max_tokens=100, n=3)).output == 300


def test_where_two_limits_are_named_the_higher_counts() -> None:
    assert bound(ChatRequest.of("s", "u", max_tokens=100, max_completion_tokens=400)).output == 400


def test_tools_and_schemas_count() -> None:
    bare = bound(ChatRequest.of("s", "u", max_tokens=1)).input
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    assert bound(ChatRequest.of("s", "u", max_tokens=1, tools=[tool])).input > bare + TOOLS_FRAME + 60


def test_images_count_with_the_most_that_any_provider_takes() -> None:
    parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]
    request = ChatRequest((Message.from_wire({"role": "user", "content": parts}),), {"max_tokens": 1})
    assert PER_IMAGE < bound(request).input < PER_IMAGE + 1000
    assert bound(request).why_open is None


@pytest.mark.parametrize(
    ("params", "content", "why"),
    [
        ({}, "x", "a reply without a limit"),
        ({"max_tokens": -1}, "x", "a reply without a limit"),
        ({"max_tokens": 5, "max_completion_tokens": None, "plugins": [{"id": "web"}]}, "x", "'plugins'"),
        ({"max_tokens": 5, "prediction": {"content": "x"}}, "x", "'prediction'"),
        ({"max_tokens": 5}, [{"type": "file", "file": {"file_id": "f"}}], "a part of type 'file'"),
        ({"max_tokens": 5}, [7], "a part of type None"),
    ],
)
def test_what_has_no_bound_says_why(params, content, why) -> None:  # type: ignore[no-untyped-def]
    found = bound(ChatRequest((Message.from_wire({"role": "user", "content": content}),), params))
    assert found.why_open is not None
    assert why in found.why_open
