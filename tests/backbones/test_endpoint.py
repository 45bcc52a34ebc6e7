"""Any OpenAI-compatible server as a backbone, against one that does what the test says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from embedded_model import needs_embedded_model
from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.backbones.endpoint import Endpoint
from memgauge.backbones.waits import asked_wait_s
from memgauge.errors import UserError
from scripted_upstream import KEY, MODEL, Fail, HangUp, Say, ScriptedUpstream, Send, Tokens

ASK = ChatRequest.of("Be brief.", "Who is Bello?", temperature=0)  # 2 + 3 words, and 3: 8 prompt tokens
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"who": "Bello"}'}}

Connect = Callable[..., Endpoint]


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
async def connect(upstream: ScriptedUpstream) -> AsyncIterator[Connect]:
    opened: list[Endpoint] = []

    def at_upstream(model: str = MODEL, **options: Any) -> Endpoint:
        options = {"api_key": KEY, "first_wait_s": 0.001, **options}
        opened.append(Endpoint(options.pop("base_url", upstream.base_url), model, **options))
        return opened[-1]

    yield at_upstream
    for endpoint in opened:
        await endpoint.close()


class Chunks(list[dict[str, Any]]):
    async def emit(self, chunk: Any) -> None:
        self.append(chunk)


async def test_a_completion_carries_its_text_usage_and_provider(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Say("A good dog", reasoning=5, headers={"x-provider": "Header"}, extra={"provider": "Groq"}))
    reply = await connect().chat(ASK)
    assert (reply.text, reply.model, reply.provider, reply.finish_reason) == ("A good dog", MODEL, "Groq", "stop")
    # 8 prompt tokens of which 8 // 4 cached; 3 words and 5 tokens of reasoning written.
    assert (reply.usage.input, reply.usage.cached) == (6, 2)
    assert (reply.usage.output, reply.usage.reasoning) == (3, 5)
    assert reply.attempts == 1
    assert reply.raw["choices"][0]["message"]["content"] == "A good dog"


async def test_the_request_goes_out_with_every_field_it_was_given(upstream: ScriptedUpstream, connect: Connect) -> None:
    request = ChatRequest.of("s", "u", model="other", reasoning={"effort": "low"}, provider={"only": ["groq"]})
    reply = await connect().chat(request)
    assert upstream.log[0].body == {
        "model": "other",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "reasoning": {"effort": "low"},
        "provider": {"only": ["groq"]},
    }
    assert reply.provider is None


async def test_a_stream_adds_up_to_the_completion_it_would_have_been(
    upstream: ScriptedUpstream, connect: Connect
) -> None:
    say = Say("Bello is a dog", tool_calls=(CALL,), finish_reason="tool_calls", extra={"provider": "Groq"})
    upstream.script(say, say)
    endpoint, chunks = connect(), Chunks()
    whole = await endpoint.chat(ASK)
    streamed = await endpoint.chat(ASK, chunks.emit)
    assert streamed.raw == whole.raw
    assert (streamed.text, streamed.usage, streamed.provider) == (whole.text, whole.usage, "Groq")
    assert streamed.ttft_s is not None
    assert whole.ttft_s is None
    # The role, four words, three pieces of the tool call, the finish reason, the usage.
    assert len(chunks) == 10
    assert upstream.log[1].body["stream_options"] == {"include_usage": True}


async def test_a_server_that_cannot_stream_is_streamed_whole(upstream: ScriptedUpstream, connect: Connect) -> None:
    body = b'{"id": "1", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"},'
    body += b' "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}'
    upstream.script(Send(body, "application/json"))
    chunks = Chunks()
    reply = await connect().chat(ASK, chunks.emit)
    assert reply.text == "Hi"
    assert chunks[0]["choices"][0]["delta"]["content"] == "Hi"
    assert chunks[-1]["usage"]["prompt_tokens"] == 3


async def test_one_connection_serves_call_after_call(upstream: ScriptedUpstream, connect: Connect) -> None:
    endpoint, chunks = connect(), Chunks()
    for _ in range(3):
        await endpoint.chat(ASK)
        await endpoint.chat(ASK, chunks.emit)
    assert len(upstream.connections) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_an_overloaded_server_is_asked_again(status: int, upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Fail(status), Fail(status), Say("Yes"))
    reply = await connect().chat(ASK)
    assert (reply.text, reply.attempts, len(upstream.log)) == ("Yes", 3, 3)


async def test_a_dropped_connection_is_opened_again(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(HangUp(), Say("Yes"))
    reply = await connect().chat(ASK)
    assert (reply.text, reply.attempts) == ("Yes", 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_not_asked_again(status: int, upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Fail(status, {"error": {"message": "no", "type": "x"}}))
    with pytest.raises(UpstreamError, match=f"HTTP {status}: no") as caught:
        await connect().chat(ASK)
    fault = caught.value
    assert (fault.status, fault.kind, fault.attempts) == (status, "http", 1)
    assert fault.body == {"error": {"message": "no", "type": "x"}}
    assert len(upstream.log) == 1


async def test_patience_ends_with_the_attempts(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(*[Fail(503)] * 4)
    with pytest.raises(UpstreamError, match="HTTP 503") as caught:
        await connect(max_attempts=3).chat(ASK)
    assert (caught.value.status, caught.value.attempts, len(upstream.log)) == (503, 3, 3)


async def test_a_wait_longer_than_the_patience_is_not_begun(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Fail(429, headers={"Retry-After": "61"}))
    with pytest.raises(UpstreamError, match="HTTP 429"):
        await connect(max_wait_s=60).chat(ASK)
    assert len(upstream.log) == 1


async def test_the_wait_that_the_server_asks_for_is_kept(upstream: ScriptedUpstream, connect: Connect) -> None:
    # Our own backoff would be an hour, which the patience of ten seconds would not allow.
    upstream.script(Fail(429, headers={"Retry-After": "0"}), Fail(503, headers={"retry-after-ms": "3"}), Say("Yes"))
    reply = await connect(first_wait_s=3600, max_wait_s=10).chat(ASK)
    assert reply.attempts == 3


async def test_an_empty_account_is_not_asked_again(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Fail(429, {"error": {"message": "quota", "code": "insufficient_quota"}}))
    with pytest.raises(UpstreamError) as caught:
        await connect().chat(ASK)
    assert caught.value.attempts == 1


@pytest.mark.parametrize(
    ("headers", "status", "wait_s"),
    [
        ({"retry-after": "7"}, 503, 7),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 429, 1.5),
        ({"retry-after": "Mon, 21 Sep 2026 14:13:50 GMT"}, 503, 30),  # now is 14:13:20
        ({"x-ratelimit-reset-tokens": "1m30s"}, 429, 90),
        ({"x-ratelimit-reset-requests": "20ms", "x-ratelimit-reset-tokens": "2s"}, 429, 2),
        ({"x-ratelimit-reset-requests": "1h", "x-ratelimit-remaining-requests": "9"}, 429, None),
        ({"x-ratelimit-reset": "1790000012"}, 429, 12),
        ({"x-ratelimit-reset": "1790000004000"}, 429, 4),
        ({"x-ratelimit-reset": "3"}, 429, 3),
        ({"x-ratelimit-reset": "3"}, 500, None),
        ({"retry-after": "soon"}, 429, None),
        ({}, 429, None),
    ],
)
def test_waits_are_read_as_servers_write_them(headers: dict[str, str], status: int, wait_s: float | None) -> None:
    assert asked_wait_s(headers, status, now=1_790_000_000) == (None if wait_s is None else pytest.approx(wait_s))


@pytest.mark.parametrize(
    ("step", "kind", "status", "words"),
    [
        (Send(b"<html><body>Login</body></html>"), "malformed", 502, "an HTML page"),
        (Send(b'{"choices": [{"message": {"con', "application/json"), "malformed", 502, "no JSON"),
        (Send(b"", "application/json"), "malformed", 502, "nothing"),
        (Send(b"[1]", "application/json"), "malformed", 502, "no JSON object"),
        (Say(choices=False), "malformed", 502, "no choices"),
        (Send(b"moved", status=302), "malformed", 502, "HTTP 302"),
        (Say("", finish_reason="content_filter"), "refused", 400, "content filter"),
        (Fail(400, {"error": {"message": "x", "code": "content_filter"}}), "refused", 400, "HTTP 400"),
        (
            Fail(403, {"error": {"message": "flagged", "metadata": {"reasons": ["x"]}}}),
            "refused", 403, "flagged",
        ),
        (Fail(400, {"error": {"message": "x", "code": "context_length_exceeded"}}), "context", 400, "HTTP 400"),
        (
            Fail(400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}),
            "context", 400, "8192",
        ),
        (Fail(400, {"error": {"message": "x", "type": "exceed_context_size_error"}}), "context", 400, "HTTP 400"),
        (Fail(404, {"error": "model 'x' not found"}), "http", 404, "model 'x' not found"),
        (Fail(200, {"error": {"message": "provider is gone", "code": 403}}), "http", 403, "provider is gone"),
    ],
)  # fmt: skip
async def test_what_went_wrong_is_told_apart(
    step: Any, kind: str, status: int, words: str, upstream: ScriptedUpstream, connect: Connect
) -> None:
    upstream.script(step)
    with pytest.raises(UpstreamError, match=words) as caught:
        await connect().chat(ASK)
    assert (caught.value.kind, caught.value.status, caught.value.attempts) == (kind, status, 1)


async def test_an_overload_told_in_a_200_is_asked_again(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Fail(200, {"error": {"message": "busy", "code": 429}}), Say("Yes"))
    assert (await connect().chat(ASK)).attempts == 2


async def test_what_failed_attempts_were_charged_is_counted(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Fail(502, charged=Tokens(prompt=10, cached=4, completion=2)), Say("Yes sir"))
    usage = (await connect().chat(ASK)).usage
    # The failed attempt: 10 - 4 in, 2 out; the good one: 8 - 2 in, 2 words out.
    assert (usage.input, usage.cached, usage.output) == (12, 6, 4)


async def test_a_silent_server_is_given_up_and_not_asked_twice(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Say(wait_s=5))
    with pytest.raises(UpstreamError, match=r"within 0\.05 s") as caught:
        await connect(timeout_s=0.05).chat(ASK)
    assert (caught.value.kind, caught.value.status, caught.value.attempts) == ("timeout", 504, 1)


async def test_an_unreachable_server_is_a_connection_fault(connect: Connect) -> None:
    with pytest.raises(UpstreamError, match="cannot reach") as caught:
        await connect(base_url="http://127.0.0.1:9/v1", max_attempts=2).chat(ASK)
    assert (caught.value.kind, caught.value.status, caught.value.attempts) == ("connection", 502, 2)


async def test_a_stream_cut_half_way_is_malformed(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Say("one two three four", cut_after=3))
    chunks = Chunks()
    with pytest.raises(UpstreamError, match="stream broke off") as caught:
        await connect().chat(ASK, chunks.emit)
    assert (caught.value.kind, caught.value.status, len(chunks)) == ("malformed", 502, 3)
    assert caught.value.usage.output is None


async def test_a_stream_cut_after_its_usage_still_tells_it(upstream: ScriptedUpstream, connect: Connect) -> None:
    upstream.script(Say("one two three", cut_after=5))  # role, three words, finish reason
    with pytest.raises(UpstreamError) as caught:
        await connect().chat(ASK, Chunks().emit)
    assert (caught.value.usage.input, caught.value.usage.output) == (6, 3)


@pytest.mark.parametrize("end", [b"", b'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}\n\n'])
async def test_a_stream_that_ends_without_a_finish_reason_is_malformed(
    end: bytes, upstream: ScriptedUpstream, connect: Connect
) -> None:
    upstream.script(Send(end, "text/event-stream"))
    with pytest.raises(UpstreamError, match="ended before the answer did") as caught:
        await connect().chat(ASK, Chunks().emit)
    assert caught.value.kind == "malformed"


async def test_an_error_in_a_stream_is_asked_again_only_before_the_first_chunk(
    upstream: ScriptedUpstream, connect: Connect
) -> None:
    error = b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}\n\n'
    upstream.script(Send(error, "text/event-stream"), Say("Yes"), Send(chunk + error, "text/event-stream"))
    endpoint = connect()
    assert (await endpoint.chat(ASK, Chunks().emit)).attempts == 2
    with pytest.raises(UpstreamError, match="overloaded") as caught:
        await endpoint.chat(ASK, Chunks().emit)
    assert (caught.value.status, caught.value.attempts) == (503, 1)


async def test_half_an_emoji_does_not_stop_a_call(upstream: ScriptedUpstream, connect: Connect) -> None:
    body = rb'{"choices": [{"message": {"content": "so \ud83d"}, "finish_reason": "length"}]}'
    upstream.script(Send(body, "application/json"))
    reply = await connect().chat(ChatRequest.of("s", "half \ude00"))
    assert reply.text == "so \ufffd"
    assert upstream.log[0].body["messages"][1]["content"] == "half \ufffd"


async def test_a_good_endpoint_passes_the_check(upstream: ScriptedUpstream, connect: Connect) -> None:
    await connect().check()
    assert upstream.log == []  # and was charged nothing


async def test_a_server_without_a_list_of_models_is_asked_for_one_token(connect: Connect) -> None:
    async with ScriptedUpstream(models=None) as upstream:
        await connect(base_url=upstream.base_url).check()
        assert upstream.log[0].body["max_tokens"] == 1
        upstream.script(Fail(404, {"error": {"message": "no such model"}}))
        with pytest.raises(UserError, match=r"does not serve 'scripted-1' \(HTTP 404: no such model"):
            await connect(base_url=upstream.base_url).check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "scripted-2"}, "has no model 'scripted-2'; did you mean 'scripted-1'"),
        ({"model": "zzz"}, "it serves scripted-1, scripted-embed"),
        ({"api_key": "sk-wrong"}, "refuses the API key"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "cannot reach http://127.0.0.1:9/v1"),
    ],
)
async def test_a_bad_endpoint_is_told_in_one_line(options: dict[str, Any], words: str, connect: Connect) -> None:
    with pytest.raises(UserError, match=words) as caught:
        await connect(**options).check()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080/v1", "ftp://host/v1", "http://", ""])
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(UserError, match="is no endpoint; expected a URL"):
        Endpoint(url, MODEL)


@pytest.mark.parametrize("model", ["llama3", "openai/gpt-oss-20b:nitro"])
async def test_names_that_servers_complete_by_themselves_pass_the_check(model: str, connect: Connect) -> None:
    async with ScriptedUpstream(models=["llama3:latest", "openai/gpt-oss-20b"]) as upstream:
        await connect(model, base_url=upstream.base_url).check()


@needs_embedded_model
async def test_a_real_server_is_spoken_to_like_any_other() -> None:
    from memgauge.backbones.embedded import Embedded

    runtime = Embedded(window=1024)
    url = await asyncio.to_thread(lambda: runtime.base_url)
    endpoint = Endpoint(url, "any", api_key=runtime.api_key, paid=False, first_wait_s=0.001)
    stranger = Endpoint(url, "any", api_key="wrong", first_wait_s=0.001)
    ask = ChatRequest.of("Answer in one word.", "What is the capital of Norway?", temperature=0, max_tokens=8)
    try:
        whole, chunks = await endpoint.chat(ask), Chunks()
        streamed = await endpoint.chat(ask, chunks.emit)
        assert whole.text
        assert (
            streamed.text
            == whole.text
            == "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])
        )
        # The same prompt both times; the second time the server has it in its cache.
        first, second = whole.usage, streamed.usage
        assert (first.input or 0) + (first.cached or 0) == (second.input or 0) + (second.cached or 0) > 20
        assert (second.cached or 0) > 20
        assert first.output == second.output is not None
        schema = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"]}
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        formed = await endpoint.chat(
            ChatRequest(ask.messages, {"temperature": 0, "max_tokens": 60, "response_format": form})
        )
        assert json.loads(formed.text)["city"] in ("Oslo", "Rome")
        with pytest.raises(UpstreamError) as caught:
            await endpoint.chat(ChatRequest.of("s", "a long story " * 1500, max_tokens=1))
        assert (caught.value.kind, caught.value.status) == ("context", 400)
        with pytest.raises(UserError, match="refuses the API key"):
            await stranger.check()
        with pytest.raises(UserError, match="has no model 'any'"):
            await endpoint.check()
    finally:
        await endpoint.close()
        await stranger.close()
        await runtime.close()
