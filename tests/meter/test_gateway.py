"""The gateway as an outside product meets it: OpenAI's own client before it, a scripted upstream behind."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import openai
import pytest
from openai import AsyncOpenAI

from memgauge.backbones.endpoint import Endpoint
from memgauge.embedders.endpoint import EndpointEmbedder
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.meter.budget import Budget
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.spec import Setting
from scripted_upstream import EMBEDDING_MODEL, KEY, MODEL, Fail, HangUp, Say, ScriptedUpstream, Send, Tokens

ASK: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who is Bello?"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"who": "Bello"}'}}
TOOL: Any = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}


@dataclass
class House:
    """A run with one unit, from the product's client to the ledger."""

    gateway: Gateway
    upstream: ScriptedUpstream
    meter: Meter
    unit: UnitMeter
    client: AsyncOpenAI
    path: Path

    def calls(self) -> list[dict[str, Any]]:
        """The ledger's calls, read as a report would while the run goes on."""
        return Frames(self.path).calls().to_dicts()

    def client_with(self, key: str) -> AsyncOpenAI:
        return AsyncOpenAI(base_url=self.gateway.base_url, api_key=key, max_retries=0)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    ledger = Ledger.create(tmp_path / FILE_NAME, {})
    ledger.add_units([
        UnitRecord(
            unit=1, key="u1", memory="product", memory_options="{}", control=False, write_every=1, setting="s",
            backbone="endpoint", model=MODEL, effort=None, embedder="endpoint", embedding_model=EMBEDDING_MODEL,
            workload="w", item="i", protocol="recall", seed=0, cell_turns=None, cell_tokens=None, turns=1,
            mean_turn_tokens=1.0, questions=0,
        )
    ])  # fmt: skip
    ledger.start_unit(1, 0.0)
    async with ScriptedUpstream() as upstream:
        setting = Setting(backbone="endpoint", model=MODEL, base_url=upstream.base_url, temperature=0.0)
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001)
        embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY, first_wait_s=0.001)
        meter = Meter(ledger, setting, backbone, embedder)
        gateway = Gateway(grace_s=1)
        await gateway.start()
        unit = meter.open(1)
        gateway.register(unit)
        client = AsyncOpenAI(base_url=gateway.base_url, api_key=unit.key, max_retries=0)
        yield House(gateway, upstream, meter, unit, client, tmp_path)
        await client.close()
        await gateway.close()
        await backbone.close()
        await embedder.close()
        ledger.close()


async def test_a_chat_is_answered_by_the_setting_and_recorded_with_what_was_asked(house: House) -> None:
    with house.unit.scope(3, "write"):
        reply = await house.client.chat.completions.create(model="gpt-4o", messages=ASK, temperature=0.9)
    assert reply.choices[0].message.content == "Bello is a dog"
    sent = house.upstream.log[0]
    assert (sent.body["model"], sent.body["temperature"]) == (MODEL, 0.0)
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    [call] = house.calls()
    assert json.loads(call["asked"]) == {"model": "gpt-4o", "temperature": 0.9}
    assert (call["model"], call["turn"], call["stage"], call["background"]) == (MODEL, 3, "write", 0)
    assert (call["outcome"], call["status"], call["attempts"]) == ("ok", 200, 1)


async def test_a_call_outside_every_scope_is_background_work(house: House) -> None:
    with house.unit.scope(2, "read"):
        pass
    await house.client.chat.completions.create(model="m", messages=ASK)
    [call] = house.calls()
    assert (call["stage"], call["turn"], call["background"]) == ("manage", 2, 1)


async def test_a_key_with_a_stage_puts_its_calls_there_whatever_the_unit_is_at(house: House) -> None:
    async with house.client_with(f"{house.unit.key}~manage") as client:
        with house.unit.scope(4, "read"):
            await asyncio.gather(
                client.chat.completions.create(model="m", messages=ASK),
                client.embeddings.create(model="m", input="one"),
                house.client.embeddings.create(model="m", input="two"),
            )
        async for _ in await client.chat.completions.create(model="m", messages=ASK, stream=True):
            pass
    found = sorted((call["turn"], call["stage"], call["kind"], call["background"]) for call in house.calls())
    # After the scope, the streamed call belongs to the last turn, as background work.
    assert found == [(4, "manage", "chat", 0), (4, "manage", "chat", 1), (4, "manage", "embed", 0),
                     (4, "read", "embed", 0)]  # fmt: skip


@pytest.mark.parametrize("stage", ["", "answer", "judge", "manage~write"])
async def test_a_key_with_a_stage_that_is_not_a_memorys_is_401(stage: str, house: House) -> None:
    async with house.client_with(f"{house.unit.key}~{stage}") as client:
        with pytest.raises(openai.AuthenticationError, match="must be one of write, manage, read"):
            await client.chat.completions.create(model="m", messages=ASK)
    assert house.upstream.log == []


async def test_a_stream_gives_the_text_in_pieces_and_no_usage_that_was_not_asked_for(house: House) -> None:
    stream = await house.client.chat.completions.create(model="m", messages=ASK, stream=True)
    chunks = [chunk async for chunk in stream]
    words = [chunk.choices[0].delta.content for chunk in chunks]
    assert words == ["", "Bello", " is", " a", " dog", None]
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks)
    [call] = house.calls()
    assert (call["output_tokens"], call["usage_source"]) == (4, "upstream")
    assert call["ttft_s"] is not None


async def test_a_stream_gives_usage_where_it_was_asked_for(house: House) -> None:
    stream = await house.client.chat.completions.create(
        model="m", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 4


async def test_words_arrive_while_the_upstream_still_speaks_and_the_end_only_after_the_record(house: House) -> None:
    house.upstream.script(Say("one two", pace_s=0.05))
    stream = await house.client.chat.completions.create(model="m", messages=ASK, stream=True)
    recorded_at_word = [len(house.calls()) async for _ in stream]
    # The role and the two words come before the call is recorded, the finish reason after it.
    assert recorded_at_word == [0, 0, 0, 1]


@pytest.mark.parametrize("stream", [False, True])
async def test_tools_pass_through_both_ways(stream: bool, house: House) -> None:
    house.upstream.script(Say("", tool_calls=(CALL,), finish_reason="tool_calls"))
    answer: Any = await house.client.chat.completions.create(
        model="m",
        tools=[TOOL],
        tool_choice="auto",
        stream=stream,
        messages=[
            *ASK,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},  # type: ignore[list-item]
            {"role": "tool", "tool_call_id": "call_1", "content": "a dog"},
        ],
    )
    if stream:
        arguments = ""
        async for chunk in answer:
            for part in chunk.choices[0].delta.tool_calls or ():
                arguments += part.function.arguments
    else:
        arguments = answer.choices[0].message.tool_calls[0].function.arguments
    assert arguments == '{"who": "Bello"}'
    body = house.upstream.log[0].body
    assert body["tools"] == [TOOL]
    assert body["tool_choice"] == "auto"
    assert body["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a dog"},
    ]
    raw = json.loads(Frames(house.path).text(house.calls()[0]["reply"]))
    assert raw["choices"][0]["message"]["tool_calls"] == [CALL]


async def test_json_schemas_arrays_several_system_messages_and_unknown_fields_pass_through(house: House) -> None:
    schema: Any = {
        "type": "json_schema",
        "json_schema": {"name": "fact", "schema": {"type": "object", "properties": {"who": {"type": "string"}}}},
    }
    messages: list[Any] = [
        {"role": "system", "content": "Rules."},
        {"role": "system", "content": "More rules."},
        {"role": "user", "name": "ann", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ]},
    ]  # fmt: skip
    await house.client.chat.completions.create(
        model="m", messages=messages, response_format=schema, n=2, extra_body={"guided_regex": "a+"}
    )
    body = house.upstream.log[0].body
    assert body["messages"] == messages
    assert (body["response_format"], body["n"], body["guided_regex"]) == (schema, 2, "a+")


async def test_embeddings_come_as_numbers_or_as_base64(house: House) -> None:
    texts = ["one", "two words"]
    raw = await house.client.embeddings.with_raw_response.create(
        model="text-embedding-3-small", input=texts, encoding_format="float"
    )
    numbers = [entry["embedding"] for entry in json.loads(raw.content)["data"]]
    assert numbers == [[3, 0.5, 0.5, 0.5], [9, 0.5, 0.5, 0.5]]
    packed = await house.client.embeddings.create(model="m", input=texts)  # the client asks for base64 by itself
    assert [entry.embedding for entry in packed.data] == numbers
    assert packed.usage.prompt_tokens == 3
    single = await house.client.embeddings.create(model="m", input="one")
    assert single.data[0].embedding == numbers[0]
    calls = house.calls()
    assert [call["kind"] for call in calls] == ["embed"] * 3
    assert json.loads(calls[0]["asked"]) == {"model": "text-embedding-3-small"}
    assert house.upstream.log[0].body["model"] == EMBEDDING_MODEL


async def test_fewer_dimensions_are_cut_and_more_are_refused(house: House) -> None:
    reply = await house.client.embeddings.create(model="m", input="one", dimensions=2)
    # (3, 0.5) brought to length one: divided by sqrt(9.25).
    np.testing.assert_allclose(reply.data[0].embedding, [3 / 9.25**0.5, 0.5 / 9.25**0.5], rtol=1e-6)
    with pytest.raises(openai.BadRequestError, match="dimensions is 1536, but the run's embedding model has 4"):
        await house.client.embeddings.create(model="m", input="one", dimensions=1536)


@pytest.mark.parametrize("ids", [[1, 2, 3], [[1, 2], [3]]])
async def test_token_ids_are_refused_with_the_way_out(ids: Any, house: House) -> None:
    with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length=False"):
        await house.client.embeddings.create(model="m", input=ids)
    assert house.upstream.log == []


async def test_the_models_are_the_settings(house: House) -> None:
    assert [model.id async for model in house.client.models.list()] == [MODEL, EMBEDDING_MODEL]


async def test_a_key_of_no_open_unit_is_401(house: House) -> None:
    async with house.client_with("mg-1-guessed") as stranger:
        with pytest.raises(openai.AuthenticationError, match="belongs to no open unit"):
            await stranger.chat.completions.create(model="m", messages=ASK)
        with pytest.raises(openai.AuthenticationError):
            await stranger.models.list()
    house.gateway.unregister(house.unit)
    with pytest.raises(openai.AuthenticationError):
        await house.client.chat.completions.create(model="m", messages=ASK)
    assert house.upstream.log == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_beyond_the_budget_is_402_and_never_sent(stream: bool, house: House) -> None:
    house.meter.budget = Budget(max_tokens=10)
    with pytest.raises(openai.APIStatusError, match="are allowed in all") as caught:
        await house.client.chat.completions.create(model="m", messages=ASK, stream=stream, max_tokens=5)
    assert caught.value.status_code == 402
    assert house.upstream.log == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("POST", "/chat/completions", b"{", 400, "no JSON"),
        ("POST", "/chat/completions", b"[]", 400, "must be a JSON object"),
        ("POST", "/chat/completions", b"{}", 400, "at least one message"),
        ("POST", "/chat/completions", b'{"messages": [{"content": "x"}]}', 400, "with a role"),
        ("POST", "/chat/completions", b'{"messages": [{"role": "user", "content": 3}]}', 400, "messages[0].content"),
        ("POST", "/embeddings", b'{"input": []}', 400, "at least one string"),
        ("POST", "/embeddings", b'{"input": "x", "encoding_format": "int8"}', 400, "encoding_format"),
        ("POST", "/responses", b"{}", 404, "no such route: POST /v1/responses"),
        ("GET", "/chat/completions", b"", 404, "no such route"),
        ("POST", "/chat/completions", b'{"messages": "' + b"x" * 2000 + b'"}', 413, "larger than"),
    ],
)
async def test_a_bad_request_is_a_4xx_in_the_shape_of_openai(
    method: str, path: str, body: bytes, status: int, words: str, house: House
) -> None:
    gateway = Gateway(max_body_bytes=1000)
    await gateway.start()
    gateway.register(house.unit)
    headers = {"Authorization": f"Bearer {house.unit.key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, gateway.base_url + path, data=body) as response,
    ):
        assert response.status == status
        assert response.headers["x-request-id"]
        error = (await response.json())["error"]
    await gateway.close()
    assert words in error["message"]
    assert house.upstream.log == []


async def test_a_429_is_waited_out_as_the_upstream_asks(house: House) -> None:
    house.upstream.script(Fail(429, headers={"Retry-After": "0"}), Say("Yes"))
    reply = await house.client.chat.completions.create(model="m", messages=ASK)
    assert reply.choices[0].message.content == "Yes"
    [call] = house.calls()
    assert (call["attempts"], call["outcome"]) == (2, "ok")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("step", "attempts", "status", "outcome", "words"),
    [
        (Fail(500, {"error": {"message": "core melt", "type": "server_error"}}), 5, 500, "http", "core melt"),
        (Fail(400, {"error": {"message": "bad tool", "type": "x"}}), 1, 400, "http", "bad tool"),
        (Fail(401, {"error": {"message": "bad key", "type": "x"}}), 1, 401, "http", "bad key"),
        (Send(b"<html>Bad gateway</html>"), 1, 502, "malformed", "an HTML page"),
        (HangUp(), 5, 502, "connection", "cannot reach"),
    ],
)
async def test_faults_of_the_upstream_are_passed_on_and_recorded(
    stream: bool, step: Any, attempts: int, status: int, outcome: str, words: str, house: House
) -> None:
    house.upstream.script(*[step] * attempts)
    with pytest.raises(openai.APIStatusError, match=words) as caught:
        await house.client.chat.completions.create(model="m", messages=ASK, stream=stream)
    assert caught.value.status_code == status
    [call] = house.calls()
    assert (call["outcome"], call["status"], call["attempts"]) == (outcome, status, attempts)
    assert len(house.upstream.log) == attempts


async def test_a_stream_cut_by_the_upstream_ends_in_an_error_and_is_recorded(house: House) -> None:
    house.upstream.script(Say("one two three", cut_after=3))
    stream = aiter(await house.client.chat.completions.create(model="m", messages=ASK, stream=True))
    words = [(await anext(stream)).choices[0].delta.content for _ in range(3)]
    assert words == ["", "one", " two"]
    with pytest.raises(openai.APIError, match="stream broke off"):
        await anext(stream)
    [call] = house.calls()
    assert (call["outcome"], call["output_tokens"]) == ("malformed", None)


async def test_a_client_that_leaves_mid_stream_is_charged_for_the_whole_call(house: House) -> None:
    house.upstream.script(Say("one two three four five", pace_s=0.02))
    headers = {"Authorization": f"Bearer {house.unit.key}"}
    body = {"messages": ASK, "stream": True}
    async with aiohttp.ClientSession(headers=headers) as session:
        response = await session.post(f"{house.gateway.base_url}/chat/completions", json=body)
        await response.content.readany()
        response.close()
    while not house.calls():  # noqa: ASYNC110 - the gateway tells nobody that it is done
        await asyncio.sleep(0.01)
    [call] = house.calls()
    assert (call["outcome"], call["output_tokens"]) == ("ok", 5)


@pytest.mark.parametrize(("pace_s", "outcome"), [(0.05, "ok"), (2.0, "interrupted")])
async def test_closing_leaves_no_call_unrecorded_whose_client_is_gone(
    pace_s: float, outcome: str, house: House
) -> None:
    house.upstream.script(Say("one two three four five", pace_s=pace_s))
    headers = {"Authorization": f"Bearer {house.unit.key}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        url, body = f"{house.gateway.base_url}/chat/completions", {"messages": ASK, "stream": True}
        asking = asyncio.create_task(session.post(url, json=body))
        while not house.upstream.log:  # noqa: ASYNC110 - until it has been asked
            await asyncio.sleep(0.01)
        asking.cancel()
    await house.gateway.close()
    assert [call["outcome"] for call in house.calls()] == [outcome]


async def test_a_fault_of_our_own_shows_no_traceback(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr(house.unit, "chat", broken)
    with caplog.at_level(logging.ERROR), pytest.raises(openai.InternalServerError) as caught:
        await house.client.chat.completions.create(model="m", messages=ASK)
    assert "secret" not in str(caught.value.body)
    assert "secret detail" in caplog.text


async def test_calls_of_two_units_do_not_mix(house: House) -> None:
    other = house.meter.open(2)
    house.gateway.register(other)
    async with house.client_with(other.key) as client:
        with other.scope(9, "write"):
            await asyncio.gather(
                *(client.chat.completions.create(model="m", messages=ASK) for _ in range(3)),
                *(house.client.chat.completions.create(model="m", messages=ASK) for _ in range(2)),
            )
    assert sorted((call["unit"], call["turn"], call["seq"]) for call in house.calls()) == [
        (1, 0, 1), (1, 0, 2), (2, 9, 1), (2, 9, 2), (2, 9, 3),
    ]  # fmt: skip


async def test_the_ledger_counts_to_the_token_what_the_upstream_counted(house: House) -> None:
    chat, embed = house.client.chat.completions.create, house.client.embeddings.create

    async def read(stream: Any) -> None:
        async for _ in stream:
            pass

    for turn in range(1, 6):
        ask: list[Any] = [*ASK, {"role": "user", "content": f"And of turn {turn}? " * turn}]
        with house.unit.scope(turn, "write"):
            await chat(model="m", messages=ask)
            house.upstream.script(Say("thinking it over", reasoning=7 * turn), Say("", tool_calls=(CALL, CALL)))
            await read(await chat(model="m", messages=ask, stream=True))
            await read(await chat(model="m", messages=ask, stream=True))
            await embed(model="m", input=[f"text {turn}", "and two more"])
        with house.unit.scope(turn, "read"):
            await asyncio.gather(*(chat(model="m", messages=ask) for _ in range(5)))

    charged = Tokens(prompt=40, cached=8, completion=11, reasoning=4)
    failing: list[Any] = [
        (False, [Fail(500)] * 5),
        (False, [Fail(503, charged=charged), Fail(400, charged=charged)]),
        (False, [Fail(502, charged=charged), Say("Yes")]),
        (True, [Fail(503, charged=charged), Say("Yes indeed")]),
        (False, [Say("paid for", choices=False)]),
        (False, [Say("", finish_reason="content_filter", reasoning=9)]),
        (True, [Say("cut after usage", cut_after=5)]),
        (False, [HangUp()] * 5),
        (False, [Send(b"<html>")]),
    ]
    for stream, steps in failing:
        house.upstream.script(*steps)
        try:
            answer: Any = await chat(model="m", messages=ASK, stream=stream)
            if stream:
                await read(answer)
        except openai.APIError:
            continue
    house.upstream.script(Say(extra={"data": []}))
    with pytest.raises(openai.InternalServerError):
        await embed(model="m", input="paid for in vain")

    calls = Frames(house.path).calls()
    assert len(calls) == 5 * 9 + 9 + 1
    assert calls["attempts"].sum() == len(house.upstream.log)
    assert set(calls["outcome"]) == {"ok", "http", "malformed", "refused", "connection"}
    sums = {name: calls[f"{name}_tokens"].sum() for name in ("input", "cached", "output", "reasoning", "embedding")}
    count = house.upstream.charged
    assert sums == {
        "input": count("prompt") - count("cached"),
        "cached": count("cached"),
        "output": count("completion") - count("reasoning"),
        "reasoning": count("reasoning"),
        "embedding": count("embedding"),
    }
    assert min(sums.values()) > 0
