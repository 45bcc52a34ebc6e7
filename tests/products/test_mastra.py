"""Mastra Observational Memory itself, behind the gateway: everything metered and placed, nothing lost in silence."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memgauge.backbones.base import ChatReply, ChatRequest, Emit
from memgauge.backbones.endpoint import Endpoint
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories.base import GatewayAccess
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import UnitMeter
from memgauge.products.environment import Environment
from memgauge.products.mastra.memory import MASTRA, MastraOM
from memgauge.products.process import BESIDE, NotSettledError, RefusedError, SidecarError
from memgauge.products.sidecar import AnySidecar
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse
from product_units import house, said
from product_units import write as write_at
from scripted_upstream import KEY, MODEL, Fail, Say, ScriptedUpstream
from support import Scripted

STANDING = Environment(MASTRA).standing()
pytestmark = pytest.mark.skipif(STANDING.state != "installed", reason="not installed: memgauge install mastra")
MODES = pytest.mark.parametrize("mode", ["buffered", "sync"])
# By the product's count a turn of these has 16 or 17 tokens, and a conversation 24 of its own.
SCALED: dict[str, Any] = {"message_tokens": 800, "observation_tokens": 600}


@asynccontextmanager
async def memory_of(
    directory: Path, gateway: Gateway, unit: UnitMeter, model: str | None = None, **options: Any
) -> AsyncIterator[MastraOM]:
    home = directory / f"unit-{unit.unit}"
    home.mkdir()
    access = GatewayAccess(gateway.base_url, unit.key, model or unit.model, unit.embedding_model)
    memory = MastraOM(access, home, **options)
    try:
        await memory.start()
        yield memory
    finally:
        await memory.close()


async def write(memory: MastraOM, unit: UnitMeter, turns: Sequence[Turn]) -> None:
    """Each turn by itself, at the turn of its number."""
    for turn in turns:
        await write_at(memory, unit, [turn], int(turn.id[1:]))


async def texts(memory: MastraOM, at: datetime | None = None) -> list[str]:
    return [item.text for item in (await memory.read("What was bought?", at)).items]


async def test_what_is_not_observed_yet_is_recalled_verbatim(tmp_path: Path) -> None:
    async with (
        house(tmp_path, Extractive()) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit) as memory,
    ):
        assert await texts(memory) == []
        await write(memory, unit, said(1, 5))
        recalled = await memory.read("Who bought drums?")
        assert [(item.text, item.turn_ids) for item in recalled.items] == [(t.line(), (t.id,)) for t in said(1, 5)]
        state = memory.state()
        assert (state["tail_turns"], state["log_entries"], state["generation"]) == (5, 0, 0)
    assert Frames(tmp_path).calls().height == 0


@MODES
async def test_what_is_observed_is_recalled_from_the_log_and_traced_to_its_turns(mode: str, tmp_path: Path) -> None:
    async with (
        house(tmp_path, Extractive()) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, mode=mode, message_tokens=400) as memory,
    ):
        await write(memory, unit, said(1, 30))
        items = (await memory.read("Who bought drums?")).items
        state = memory.state()
    entries = [item for item in items if item.text.startswith("* ")]
    assert state["log_entries"] == len(entries) > 10
    said_by = [re.findall("market number([0-9]+)", item.text)[0] for item in entries]
    assert [item.turn_ids for item in entries] == [(f"t{number}",) for number in said_by]
    # Log before tail, without a gap between them: what grows stands at the end of the prompt.
    assert [item.turn_ids[0] for item in items if item.turn_ids] == [turn.id for turn in said(1, 30)]
    assert items[-1].text == said(30, 30)[0].line()
    assert sum(not item.text.startswith("* ") and bool(item.turn_ids) for item in items) == state["tail_turns"]


async def test_dates_of_the_log_are_told_as_of_the_question(tmp_path: Path) -> None:
    async with (
        house(tmp_path, Extractive()) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, mode="sync", message_tokens=100) as memory,
    ):
        await write(memory, unit, said(1, 8))
        asked_early = "".join(await texts(memory, datetime(2024, 5, 8, 12)))
        asked_late = "".join(await texts(memory, datetime(2024, 5, 22, 12)))
        unasked = "".join(await texts(memory))
    assert "Date: May 1, 2024 (1 week ago)" in asked_early
    assert "Date: May 1, 2024 (3 weeks ago)" in asked_late
    # Where nobody says when it is asked, it is when the last turn was said.
    assert unasked == asked_early


async def test_two_people_are_user_and_assistant_by_name_and_roles_stay_roles(tmp_path: Path) -> None:
    scripted = Scripted(*["<observations>\n* 🔴 noted\n</observations>"] * 4)
    async with house(tmp_path, scripted, units=2) as (_, gateway, [people, roles]):
        async with memory_of(tmp_path, gateway, people, mode="sync", message_tokens=50) as memory:
            await write(memory, people, said(1, 2))
        async with memory_of(tmp_path, gateway, roles, mode="sync", message_tokens=50) as memory:
            service = Turn("t1", "assistant", "I am at your service, whatever it may be that you want from me today.")
            tea = Turn("t2", "user", "I would like a cup of tea, with milk and with two lumps of sugar, please.")
            await write(memory, roles, [service, tea])
    told = ["\n".join(message.text for message in request.messages[1:]) for request in scripted.requests]
    assert "User (9:30 AM): Ann: I bought 1" in told[0]
    assert "Assistant (9:30 AM): Ben: I bought 2" in told[0]
    assert "May 1 2024:" in told[0]
    assert "May 2 2024:" in told[0]
    # Without a time a dialogue begins at the start of 2024, never today: two runs of it have to be alike.
    assert "Jan 1 2024:" in told[1]
    assert "Assistant (12:00 AM): I am at your service" in told[1]
    assert "User: I would like a cup of tea" in told[1]


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


@MODES
async def test_the_ledger_equals_the_models_own_books_and_every_call_stands_at_its_turn(
    mode: str, tmp_path: Path
) -> None:
    backbone = Counting()

    async def play(gateway: Gateway, unit: UnitMeter) -> None:
        options = {"mode": mode, "reflection_cursor": "fixed", **SCALED}
        async with memory_of(tmp_path, gateway, unit, **options) as memory:
            await write(memory, unit, said(1, 100))
            assert memory.lost() is None

    async with house(tmp_path, backbone, units=4) as (_, gateway, units):
        await asyncio.gather(*(play(gateway, unit) for unit in units))
    frames = Frames(tmp_path)
    calls = frames.calls()
    sums = calls.select(pl.col("^.*_tokens$").sum()).to_dicts()[0]
    assert backbone.served == {
        "calls": calls.height, "input": sums["input_tokens"], "output": sums["output_tokens"],
    }  # fmt: skip
    assert set(calls["background"]) == {0}
    # Every unit does the same, and no call of one holds another's: its first observation begins at its own turn 1.
    per_unit = calls.group_by("unit", "stage").len().sort("unit", "stage").rows()
    assert per_unit == [(unit, stage, size) for unit in range(1, 5) for _, stage, size in per_unit[:2]]
    observed = 0
    for call in calls.filter(unit=3).sort("turn").to_dicts():
        new = "".join(frames.prompt(call["call"])).rpartition("## New Message History to Observe")[2]
        markets = [int(number) for number in re.findall(r"market number(\d+)", new)]
        if call["stage"] == "manage":
            assert "## OBSERVATIONS TO REFLECT ON" in new
            assert max(markets) <= call["turn"]
            continue
        # An observer's call ends with the turn that it is made at. No turn is left out; some are there twice, since a
        # buffered reflection throws away what is buffered.
        assert markets == list(range(markets[0], call["turn"] + 1))
        assert markets[0] <= observed + 1
        observed = call["turn"]
    assert observed > 80
    assert calls.filter(unit=3, stage="manage")["turn"].max() > 40


async def test_as_shipped_a_reflection_makes_the_next_turns_be_observed_again(tmp_path: Path) -> None:
    async def observed(unit: UnitMeter, gateway: Gateway, cursor: str) -> list[int]:
        options = {"mode": "sync", "reflection_cursor": cursor, "message_tokens": 300, "observation_tokens": 700}
        async with memory_of(tmp_path, gateway, unit, **options) as memory:
            await write(memory, unit, said(1, 42))
        frames = Frames(tmp_path)
        numbers = []
        for call in frames.calls().filter(unit=unit.unit, stage="write")["call"]:
            new = "".join(frames.prompt(call)).rpartition("## New Message History to Observe")[2]
            numbers += [int(number) for number in re.findall(r"market number(\d+)", new)]
        return numbers

    async with house(tmp_path, Extractive(), units=2) as (_, gateway, [first, second]):
        shipped = await observed(first, gateway, "as-shipped")
        fixed = await observed(second, gateway, "fixed")
    assert fixed == list(range(1, fixed[-1] + 1))  # each once
    assert sorted(set(shipped)) == list(range(1, max(shipped) + 1))
    assert len(shipped) > 1.5 * max(shipped)  # many twice
    calls = Frames(tmp_path).calls().group_by("unit", "stage").len()
    counts = {row[:2]: row[2] for row in calls.rows()}
    assert counts[1, "write"] > counts[2, "write"]
    assert counts[1, "manage"] > counts[2, "manage"] > 0


class Observer(Scripted):
    """Says ``observation`` to whoever observes, and ``reflection`` to whoever reflects."""

    observation = ""
    reflection = ""

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        reflects = "OBSERVATIONS TO REFLECT ON" in request.messages[-1].text
        self._replies = [self.reflection if reflects else self.observation]
        return await super().chat(request, emit)


UNREADABLE = ["", "I would rather not.", "<observations>\n</observations>", "<observations>\nAnn likes tea"]


@pytest.mark.parametrize("reply", UNREADABLE)
async def test_an_observation_that_cannot_be_read_is_a_loss_where_its_turns_are_gone(
    reply: str, tmp_path: Path
) -> None:
    backbone = Observer()
    backbone.observation = reply
    async with (
        house(tmp_path, backbone) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, mode="sync", message_tokens=100) as memory,
    ):
        await write(memory, unit, said(1, 5))  # 24 + 5 times 16 tokens
        state = memory.state()
        assert (state["tail_turns"], state["lost_writes"], state["lost_turns"]) == (0, 1, 5)
        assert "mastra-om lost 5 of 5 turns in 1 writes; the last: the observer's reply held" in (
            memory.all_lost() or ""
        )
        backbone.observation = "* 🔴 Ann buys things"  # a list is enough, whatever stands around it
        await write(memory, unit, said(6, 10))
        assert memory.all_lost() is None
        assert memory.state()["lost_writes"] == 1
        assert "* 🔴 Ann buys things\n" in await texts(memory)


async def test_an_observation_that_was_cut_off_is_told_and_kept_as_far_as_it_goes(tmp_path: Path) -> None:
    backbone = Observer()
    backbone.observation = "<observations>\n* 🔴 Ann buys things\n* 🔴 Ben bu"
    async with (
        house(tmp_path, backbone) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, mode="sync", message_tokens=100) as memory,
    ):
        await write(memory, unit, said(1, 5))
        assert "* 🔴 Ann buys things\n" in await texts(memory)
        assert [fault.what for fault in memory.faults()] == [
            "the observer's reply was cut off; the log holds the beginning"
        ]


async def test_a_buffered_observation_that_cannot_be_read_costs_a_call_and_loses_nothing(tmp_path: Path) -> None:
    backbone = Observer()
    backbone.observation = "I would rather not."
    async with (
        house(tmp_path, backbone) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, message_tokens=400) as memory,
    ):
        await write(memory, unit, said(1, 10))
        state = memory.state()
        assert (state["tail_turns"], state["lost_writes"]) == (10, 0)
        [fault, *_] = memory.faults()
        assert fault.what == "the observer's reply held no observation; the messages are observed again later"
        assert (fault.reply, fault.turn_ids) == ("I would rather not.", ())
        assert await texts(memory) == [turn.line() for turn in said(1, 10)]


async def test_a_reflection_in_prose_replaces_the_log_and_is_a_loss(tmp_path: Path) -> None:
    backbone = Observer()
    backbone.observation = "<observations>\n* 🔴 Ann bought many things, and so did Ben\n</observations>"
    backbone.reflection = "I would rather not."
    options = {"mode": "sync", "message_tokens": 100, "observation_tokens": 20, "reflection_cursor": "fixed"}
    async with (
        house(tmp_path, backbone) as (_, gateway, [unit]),
        memory_of(tmp_path, gateway, unit, **options) as memory,
    ):
        await write(memory, unit, said(1, 10))
        assert memory.state()["generation"] > 0
        assert "the reflector's reply held no observation, and took the place of the log" in (memory.lost() or "")
        memory.faults()

        backbone.reflection = ""  # of that the product takes no notice: the log stays as it is
        before = memory.state()
        await write(memory, unit, said(11, 15))
        after = memory.state()
        [fault] = memory.faults()
    assert fault.what.startswith("Reflector produced empty output after 4 attempt(s)")
    assert after["generation"] == before["generation"]
    assert after["lost_writes"] == before["lost_writes"]


@MODES
async def test_a_model_call_that_fails_fails_the_write_also_where_the_product_goes_on(
    mode: str, tmp_path: Path
) -> None:
    async with ScriptedUpstream() as upstream:
        setting = Setting(backbone="endpoint", model=MODEL, base_url=upstream.base_url)
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001)
        async with house(tmp_path, backbone, setting=setting) as (_, gateway, [unit]):
            async with memory_of(tmp_path, gateway, unit, mode=mode, message_tokens=400) as memory:
                upstream.script(Fail(400, {"error": {"message": "out of credit", "type": "x"}}))
                with pytest.raises(RefusedError, match=r"a model call that failed: .*out of credit"):
                    await write(memory, unit, said(1, 30))
            # A refusal is not asked again: OM would otherwise wait for four minutes.
            assert len(upstream.log) == 1
        await backbone.close()


@MODES
async def test_whatever_it_is_told_the_upstream_sees_the_settings_alone(mode: str, tmp_path: Path) -> None:
    async with ScriptedUpstream() as upstream:
        setting = Setting(
            backbone="endpoint", model=MODEL, base_url=upstream.base_url, temperature=0.7, effort="low",
            max_output_tokens=500,
        )  # fmt: skip
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY, first_wait_s=0.001)
        upstream.script(*[Say("<observations>\n* 🔴 Ann and Ben bought some more things\n</observations>")] * 200)
        async with house(tmp_path, backbone, setting=setting) as (_, gateway, [unit]):
            options = {"mode": mode, "message_tokens": 200, "observation_tokens": 25}
            async with memory_of(tmp_path, gateway, unit, model="google/gemini-2.5-flash", **options) as memory:
                await write(memory, unit, said(1, 30))
            calls = Frames(tmp_path).calls()
        await backbone.close()
    bodies = [served.body for served in upstream.log]
    assert len(bodies) == calls.height > 4
    assert set(calls["stage"]) == {"write", "manage"}
    assert {(body["model"], body["temperature"], body["reasoning_effort"], body["max_tokens"]) for body in bodies} == {
        (MODEL, 0.7, "low", 500)
    }
    asked = [json.loads(words) for words in calls["asked"]]
    assert {words["model"] for words in asked} == {"google/gemini-2.5-flash"}
    # What the product would have had, observing and reflecting.
    assert {words["temperature"] for words in asked} == {0.3, 0}
    # It streams without asking for the usage, which is asked for and counted all the same.
    assert set(calls["usage_source"]) == {"upstream"}
    assert sum(served.tokens.completion for served in upstream.log) == calls["output_tokens"].sum()


async def test_a_product_that_hangs_or_never_settles_is_given_up_at_its_limit(tmp_path: Path) -> None:
    async with ScriptedUpstream() as upstream:
        backbone = Endpoint(upstream.base_url, MODEL, api_key=KEY)
        setting = Setting(backbone="endpoint", model=MODEL, base_url=upstream.base_url)
        async with house(tmp_path, backbone, units=2, setting=setting) as (_, gateway, [first, second]):
            upstream.script(Say(wait_s=30), Say(wait_s=30))
            limits = {"write": 0.7, "settle": 0.7}
            async with memory_of(tmp_path, gateway, first, mode="sync", message_tokens=50, limits_s=limits) as memory:
                with pytest.raises(SidecarError, match=r"gave no answer to 'write' within 0\.7 s"):
                    await write(memory, first, said(1, 5))
            async with memory_of(tmp_path, gateway, second, message_tokens=400, limits_s=limits) as memory:
                with pytest.raises(NotSettledError, match=r"did not settle within 0\.7 s"):
                    await write(memory, second, said(1, 10))
        await backbone.close()


async def test_one_that_is_killed_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, Extractive()) as (_, gateway, [unit]), memory_of(tmp_path, gateway, unit) as memory:
        await write(memory, unit, said(1, 2))
        pid = json.loads((tmp_path / "unit-1.sidecar").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(SidecarError, match="was ended by SIGKILL"):
            await write(memory, unit, said(3, 4))
    assert not (tmp_path / "unit-1.sidecar").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def cell(**options: Any) -> Experiment:
    rules = {"rules": Setting(backbone="extractive", embedder="hashing")}
    workload = WorkloadUse(name="synthetic", protocols=("serve",), options={"cells": [[15, 50]], "seeds": 1})
    memory = MemoryUse(name="mastra-om", options=options)
    return Experiment(name="cell", memories=(memory,), settings=rules, workloads=(workload,))


async def test_the_smallest_cell_is_far_below_the_published_thresholds(tmp_path: Path) -> None:
    outcome = await run(cell(), tmp_path / "run")
    frames = Frames(tmp_path / "run")
    assert (outcome.done, outcome.failed) == (1, 0), frames.units()["error"].to_list()
    assert set(frames.calls()["stage"]) == {"answer"}
    states = [json.loads(state) for state in frames.table("states")["state"]]
    assert [state["tail_turns"] for state in states] == list(range(1, 16))
    assert not list((tmp_path / "run" / "work").iterdir())


async def test_a_spent_budget_stops_the_run_and_a_higher_one_finishes_it_without_paying_twice(tmp_path: Path) -> None:
    scaled = cell(message_tokens=300, observation_tokens=500, max_tokens=1000)
    outcome = await run(scaled, tmp_path / "run", Limits(max_tokens=25_000))
    assert outcome.stopped is not None
    assert outcome.stopped.startswith("budget spent")
    before = Frames(tmp_path / "run").table("calls").height
    assert before > 0

    outcome = await run(scaled, tmp_path / "run")
    assert (outcome.done, outcome.failed, outcome.stopped) == (1, 0, None)
    # No request holds the clock or an id: all that was paid for is found again.
    calls = Frames(tmp_path / "run").table("calls")
    assert calls["replays"].sum() == before
    assert set(Frames(tmp_path / "run").calls()["stage"]) == {"answer", "write", "manage"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"mode": "async"}, r"mode is one of buffered, sync, not 'async'"),
        ({"reflection_cursor": True}, r"reflection_cursor is one of as-shipped, fixed, not True"),
        ({"message_tokens": 0}, r"message_tokens is a number of tokens, not 0"),
        ({"max_tokens": "8k"}, r"max_tokens is a number of tokens, not '8k'"),
    ],
)
def test_an_option_that_means_nothing_is_refused_before_anything_is_started(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=rf"^memory 'mastra-om': {why}$"):
        MastraOM.require(options)


async def test_a_memory_in_javascript_needs_nothing_but_the_helper(tmp_path: Path) -> None:
    script = tmp_path / "echo.mjs"
    helper = json.dumps((BESIDE / "memgauge_sidecar.mjs").as_uri())
    script.write_text(f"""
import {{ serve }} from {helper};
console.log("hello");
await serve({{
  write() {{ console.log("not for the protocol"); process.stdout.write("nor this\\n"); }},
  async read({{ query }}) {{ if (!query) throw new RangeError("no query"); return {{ items: [{{ text: query }}] }}; }},
}});
""")
    home = tmp_path / "home"
    home.mkdir()
    node = str(Environment(MASTRA).node)
    memory = AnySidecar(GatewayAccess("http://127.0.0.1:9/v1", "k", "m", "e"), home, command=[node, str(script)])
    await memory.write(said(1, 1))
    await memory.manage()
    assert [item.text for item in (await memory.read("tea?")).items] == ["tea?\n"]
    with pytest.raises(RefusedError, match="read failed: RangeError: no query"):
        await memory.read("")
    await memory.close()
    log = (home / "stderr.log").read_text()
    assert "not for the protocol" in log
    assert "nor this" in log
