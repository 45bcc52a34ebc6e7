"""A server that says it is asked too fast is asked more slowly, and faster again as it takes it."""

import asyncio
import time
from typing import Any

import pytest

from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.backbones.endpoint import Endpoint
from memgauge.backbones.pace import Pace
from scripted_upstream import KEY, MODEL, Fail, Say, ScriptedUpstream

ASK = ChatRequest.of("s", "u")


async def test_a_refusal_halves_the_pace_once_a_round() -> None:
    pace = Pace(32)
    entered = [await pace.enter() for _ in range(32)]
    for number in entered:
        pace.refused(number, None)  # 32 refusals of one round are one word
    assert pace.limit == 16
    for _ in entered:
        pace.leave()
    pace.refused(await pace.enter(), None)
    assert pace.limit == 8


async def test_a_pace_never_falls_below_one_nor_rises_above_the_most() -> None:
    pace = Pace(4)
    for _ in range(10):
        pace.refused(await pace.enter(), None)
        pace.leave()
    assert pace.limit == 1
    for _ in range(100):
        pace.taken()
    assert pace.limit == 4


async def test_a_round_that_was_taken_allows_one_more() -> None:
    pace = Pace(32)
    pace.refused(await pace.enter(), None)
    for _ in range(16):
        pace.taken()
    assert 16.9 < pace.limit < 17  # 16 + 16 * about 1/16.5


async def test_no_more_are_inside_than_the_pace_allows() -> None:
    pace = Pace(3)
    inside = most = 0

    async def one() -> None:
        nonlocal inside, most
        await pace.enter()
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        pace.leave()

    await asyncio.gather(*(one() for _ in range(50)))
    assert most == 3


async def test_who_gives_up_waiting_takes_nobodys_place() -> None:
    pace = Pace(1)
    await pace.enter()
    waiting = [asyncio.create_task(pace.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    pace.leave()
    waiting[1].cancel()  # just when it was its turn
    await asyncio.gather(*waiting[:2], return_exceptions=True)
    async with asyncio.timeout(5):
        await waiting[2]


async def test_a_wait_that_the_server_asks_for_holds_for_all_calls() -> None:
    pace = Pace(8)
    pace.refused(await pace.enter(), 0.05)
    pace.leave()
    before = time.monotonic()
    await pace.enter()
    assert time.monotonic() - before >= 0.05


async def test_calls_side_by_side_survive_a_server_that_takes_two_at_a_time() -> None:
    inside = 0

    class Narrow(ScriptedUpstream):
        async def _chat(self, request: Any) -> Any:
            nonlocal inside
            inside += 1
            try:
                self.script(Fail(429) if inside > 2 else Say(wait_s=0.002))
                return await super()._chat(request)
            finally:
                inside -= 1

    async with Narrow() as upstream:
        endpoint = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001, max_connections=32)
        replies = await asyncio.gather(*(endpoint.chat(ASK) for _ in range(200)))
        await endpoint.close()
    assert len(replies) == 200
    # 32 at a time with backoff alone would meet far more refusals than answers.
    assert sum(reply.attempts for reply in replies) < 2 * 200


async def test_being_too_fast_uses_patience_and_not_attempts() -> None:
    async with ScriptedUpstream() as upstream:
        endpoint = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.0001, max_attempts=2)
        upstream.script(*[Fail(429)] * 6, Say("Yes"))
        assert (await endpoint.chat(ASK)).attempts == 7
        upstream.script(*[Fail(429, headers={"Retry-After": "200"})] * 2)
        with pytest.raises(UpstreamError, match="429"):
            await Endpoint(upstream.base_url, MODEL, api_key=KEY, max_wait_s=100).chat(ASK)
        await endpoint.close()
