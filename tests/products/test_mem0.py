"""Mem0 itself, both lines of it, behind the gateway: everything metered, placed, and nothing lost in silence."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memgauge.backbones.base import ChatReply, ChatRequest, Emit
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
from memgauge.products.mem0.memory import Mem0, Mem0V1
from memgauge.products.process import RefusedError
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse
from product_units import THINGS, house, said, write
from scripted_upstream import EMBEDDING_MODEL, KEY, MODEL, Fail, Say, ScriptedUpstream
from support import Scripted

MISSING = [kind.product.name for kind in (Mem0, Mem0V1) if Environment(kind.product).standing().state != "installed"]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: memgauge install {' '.join(MISSING)}")
KINDS = pytest.mark.parametrize("kind", [Mem0, Mem0V1], ids=lambda kind: kind.card.name)


@asynccontextmanager
async def memory_of(
    kind: type[Mem0],
    directory: Path,
    gateway: Gateway,
    unit: UnitMeter,
    model: str | None = None,
    *,
    clean: bool = True,  # it has nothing to complain of
) -> AsyncIterator[Mem0]:
    home = directory / f"unit-{unit.unit}"
    home.mkdir()
    access = GatewayAccess(
        gateway.base_url, unit.key, model or unit.model, model or unit.embedding_model, unit.embedding_dimensions
    )
    memory = kind(access, home)
    await memory.start()
    yield memory
    await memory.close()
    assert not clean or "Traceback" not in (home / "stderr.log").read_text()


@KINDS
async def test_facts_are_stored_found_again_and_traced_to_their_turns(kind: type[Mem0], tmp_path: Path) -> None:
    async with (
        house(tmp_path, Extractive(), Hashing()) as (_, gateway, [unit]),
        memory_of(kind, tmp_path, gateway, unit) as memory,
    ):
        await write(memory, unit, said(1, 10), at=10)
        await write(memory, unit, said(11, 20), at=20)
        with unit.scope(21, "read"):
            recalled = await memory.read("Who bought drums at market number18?")
            assert (await memory.read("  \n")).items == ()
        assert len(recalled.items) == 10
        assert recalled.items[0].turn_ids == ("t18",)
        # Dated by its batch, as Mem0's own field for it allows; the fact itself says the day of the turn.
        assert recalled.items[0].text.startswith("[20 May 2024, 09:30] Ben bought 18 drums at market number18")
        assert "18 May 2024" in recalled.items[0].text
        state = memory.state()
        assert (state["memories"], state["added"], state["lost_writes"]) == (20, 20, 0)
        assert memory.footprint().bytes > 20 * 256 * 4  # twenty vectors at least
        assert memory.footprint().tokens > 20 * 10


@KINDS
async def test_its_calls_stand_under_their_stages(kind: type[Mem0], tmp_path: Path) -> None:
    async with house(tmp_path, Extractive(), Hashing()) as (_, gateway, [unit]):
        async with memory_of(kind, tmp_path, gateway, unit) as memory:
            await write(memory, unit, said(1, 10), at=10)
            with unit.scope(11, "read"):
                await memory.read("Who bought drums?")
        calls = Frames(tmp_path).calls().group_by("turn", "stage", "kind", "background").len()
    one_call = {(10, "write", "chat"): 1, (10, "write", "embed"): 2, (11, "read", "embed"): 1}
    # 1.0.x embeds its ten facts one by one, and manages them with a call of its own.
    two_calls = {**one_call, (10, "write", "embed"): 10, (10, "manage", "chat"): 1}
    found = {tuple(row[:3]): row[4] for row in calls.rows()}
    assert found == (one_call if kind is Mem0 else two_calls)
    assert set(calls["background"]) == {0}


@KINDS
async def test_batches_longer_than_ten_messages_are_split(kind: type[Mem0], tmp_path: Path) -> None:
    async with house(tmp_path, Extractive(), Hashing()) as (_, gateway, [unit]):
        async with memory_of(kind, tmp_path, gateway, unit) as memory:
            await write(memory, unit, said(1, 24), at=24)
            assert memory.state()["memories"] == 24
        calls = Frames(tmp_path).calls().filter(kind="chat", stage="write")
    assert calls.height == 3


class Counting(Extractive):
    """Keeps its own books of what it served."""

    def __init__(self) -> None:
        super().__init__()
        self.served = {"calls": 0, "input": 0, "output": 0}

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        reply = await super().chat(request, emit)
        self.served["calls"] += 1
        self.served["input"] += reply.raw["usage"]["prompt_tokens"]
        self.served["output"] += reply.raw["usage"]["completion_tokens"]
        return reply


class CountingHashing(Hashing):
    """The same, for embeddings."""

    def __init__(self) -> None:
        super().__init__(64)
        self.served = 0

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        reply = await super().embed(texts)
        self.served += reply.usage.embedding or 0
        return reply


@KINDS
async def test_the_ledger_equals_the_models_own_books_over_four_units_of_a_hundred_turns_at_once(
    kind: type[Mem0], tmp_path: Path
) -> None:
    backbone, embedder = Counting(), CountingHashing()

    async def play(gateway: Gateway, unit: UnitMeter) -> None:
        async with memory_of(kind, tmp_path, gateway, unit) as memory:
            for last in range(10, 101, 10):
                with unit.scope(last, "read"):
                    await memory.read(f"Who bought {THINGS[last % 15]}?")
                await write(memory, unit, said(last - 9, last), at=last)
            assert memory.state()["memories"] == 100

    async with house(tmp_path, backbone, embedder, units=4) as (_, gateway, units):
        await asyncio.gather(*(play(gateway, unit) for unit in units))
        calls = Frames(tmp_path).calls()
        prompts = {row["call"]: "".join(Frames(tmp_path).prompt(row["call"]))
                   for row in calls.filter(kind="chat", stage="write", unit=3).to_dicts()}  # fmt: skip
    sums = calls.select(pl.col("^.*_tokens$").sum()).to_dicts()[0]
    assert backbone.served == {
        "calls": calls.filter(kind="chat").height,
        "input": sums["input_tokens"],
        "output": sums["output_tokens"],
    }
    assert embedder.served == sums["embedding_tokens"]
    assert calls.filter(kind="chat").height == (40 if kind is Mem0 else 80)
    # Every extraction stands at the turn whose batch it holds, and holds no other unit's.
    for call in calls.filter(kind="chat", stage="write", unit=3).to_dicts():
        new = prompts[call["call"]].rpartition("New Messages")[2]
        markets = [int(number) for number in re.findall(r"market number(\d+)", new)]
        assert markets == list(range(call["turn"] - 9, call["turn"] + 1))


REPLIES = [
    ("Here is what I found: Ann likes tea.", "was no JSON"),
    ('{"memory": [{"text": "Ann li', "cut off at its token limit, was no JSON"),
    ("", "was empty"),
    ("```json\n\n```", "was empty"),
    ('{"memories": []}', "held no list named"),
    ("[1, 2]", "held no list named"),
    ('{"memory": [1, 2], "facts": null}', "Mem0 broke on the model's reply"),
    ('{"memory": "none", "facts": null}', "Mem0 broke on the model's reply"),
]


class Parrot(Scripted):
    """Says one thing, cut off where it has no end."""

    text = "{}"

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        self._replies = [self.text]
        reply = await super().chat(request, emit)
        if self.text.endswith("li"):
            reply.raw["choices"][0]["finish_reason"] = "length"
        return reply


@KINDS
async def test_a_reply_that_mem0_cannot_read_is_a_lost_write_and_never_an_empty_memory(
    kind: type[Mem0], tmp_path: Path
) -> None:
    parrot = Parrot()
    # 1.0.x takes the last two for a list that is not there.
    replies = REPLIES if kind is Mem0 else [*REPLIES[:-2], *((text, "held no list named") for text, _ in REPLIES[-2:])]
    async with house(tmp_path, parrot, Hashing()) as (_, gateway, [unit]):
        home = tmp_path / "unit-1"
        home.mkdir()
        memory = kind(GatewayAccess(gateway.base_url, unit.key, "m", "e", 256), home)
        for number, (text, why) in enumerate(replies, start=1):
            parrot.text = text
            await write(memory, unit, said(number, number), at=number)
            assert memory.state()["lost_writes"] == number, text
            assert why in (memory.all_lost() or ""), text
            [fault] = memory.faults()
            assert fault.reply == text

        parrot.text = '{"memory": [], "facts": []}'  # nothing worth keeping: that is no loss
        await write(memory, unit, said(50, 50), at=50)
        assert memory.state()["lost_writes"] == len(replies)
        assert memory.all_lost() is None
        assert f"lost {len(replies)} of {len(replies) + 1} turns in {len(replies)} writes" in (memory.lost() or "")
        await memory.close()


async def test_what_the_second_call_of_1_0_loses_is_noticed_too(tmp_path: Path) -> None:
    facts = json.dumps({"facts": ["Ann likes tea", "Ben has a cat"]})
    tea = {"id": "0", "text": "Ann likes tea", "event": "ADD"}
    unknown = json.dumps({"memory": [{"id": "7", "text": "Ann likes coffee", "event": "UPDATE"}]})
    half = json.dumps({"memory": [tea, {"id": "9", "text": "x", "event": "DELETE"}]})
    update = json.dumps({"memory": [{**tea, "text": "Ann likes green tea", "event": "UPDATE"}]})
    backbone = Scripted(facts, "Done!", facts, unknown, facts, half, facts, update)
    async with house(tmp_path, backbone, Hashing()) as (_, gateway, [unit]):
        home = tmp_path / "unit-1"
        home.mkdir()
        memory = Mem0V1(GatewayAccess(gateway.base_url, unit.key, "m", "e", 256), home)
        seen = []
        for number in range(1, 5):
            await write(memory, unit, said(number, number), at=number)
            state = memory.state()
            seen.append((state["lost_writes"], state["dropped"], state["memories"], state["updated"]))
        # Prose: all lost. An update of a memory that is not there: all lost, one action dropped. One of two
        # actions carried out: nothing lost, one dropped. Then an update that works.
        assert seen == [(1, 0, 0, 0), (2, 1, 0, 0), (2, 2, 1, 0), (2, 2, 1, 1)]
        with unit.scope(5, "read"):
            [item] = (await memory.read("What does Ann like?")).items
        assert item.text.endswith("Ann likes green tea\n")
        assert set(item.turn_ids) <= {"t3", "t4"}  # where it was first said, and where it was changed
        await memory.close()


@KINDS
async def test_a_model_call_that_fails_fails_the_write_also_where_mem0_goes_on(
    kind: type[Mem0], tmp_path: Path
) -> None:
    facts = '{"memory": [], "facts": ["Ann likes tea"]}'
    async with ScriptedUpstream() as upstream:
        setting = Setting(backbone="endpoint", model=MODEL, base_url=upstream.base_url)
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001)
        embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY, first_wait_s=0.001)
        async with (
            house(tmp_path, backbone, embedder, setting=setting) as (_, gateway, [unit]),
            memory_of(kind, tmp_path, gateway, unit, clean=False) as memory,
        ):
            refused = Fail(400, {"error": {"message": "out of credit", "type": "x"}})
            # An embedding stands before the extraction of 2.x, and between the two calls of 1.0.x, which would log
            # the failure of its second one and report that there was nothing to remember.
            upstream.script(*([Say(), refused] if kind is Mem0 else [Say(facts), Say(), refused]))
            with unit.scope(1, "write"), pytest.raises(RefusedError, match=r"write failed: .*out of credit"):
                await memory.write(said(1, 1))
        await backbone.close()
        await embedder.close()


@KINDS
async def test_whatever_model_it_is_told_the_upstream_sees_the_settings_alone(kind: type[Mem0], tmp_path: Path) -> None:
    facts = json.dumps({"facts": ["Ann likes tea"], "memory": [{"id": "0", "text": "Ann likes tea", "event": "ADD"}]})
    async with ScriptedUpstream() as upstream:
        setting = Setting(
            backbone="endpoint", model=MODEL, base_url=upstream.base_url, temperature=0.7, effort="low",
            max_output_tokens=500,
        )  # fmt: skip
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001)
        embedder = EndpointEmbedder(upstream.base_url, EMBEDDING_MODEL, KEY, first_wait_s=0.001)
        async with house(tmp_path, backbone, embedder, setting=setting) as (_, gateway, [unit]):
            async with memory_of(kind, tmp_path, gateway, unit, model="gpt-4.1-nano") as memory:
                for number in range(1, 4):
                    embedding = Say()
                    steps = [embedding, Say(facts), embedding] if kind is Mem0 else [Say(facts), embedding, Say(facts)]
                    upstream.script(*steps)
                    await write(memory, unit, said(number, number), at=number)
                assert memory.state()["memories"] == (1 if kind is Mem0 else 3)  # 2.x knows a text that it holds
                with unit.scope(4, "read"):
                    await memory.read("What does Ann like?")
            asked = Frames(tmp_path).calls()["asked"].to_list()
        await backbone.close()
        await embedder.close()
    chats = [served.body for served in upstream.log if served.path.endswith("/chat/completions")]
    embeddings = [served.body for served in upstream.log if served.path.endswith("/embeddings")]
    assert len(chats) == (3 if kind is Mem0 else 6)
    assert {(body["model"], body["temperature"], body["reasoning_effort"], body["max_tokens"]) for body in chats} == {
        (MODEL, 0.7, "low", 500)
    }
    assert {body["model"] for body in embeddings} == {EMBEDDING_MODEL}
    assert all(json.loads(words)["model"] == "gpt-4.1-nano" for words in asked if words and "model" in words)


def cell(*memories: str, **options: Any) -> Experiment:
    rules = {"rules": Setting(backbone="extractive", embedder="hashing")}
    workload = WorkloadUse(name="synthetic", protocols=("serve",), options={"cells": [[15, 50]], "seeds": 1})
    return Experiment(
        name="cell", memories=tuple(MemoryUse(name=name) for name in memories), settings=rules, workloads=(workload,)
    )


async def test_the_smallest_cell_of_the_grid_is_played(tmp_path: Path) -> None:
    outcome = await run(cell("mem0", "mem0-v1"), tmp_path / "run", Limits(concurrency=2))
    frames = Frames(tmp_path / "run")
    assert (outcome.done, outcome.failed) == (2, 0), frames.units()["error"].to_list()
    # Fifteen turns hold one ingest of ten, at turn ten.
    ingested = frames.calls().filter(pl.col("kind") == "chat", pl.col("stage") != "answer")
    assert ingested.select("unit", "turn", "stage").rows() == [(1, 10, "write"), (2, 10, "write"), (2, 10, "manage")]
    states = frames.table("states")
    assert states["turn"].to_list() == [10, 10]
    assert all(json.loads(state)["memories"] > 0 for state in states["state"])
    assert not list((tmp_path / "run" / "work").iterdir())


async def test_a_unit_that_lost_everything_has_failed_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parrot = Parrot()
    parrot.text = "I would rather not."
    monkeypatch.setattr(Extractive, "chat", parrot.chat)
    outcome = await run(cell("mem0"), tmp_path / "run")
    assert (outcome.done, outcome.failed) == (0, 1)
    [error] = Frames(tmp_path / "run").units()["error"].to_list()
    assert error.startswith("EverythingLostError: mem0 lost 10 of 10 turns in 1 writes; the last: the model's reply")


async def test_a_spent_budget_stops_the_run_and_a_higher_one_finishes_it_without_paying_twice(tmp_path: Path) -> None:
    outcome = await run(cell("mem0"), tmp_path / "run", Limits(max_tokens=16_000))
    assert outcome.stopped is not None
    assert outcome.stopped.startswith("budget spent")
    assert Frames(tmp_path / "run").units()["status"].to_list() == ["interrupted"]
    before = Frames(tmp_path / "run").table("calls").height

    outcome = await run(cell("mem0"), tmp_path / "run")
    assert (outcome.done, outcome.failed, outcome.stopped) == (1, 0, None)
    calls = Frames(tmp_path / "run").table("calls")
    assert calls["replays"].sum() == before
    assert calls["claimed"].min() == 1
