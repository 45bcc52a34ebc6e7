"""Whatever an upstream does, the call stands in the ledger with an outcome of its own, and nothing made up.

The scripted upstream counts words: the request below has 2 + 3 words, and 3 on top: 8 prompt tokens, 2 of them cached.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from house import house
from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.ledger.frames import Frames
from memgauge.meter.bound import Bound, of_chat
from memgauge.meter.meter import _pieces
from scripted_upstream import Fail, HangUp, Say, Send, Tokens

ASK = ChatRequest.of("Be brief.", "Who is Bello?", max_tokens=10)


def said(usage: Any, content: Any = "Bello is a dog", finish_reason: str = "stop") -> Send:
    """A completion with this usage."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
    body = {"id": "1", "model": "scripted-1", "choices": [choice], "usage": usage}
    return Send(json.dumps(body).encode(), "application/json")


def bound() -> Bound:
    """What a call of ASK can use at most."""
    params = {**ASK.params, "model": "scripted-1"}
    return of_chat(ASK.messages, _pieces(ASK.messages), params)


TOLD, UNTOLD = False, True  # whether what the call used is known

PROMPT = {"prompt_tokens": 8, "completion_tokens": 4}


@pytest.mark.parametrize(
    ("steps", "outcome", "attempts", "figures", "unknown"),
    [
        # the last of five attempts decides
        ([Fail(429)] * 2 + [Say()], "ok", 3, (6, 2, 4), TOLD),
        ([Fail(429, headers={"Retry-After": "0.01"}), Say()], "ok", 2, (6, 2, 4), TOLD),
        ([Fail(500)] * 5, "http", 5, (None, None, None), TOLD),
        ([Fail(503, charged=Tokens(prompt=5, completion=1)), Say()], "ok", 2, (11, 2, 5), TOLD),
        ([Fail(400)], "http", 1, (None, None, None), TOLD),
        # reset before the answer: asked again, and each attempt may have been charged for
        ([HangUp()] * 5, "connection", 5, (None, None, None), UNTOLD),
        ([HangUp(), Say()], "ok", 2, (6, 2, 4), UNTOLD),
        # an answer that is none is not asked for again
        ([Send(b"<html>Please log in</html>")], "malformed", 1, (None, None, None), UNTOLD),
        ([Send(b'{"choices": [{"mess', "application/json")], "malformed", 1, (None, None, None), UNTOLD),
        ([Say(choices=False)], "malformed", 1, (6, 2, 4), TOLD),
        # usage that is missing or impossible is unknown, and never zero
        ([said(None)], "ok", 1, (None, None, None), UNTOLD),
        ([said("many")], "ok", 1, (None, None, None), UNTOLD),
        ([said({"prompt_tokens": -8, "completion_tokens": 4})], "ok", 1, (None, None, 4), UNTOLD),
        ([said({"prompt_tokens": 8, "completion_tokens": -1})], "ok", 1, (8, None, None), UNTOLD),
        ([said({"prompt_tokens": 1 << 70, "completion_tokens": 4})], "ok", 1, (None, None, 4), UNTOLD),
        ([said({**PROMPT, "prompt_tokens_details": {"cached_tokens": 9}})], "ok", 1, (8, None, 4), TOLD),
        ([said({**PROMPT, "prompt_tokens_details": {"cached_tokens": True}})], "ok", 1, (8, None, 4), TOLD),
        # the filter
        ([Say("", finish_reason="content_filter")], "refused", 1, (6, 2, 0), TOLD),
        ([Fail(400, {"error": {"message": "x", "code": "content_filter"}})], "refused", 1, (None,) * 3, UNTOLD),
        # the window
        ([Fail(400, {"error": {"message": "x", "code": "context_length_exceeded"}})], "context", 1, (None,) * 3, TOLD),
    ],
)  # fmt: skip
async def test_each_fault_has_its_outcome(
    tmp_path: Path,
    steps: list[Any],
    outcome: str,
    attempts: int,
    figures: tuple[int | None, ...],
    unknown: bool,
) -> None:
    async with house(tmp_path) as here:
        here.upstream.script(*steps)
        if outcome == "ok":
            await here.unit.chat(ASK)
        else:
            with pytest.raises(UpstreamError):
                await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["outcome"], call["attempts"]) == (outcome, attempts)
    assert (call["input_tokens"], call["cached_tokens"], call["output_tokens"]) == figures
    assert (call["error"] is None) == (outcome == "ok")
    assert bool(call["input_at_most"] + call["output_at_most"]) == unknown


async def test_every_attempt_of_unknown_usage_counts_with_its_worst_case(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        here.upstream.script(HangUp(), HangUp(), Say())
        await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["input_at_most"], call["output_at_most"]) == (2 * bound().input, 2 * 10)


async def test_only_the_side_that_is_unknown_counts_with_its_worst_case(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        here.upstream.script(said({"prompt_tokens": 8}))
        await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["input_at_most"], call["output_at_most"]) == (0, 10)


async def test_a_server_that_cannot_be_reached_was_sent_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, max_attempts=2) as here:
        here.meter.backbone._server._pool._port = 9  # type: ignore[attr-defined]
        with pytest.raises(UpstreamError, match="cannot reach"):
            await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["outcome"], call["attempts"]) == ("connection", 2)
    assert (call["input_at_most"], call["output_at_most"]) == (0, 0)


async def test_an_answer_that_is_too_slow_may_have_been_charged_for(tmp_path: Path) -> None:
    async with house(tmp_path, timeout_s=0.05) as here:
        here.upstream.script(Say(wait_s=5))
        with pytest.raises(UpstreamError):
            await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["outcome"], call["status"], call["attempts"]) == ("timeout", 504, 1)
    assert (call["input_at_most"], call["output_at_most"]) == (bound().input, 10)


async def test_a_stream_that_is_cut_half_way_is_malformed(tmp_path: Path) -> None:
    words: list[str] = []

    async def emit(chunk: Any) -> None:
        words.extend(choice["delta"].get("content") for choice in chunk["choices"])

    async with house(tmp_path) as here:
        here.upstream.script(Say("one two three four", cut_after=3))
        with pytest.raises(UpstreamError):
            await here.unit.chat(ASK, emit)
        [call] = here.calls()
    assert words == ["", "one", " two"]
    assert (call["outcome"], call["output_tokens"], call["output_at_most"]) == ("malformed", None, 10)


async def test_another_model_is_recorded_as_what_it_is(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        here.upstream.script(Say(extra={"model": "cheaper-0"}))
        reply = await here.unit.chat(ASK)
        [call] = here.calls()
        params = json.loads(Frames(tmp_path).text(call["params"]))
    assert (reply.model, call["model"], params["model"]) == ("cheaper-0", "cheaper-0", "scripted-1")


async def test_json_that_was_cut_by_the_limit_is_an_answer_and_says_so(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        here.upstream.script(Say('{"facts": ["Bello is', finish_reason="length"))
        reply = await here.unit.chat(ASK)
        [call] = here.calls()
    assert (reply.text, reply.finish_reason) == ('{"facts": ["Bello is', "length")
    assert (call["outcome"], call["finish_reason"]) == ("ok", "length")


@pytest.mark.parametrize(
    "odd",
    [
        {"model": 7}, {"model": ["a"]}, {"provider": {"name": "x"}}, {"id": None},
        {"choices": [{"message": {"content": ["a", {"text": "b"}]}, "finish_reason": {"why": "stop"}}]},
        {"choices": [{"message": {"content": 7, "tool_calls": [1, None]}}, "and more", None]},
    ],
)  # fmt: skip
async def test_fields_of_odd_types_are_no_reason_to_lose_a_call(tmp_path: Path, odd: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"content": "Yes"}}], "usage": PROMPT, **odd}
    async with house(tmp_path) as here:
        here.upstream.script(Send(json.dumps(body).encode(), "application/json"))
        await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["outcome"], call["input_tokens"], call["output_tokens"]) == ("ok", 8, 4)


async def test_what_breaks_inside_a_backbone_is_a_call_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(request: Any, emit: Any = None) -> None:
        raise RuntimeError("decoder: out of memory")

    async with house(tmp_path) as here:
        monkeypatch.setattr(here.meter.backbone, "chat", broken)
        with pytest.raises(UpstreamError, match="out of memory"):
            await here.unit.chat(ASK)
        [call] = here.calls()
    assert (call["outcome"], call["error"]) == ("malformed", "the model failed: RuntimeError: decoder: out of memory")


async def test_embeddings_have_the_same_outcomes(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        here.upstream.script(Say(extra={"usage": None}), Say(extra={"data": "none"}), Fail(503), Say())
        await here.unit.embed(["one", "two words"])
        with pytest.raises(UpstreamError):
            await here.unit.embed(["one"])
        await here.unit.embed(["one more"])
        calls = here.calls()
    assert [call["outcome"] for call in calls] == ["ok", "malformed", "ok"]
    assert [call["embedding_tokens"] for call in calls] == [None, 1, 2]
    # 3 + 9 bytes, and 16 for each of the two texts
    assert [call["input_at_most"] for call in calls] == [3 + 9 + 2 * 16, 0, 0]
    assert calls[2]["attempts"] == 2
