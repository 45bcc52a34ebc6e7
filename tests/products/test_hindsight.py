"""Hindsight itself behind the gateway: everything metered and placed, nothing lost in silence, nothing left behind."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memgauge.backbones.base import ChatReply, ChatRequest, Emit, Message, completion
from memgauge.backbones.endpoint import Endpoint
from memgauge.backbones.extractive import Extractive
from memgauge.embedders.base import EmbedReply
from memgauge.embedders.endpoint import EndpointEmbedder
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.memories.base import GatewayAccess
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import UnitMeter
from memgauge.products.environment import Environment
from memgauge.products.hindsight.memory import HINDSIGHT, Hindsight
from memgauge.products.process import NotSettledError, RefusedError, SidecarError
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse
from product_units import THINGS, house, said, write
from scripted_upstream import EMBEDDING_MODEL, KEY, MODEL, Fail, Say, ScriptedUpstream

pytestmark = pytest.mark.skipif(
    Environment(HINDSIGHT).standing().state != "installed", reason="not installed: memgauge install hindsight"
)

MARKET = re.compile(r"market number(\d+)")


@asynccontextmanager
async def memory_of(directory: Path, gateway: Gateway, unit: UnitMeter, model: str | None = None,
                    **options: Any) -> AsyncIterator[Hindsight]:  # fmt: skip
    home = directory / f"unit-{unit.unit}"
    home.mkdir(parents=True)
    access = GatewayAccess(
        gateway.base_url, unit.key, model or unit.model, model or unit.embedding_model, unit.embedding_dimensions
    )
    memory = Hindsight(access, home, **options)
    await memory.start()
    try:
        yield memory
    finally:
        await memory.close()


def running(directory: Path) -> dict[int, str]:
    """The processes that work in ``directory`` or below, and their commands."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if entry.name.isdigit() and str(directory) in f"{command} {(entry / 'cwd').readlink()}":
                found[int(entry.name)] = command
        except OSError:
            continue
    return found


async def gone(directory: Path) -> bool:
    """Whether nothing works there any more, now or within some seconds."""
    for _ in range(200):
        if not running(directory):
            return True
        await asyncio.sleep(0.05)
    return False


class Told(Extractive):
    """The rules, unless a test says what to answer to one of Hindsight's two kinds of call; keeps its own books."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, str] = {}  # by kind
        self.waits_s: dict[str, float] = {}
        self.finish_reason = "stop"
        self.served = {"calls": 0, "input": 0, "output": 0}

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        kind = "consolidation" if "memory consolidation system" in request.messages[0].text else "retain"
        await asyncio.sleep(self.waits_s.get(kind, 0))
        reply = await super().chat(request, emit)
        if kind in self.answers:
            text = self.answers[kind]
            raw = completion("chat-1", self.model, {"content": text}, self.finish_reason, reply.raw["usage"])
            reply = replace(reply, text=text, raw=raw, finish_reason=self.finish_reason)
        self.served["calls"] += 1
        self.served["input"] += reply.raw["usage"]["prompt_tokens"]
        self.served["output"] += reply.raw["usage"]["completion_tokens"]
        return reply


class CountingHashing(Hashing):
    """Keeps its own books, too."""

    def __init__(self) -> None:
        super().__init__(64)
        self.served = 0

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        reply = await super().embed(texts)
        self.served += reply.usage.embedding or 0
        return reply


async def test_facts_are_consolidated_found_again_and_traced_to_their_turns(tmp_path: Path) -> None:
    async with house(tmp_path, Extractive(), Hashing()) as (_, gateway, [unit]):
        async with memory_of(tmp_path, gateway, unit) as memory:
            await write(memory, unit, said(1, 10), at=10)
            await write(memory, unit, said(11, 20), at=20)
            with unit.scope(21, "read"):
                recalled = await memory.read("Who bought drums at market number18?", datetime(2024, 6, 1))
                assert (await memory.read("  \n")).items == ()
            state, footprint = memory.state(), memory.footprint()
        frames = Frames(tmp_path)
        calls = frames.calls()
    # A fact and the observation made of it say the same, and come from the same turn.
    assert len(recalled.items) == 10
    assert [item.turn_ids for item in recalled.items[:2]] == [("t18",), ("t18",)]
    # Dated by its batch; the fact itself says the day of the turn.
    assert recalled.items[0].text.startswith("[20 May 2024, 09:30] Ben bought 18 drums at market number18")
    # Ten facts are consolidated eight at a time: two calls. Each embeds its facts' queries, and its new observations.
    for turn in (10, 20):
        here = calls.filter(turn=turn).group_by("stage", "kind", "background").len()
        assert {row[:3]: row[3] for row in here.rows()} == {
            ("write", "chat", 0): 1, ("write", "embed", 0): 1, ("manage", "chat", 0): 2, ("manage", "embed", 0): 4,
        }  # fmt: skip
    assert calls.filter(turn=21).select("stage", "kind").rows() == [("read", "embed")]
    held = ("facts", "observations", "documents", "pending_consolidation", "failed_consolidation", "lost_writes")
    assert [state[name] for name in held] == [20, 20, 2, 0, 0, 0]
    assert footprint.bytes > 40 * 256 * 4  # forty vectors at least
    assert footprint.tokens > 40 * 10
    # Its own report, where nothing went wrong: every chat call, and the embeddings of its writes.
    chats = calls.filter(kind="chat")
    assert state["reported_calls"] == chats.height
    assert state["reported_input_tokens"] == chats["input_tokens"].sum()
    assert state["reported_output_tokens"] == chats["output_tokens"].sum()
    assert state["reported_embedding_tokens"] == calls.filter(pl.col("stage") != "read")["embedding_tokens"].sum()


async def test_the_ledger_equals_the_models_own_books_over_four_units_of_a_hundred_turns_at_once(
    tmp_path: Path,
) -> None:
    backbone, embedder = Told(), CountingHashing()

    async def play(gateway: Gateway, unit: UnitMeter) -> None:
        async with memory_of(tmp_path, gateway, unit) as memory:
            for last in range(10, 101, 10):
                with unit.scope(last, "read"):
                    await memory.read(f"Who bought {THINGS[last % 15]}?")
                await write(memory, unit, said(last - 9, last), at=last)
            assert memory.state()["facts"] == 100
            assert memory.lost() is None

    async with house(tmp_path, backbone, embedder, units=4) as (_, gateway, units):
        await asyncio.gather(*(play(gateway, unit) for unit in units))
        frames = Frames(tmp_path)
        calls = frames.calls()
        chats = calls.filter(kind="chat")
        prompts = {call: "".join(frames.prompt(call)) for call in chats.filter(unit=3)["call"]}
    sums = calls.select(pl.col("^.*_tokens$").sum()).to_dicts()[0]
    assert backbone.served == {"calls": chats.height, "input": sums["input_tokens"], "output": sums["output_tokens"]}
    assert embedder.served == sums["embedding_tokens"]
    # Every call stands at the turn whose batch it is about, consolidation under manage, and about no other unit's.
    for call in chats.filter(unit=3).to_dicts():
        prompt = prompts[call["call"]]
        consolidates = "memory consolidation system" in prompt
        assert call["stage"] == ("manage" if consolidates else "write")
        new = prompt.rpartition("### New facts" if consolidates else "\nContent:\n")[2].partition("### Existing")[0]
        assert {int(number) for number in MARKET.findall(new)} <= set(range(call["turn"] - 9, call["turn"] + 1))
    assert chats.filter(stage="write").group_by("unit", "turn").len()["len"].to_list() == [1] * 40
    assert chats.filter(stage="manage").height >= 4 * 10 * 2
    assert calls["background"].sum() == 0


async def test_what_hindsight_cannot_read_is_a_loss_and_never_an_empty_memory(tmp_path: Path) -> None:
    told = Told()
    retains = [
        ("Here is what I found: Ann likes tea.", "stop", "was no JSON object: 'Here is what I found"),
        ("", "stop", "was empty"),
        ('{"memories": []}', "stop", "held no facts: '{\"memories\": []}'"),
        ('{"facts": [{"what": "Ann li', "length", "its facts were cut off at the model's token limit"),
        ("[1, 2]", "stop", "was no JSON object: '[1, 2]'"),
    ]
    async with (
        house(tmp_path, told, Hashing()) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, retries=0) as memory,
    ):
        for number, (text, finish, why) in enumerate(retains, start=1):
            told.answers["retain"], told.finish_reason = text, finish
            await write(memory, unit, said(number, number), at=number)
            assert why in (memory.all_lost() or ""), text
        assert memory.state()["lost_turns"] == len(retains)

        told.answers["retain"], told.finish_reason = '{"facts": []}', "stop"  # nothing worth keeping: that is no loss
        before = memory.state()["lost_writes"]
        await write(memory, unit, said(50, 50), at=50)
        assert memory.state()["lost_writes"] == before
        assert memory.all_lost() is None

        # Facts that are kept, of which nothing is made: no turn is lost, but it does not go unsaid.
        del told.answers["retain"]
        for at, text in ((60, "I would rather not."), (70, '{"observations": []}'), (80, "")):
            told.answers["consolidation"] = text
            memory.faults()
            await write(memory, unit, said(at, at + 1), at=at)
            [fault] = memory.faults()
            assert fault.what.startswith("2 facts were not consolidated: the model's reply"), text
            assert (fault.turn_ids, fault.reply) == ((), text)
        assert memory.state()["facts"] == 6
        assert memory.state()["observations"] == 0
        told.answers["consolidation"] = '{"creates": [], "updates": [], "deletes": []}'  # chatter: no loss either
        await write(memory, unit, said(90, 91), at=90)
        assert memory.faults() == []


async def test_whatever_it_is_told_and_finds_around_it_the_upstream_sees_the_settings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "HINDSIGHT_API_LLM_MODEL=stray\nHINDSIGHT_API_RETAIN_LLM_MODEL=stray\nHINDSIGHT_API_LLM_PROVIDER=ollama\n"
    (tmp_path / ".env").write_text(hostile)
    for line in (
        *hostile.split(),
        "HINDSIGHT_API_CONSOLIDATION_LLM_BASE_URL=http://127.0.0.1:9",
        "OPENAI_API_KEY=stray",
    ):
        monkeypatch.setenv(*line.split("=", 1))
    facts = json.dumps({"facts": [{"what": "Ann likes tea", "when": "N/A", "where": "N/A", "who": "Ann", "why": "N/A",
                                   "fact_type": "world"}]})  # fmt: skip
    none = json.dumps({"creates": [], "updates": [], "deletes": []})
    async with ScriptedUpstream(dimensions=64) as upstream:
        setting = Setting(
            backbone="endpoint", model=MODEL, base_url=upstream.base_url, temperature=0.7, effort="low",
            max_output_tokens=500,
        )  # fmt: skip
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001)
        embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY, first_wait_s=0.001)
        async with house(tmp_path, backbone, embedder, setting=setting) as (_, gateway, [unit]):
            # Only the first vector tells how long they are.
            async with memory_of(tmp_path, gateway, unit, model="gpt-4.1-nano", retries=0) as memory:
                for number in range(1, 4):
                    upstream.script(Say(facts), Say(), Say(), Say(none))
                    await write(memory, unit, said(number, number), at=number)
                assert memory.state()["facts"] == 3
                with unit.scope(4, "read"):
                    await memory.read("What does Ann like?")
                # A model call that fails is an error of the write, and not a loss.
                upstream.script(Fail(400, {"error": {"message": "out of credit", "type": "x"}}))
                with unit.scope(5, "write"), pytest.raises(RefusedError, match=r"write failed: .*out of credit"):
                    await memory.write(said(5, 5))
            asked = Frames(tmp_path).calls()["asked"].to_list()
        await backbone.close()
        await embedder.close()
    chats = [served.body for served in upstream.log if served.path.endswith("/chat/completions")]
    embeddings = [served.body for served in upstream.log if served.path.endswith("/embeddings")]
    assert len(chats) == 7
    assert {(body["model"], body["temperature"], body["reasoning_effort"], body["max_tokens"]) for body in chats} == {
        (MODEL, 0.7, "low", 500)
    }
    assert {body["model"] for body in embeddings} == {EMBEDDING_MODEL}
    assert all(json.loads(words)["model"] == "gpt-4.1-nano" for words in asked if words and "model" in words)


async def test_a_server_that_dies_ends_its_unit_with_its_last_words_and_leaves_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, Extractive(), Hashing()) as (_, gateway, [unit]):
        async with memory_of(tmp_path, gateway, unit) as memory:
            commands = running(tmp_path)
            assert any("postgres" in command for command in commands.values())
            [server] = [pid for pid, command in commands.items() if "hindsight_api.main" in command]
            os.kill(server, signal.SIGKILL)
            with (
                unit.scope(1, "write"),
                pytest.raises(SidecarError, match=r"Hindsight's server ended with exit code -9"),
            ):
                await memory.write(said(1, 1))
        assert await gone(tmp_path)


async def test_nothing_outlives_a_sidecar_that_is_killed(tmp_path: Path) -> None:
    async with house(tmp_path, Extractive(), Hashing()) as (_, gateway, [unit]), memory_of(tmp_path, gateway, unit):
        [sidecar] = [pid for pid, command in running(tmp_path).items() if "hindsight/sidecar.py" in command]
        os.kill(sidecar, signal.SIGKILL)
        assert await gone(tmp_path)


async def test_consolidation_that_does_not_come_to_an_end_has_a_time_limit_with_a_name(tmp_path: Path) -> None:
    told = Told()
    told.waits_s["consolidation"] = 60
    async with house(tmp_path, told, Hashing()) as (_, gateway, [unit]):
        async with memory_of(tmp_path, gateway, unit, limits_s={"settle": 1.0}) as memory:
            with pytest.raises(NotSettledError, match=r"did not settle within 1 s"):
                await write(memory, unit, said(1, 2), at=2)
        assert await gone(tmp_path)


def cell(**setting: Any) -> Experiment:
    rules = {"rules": Setting(backbone="extractive", embedder="hashing", **setting)}
    workload = WorkloadUse(name="synthetic", protocols=("serve",), options={"cells": [[15, 50]], "seeds": 1})
    return Experiment(name="cell", memories=(MemoryUse(name="hindsight"),), settings=rules, workloads=(workload,))


async def test_a_spent_budget_stops_the_smallest_cell_and_a_higher_one_finishes_it_without_paying_twice(
    tmp_path: Path,
) -> None:
    at = tmp_path / "run"
    outcome = await run(cell(max_output_tokens=4000), at, Limits(max_tokens=60_000))
    assert outcome.stopped is not None
    assert outcome.stopped.startswith("budget spent")
    assert Frames(at).units()["status"].to_list() == ["interrupted"]
    before = Frames(at).table("calls")
    assert before.filter(kind="chat", stage="manage").height >= 1  # it stopped amid consolidation

    outcome = await run(cell(max_output_tokens=4000), at)
    frames = Frames(at)
    assert (outcome.done, outcome.failed, outcome.stopped) == (1, 0, None), frames.units()["error"].to_list()
    calls = frames.table("calls")
    assert calls["replays"].sum() == before.height
    assert calls["claimed"].min() == 1
    # Fifteen turns hold one ingest of ten, at turn ten.
    ingested = frames.calls().filter(pl.col("kind") == "chat", pl.col("stage") != "answer")
    assert set(ingested["turn"]) == {10}
    states = frames.table("states")
    assert states["turn"].to_list() == [10]
    assert json.loads(states["state"][0])["observations"] > 0
    assert not list((at / "work").iterdir())


def test_a_request_is_known_again_whatever_the_clock_said_of_an_observation() -> None:
    def asked(day: str, text: str) -> ChatRequest:
        held = f'{{"id": "7", "text": "{text}", "mentioned_at": "{day}"}}\n'
        return ChatRequest((Message("user", ("### Existing observations\n", held)),))

    assert Hindsight.alike(asked("2026-11-30", "Tea")) == Hindsight.alike(asked("2026-12-01", "Tea"))
    assert Hindsight.alike(asked("2026-11-30", "Tea")) != Hindsight.alike(asked("2026-11-30", "Milk"))
