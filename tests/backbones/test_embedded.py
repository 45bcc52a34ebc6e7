"""The embedded model, as it really runs."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import openai
import pytest

from embedded_model import needs_embedded_model
from memgauge import install
from memgauge.backbones.base import ChatRequest, Message, UpstreamError, Usage
from memgauge.backbones.embedded import Embedded
from memgauge.errors import MissingExtraError, UserError

CAPITAL = ChatRequest.of("Be brief.", "Capital of France?", temperature=0, max_tokens=12)


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    backbone = Embedded(window=1024)
    yield backbone
    await backbone.close()


@needs_embedded_model
async def test_it_answers_and_counts(embedded: Embedded) -> None:
    reply = await embedded.chat(CAPITAL)
    assert "Paris" in reply.text
    assert reply.finish_reason == "stop"
    assert reply.usage.source == "upstream"
    assert reply.usage.cached == 0
    assert reply.usage.output == reply.raw["usage"]["completion_tokens"] > 0
    assert reply.raw["choices"][0]["message"] == {"role": "assistant", "content": reply.text}


@needs_embedded_model
async def test_a_prompt_read_before_is_cached_and_counted_apart(embedded: Embedded) -> None:
    first = await embedded.chat(CAPITAL)
    again = await embedded.chat(CAPITAL)
    # The last token of a prompt is always read again: its successor is what is asked for.
    assert again.usage == Usage(input=1, cached=(first.usage.input or 0) - 1, output=first.usage.output)
    assert again.text == first.text


@needs_embedded_model
async def test_the_same_calls_of_another_instance_give_the_same_replies(embedded: Embedded) -> None:
    other = Embedded(window=1024)
    later = ChatRequest((*CAPITAL.messages, Message("assistant", ("Paris.",)), Message("user", ("Italy?",))))
    for request in (CAPITAL, ChatRequest(later.messages, CAPITAL.params), CAPITAL):
        ours, theirs = await embedded.chat(request), await other.chat(request)
        assert (ours.raw, ours.usage) == (theirs.raw, theirs.usage)
    await other.close()


@needs_embedded_model
async def test_a_reply_does_not_depend_on_what_was_cached(embedded: Embedded) -> None:
    story = "".join(f"Lamp {i} stands beside chair {i * 7 % 30}.\n" for i in range(30))
    ask = [ChatRequest.of(story, question, temperature=0, max_tokens=8, logprobs=True) for question in ("Who?", "Why?")]
    for request in ask:
        fresh = await embedded.chat(ChatRequest(request.messages, {**request.params, "cache_prompt": False}))
        await embedded.chat(ask[0])
        cached = await embedded.chat(request)
        assert (fresh.usage.cached, (cached.usage.cached or 0) > 300) == (0, True)
        assert fresh.raw["choices"] == cached.raw["choices"]  # to the last bit of every log probability


@needs_embedded_model
async def test_a_streamed_reply_is_the_sum_of_its_chunks(embedded: Embedded) -> None:
    chunks: list[Mapping[str, Any]] = []

    async def emit(chunk: Mapping[str, Any]) -> None:
        chunks.append(chunk)

    reply = await embedded.chat(CAPITAL, emit)
    parts = [choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]]
    assert "".join(parts) == reply.text
    assert len([part for part in parts if part]) > 3
    assert chunks[-1]["usage"] == reply.raw["usage"]
    assert {chunk["model"] for chunk in chunks} == {"smollm2-135m-instruct-q4_1"}
    assert {chunk["id"] for chunk in chunks} == {reply.raw["id"]}


@needs_embedded_model
async def test_what_only_routes_a_request_is_not_passed_on(embedded: Embedded) -> None:
    routed = ChatRequest(CAPITAL.messages, {**CAPITAL.params, "model": "gpt-9", "reasoning_effort": "low"})
    asked, plain = await embedded.chat(routed), await embedded.chat(CAPITAL)
    assert (asked.text, asked.model, asked.raw["id"]) == (plain.text, embedded.model, plain.raw["id"])


@needs_embedded_model
async def test_limits_stops_and_schemas_are_obeyed(embedded: Embedded) -> None:
    short = await embedded.chat(ChatRequest.of("", "Tell me a story.", temperature=0, max_tokens=3))
    assert (short.finish_reason, short.usage.output) == ("length", 3)
    stopped = await embedded.chat(ChatRequest(CAPITAL.messages, {**CAPITAL.params, "stop": ["France"]}))
    assert "France" not in stopped.text
    schema = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Paris"]}}, "required": ["city"],
              "additionalProperties": False}  # fmt: skip
    asked = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    formed = await embedded.chat(ChatRequest(CAPITAL.messages, {"temperature": 0, "response_format": asked}))
    assert json.loads(formed.text) in ({"city": "Oslo"}, {"city": "Paris"})


@needs_embedded_model
async def test_a_prompt_that_does_not_fit_is_an_error_of_its_own_kind(embedded: Embedded) -> None:
    with pytest.raises(UpstreamError, match="exceeds the available context size") as fault:
        await embedded.chat(ChatRequest.of("", "word " * 1100))
    assert (fault.value.kind, fault.value.status) == ("context", 400)


@needs_embedded_model
@pytest.mark.parametrize(
    "params",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "nonsense"}}}},
        {"temperature": "hot"},
        {"n": 2},
    ],
)
async def test_a_request_that_makes_no_sense_is_the_callers_fault(embedded: Embedded, params: dict[str, Any]) -> None:
    with pytest.raises(UpstreamError) as fault:
        await embedded.chat(ChatRequest(CAPITAL.messages, params))
    assert (fault.value.kind, fault.value.status) == ("http", 400)


@needs_embedded_model
async def test_lone_surrogates_are_no_trouble(embedded: Embedded) -> None:
    assert (await embedded.chat(ChatRequest.of("", "a\ud800b", max_tokens=1))).usage.output == 1


@needs_embedded_model
async def test_the_event_loop_turns_while_the_model_thinks(embedded: Embedded) -> None:
    call = asyncio.create_task(embedded.chat(CAPITAL))
    turns = 0
    while not call.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 10


@needs_embedded_model
@pytest.mark.parametrize("prompt", ["Count.", "word " * 7000])  # given up while it writes, and while it reads
async def test_a_call_that_is_given_up_does_not_hold_up_the_next(prompt: str) -> None:
    backbone = Embedded()
    endless = ChatRequest.of("", prompt, temperature=0, ignore_eos=True)  # minutes, if it were let run
    call = asyncio.create_task(backbone.chat(endless))
    await asyncio.sleep(1.5)  # it has begun by then; if it has not, it is only taken from the queue
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(60):
        assert "France" in (await backbone.chat(CAPITAL)).text
    await backbone.close()


@needs_embedded_model
async def test_closing_breaks_off_what_is_being_written() -> None:
    backbone = Embedded(window=1024)
    writing = asyncio.Event()

    async def emit(chunk: Mapping[str, Any]) -> None:
        writing.set()

    call = asyncio.create_task(backbone.chat(ChatRequest.of("", "Count.", max_tokens=900, ignore_eos=True), emit))
    await writing.wait()
    await backbone.close()
    with pytest.raises(UpstreamError, match="stopped"):
        await call
    await backbone.close()


@needs_embedded_model
async def test_its_own_server_speaks_openai_to_whoever_has_the_key(embedded: Embedded) -> None:
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    async with openai.AsyncOpenAI(base_url=embedded.base_url, api_key=embedded.api_key, max_retries=0) as client:
        reply = await client.chat.completions.create(model="any", messages=messages, max_tokens=3)  # type: ignore[arg-type]
        assert reply.choices[0].message.content
        assert reply.usage is not None
        assert reply.usage.completion_tokens == 3
    async with openai.AsyncOpenAI(base_url=embedded.base_url, api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError):
            await stranger.chat.completions.create(model="any", messages=messages)  # type: ignore[arg-type]


@needs_embedded_model
async def test_provenance_names_runtime_and_weights(embedded: Embedded) -> None:
    record = embedded.provenance()
    assert record["runtime"].startswith("xllamacpp 20")
    assert (record["weights"], record["sha256"]) == (install.SMOLLM2.file, install.SMOLLM2.sha256)


@needs_embedded_model
@pytest.mark.parametrize("window", [0, 8193])
def test_a_window_the_model_does_not_have_is_refused(window: int) -> None:
    with pytest.raises(UserError, match="window is 1 to 8192 tokens"):
        Embedded(window=window)


def test_without_its_weights_it_says_how_to_get_them(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    with pytest.raises(MissingExtraError, match="memgauge install embedded"):
        Embedded()
