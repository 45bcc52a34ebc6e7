"""LightRAG itself, behind the gateway: its calls follow closed forms, and nothing that it swallows stays untold."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memgauge import tokens
from memgauge.backbones.base import Backbone, ChatReply, ChatRequest, Emit
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.base import Embedder, EmbedReply
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.memories.base import GatewayAccess
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.products.environment import Environment
from memgauge.products.lightrag.memory import LightRAG
from memgauge.products.process import RefusedError
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse
from support import Scripted, new_ledger, refusal, unit_record

INSTALLED = Environment(LightRAG.product).standing().state == "installed"
pytestmark = pytest.mark.skipif(not INSTALLED, reason="not installed: memgauge install lightrag")

COMPLETE = "<|COMPLETE|>"
THINGS = ("Apples", "Boats", "Clocks", "Drums", "Engines", "Flutes", "Gloves", "Hats", "Inks", "Jars", "Kites", "Lamps",
          "Maps", "Nuts", "Ovens")  # fmt: skip


def said(first: int, last: int, session: str | None = None) -> list[Turn]:
    """Turns ``first`` to ``last``, one a day from 1 May 2024; each names its number and is like no other."""
    start = datetime(2024, 4, 30, 9, 30)
    return [
        Turn(f"t{i}", "Ann" if i % 2 else "Ben", f"I bought {i} {THINGS[i % 15]} at market number{i}.",
             start + timedelta(days=i), session)
        for i in range(first, last + 1)
    ]  # fmt: skip


def record(*fields: str) -> str:
    return "<|#|>".join(fields)


class Graph(Scripted):
    """Reads a chunk as ``records`` has it, gleans nothing, and writes summaries and keywords as it is told."""

    def __init__(self, records: Callable[[str], str]) -> None:
        super().__init__()
        self.records = records
        self.summary = "Ann buys many things."
        self.keywords = '{"high_level_keywords": ["buying"], "low_level_keywords": ["Ann"]}'

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        self._replies = [self._reply(request)]
        return await super().chat(request, emit)

    def _reply(self, request: ChatRequest) -> str:
        if "response_format" in request.params:
            return self.keywords
        match [message.role for message in request.messages]:
            case ["system", "user"]:
                return self.records(request.messages[1].text.split("```")[1])
            case ["system", "user", "assistant", "user"]:
                return COMPLETE
            case ["user"]:
                return self.summary
        raise AssertionError(request)


def bought(chunk: str) -> str:
    """Ann and one thing, and that she bought it: two entities and a relation, all of them told by the chunk."""
    number = chunk.rpartition("number")[2].rstrip(".\n")
    ann = record("entity", "Ann", "person", f"Ann was at market {number}.")
    thing = record("entity", f"Thing {number}", "artifact", f"Sold at market {number}.")
    link = record("relation", "Ann", f"Thing {number}", "buying", f"Ann bought it at market {number}.")
    return "\n".join((ann, thing, link, COMPLETE))


@asynccontextmanager
async def house(
    directory: Path, backbone: Backbone, embedder: Embedder | None = None, **options: Any
) -> AsyncIterator[tuple[UnitMeter, LightRAG]]:
    """A unit and its memory. What LightRAG logs holds no stack trace."""
    home = directory / "unit-1"
    home.mkdir(parents=True)
    async with gate(directory, backbone, embedder or Hashing(64)) as (gateway, unit):
        memory = memory_of(gateway, unit, home, **options)
        yield unit, memory
        await memory.close()
    assert "Task was destroyed" not in (home / "stderr.log").read_text()


@asynccontextmanager
async def gate(directory: Path, backbone: Backbone, embedder: Embedder) -> AsyncIterator[tuple[Gateway, UnitMeter]]:
    with new_ledger(directory / "ledger.sqlite", [unit_record(turns=100)]) as ledger:
        gateway = Gateway()
        await gateway.start()
        unit = Meter(ledger, Setting(), backbone, embedder).open(1)
        gateway.register(unit)
        yield gateway, unit
        await gateway.close()


def memory_of(gateway: Gateway, unit: UnitMeter, home: Path, **options: Any) -> LightRAG:
    access = GatewayAccess(gateway.base_url, unit.key, unit.model, unit.embedding_model, unit.embedding_dimensions)
    return LightRAG(access, home, **options)


async def write(memory: LightRAG, unit: UnitMeter, turns: Sequence[Turn], at: int) -> None:
    with unit.scope(at, "write"):
        await memory.write(turns)
    with unit.scope(at, "manage"):
        await memory.manage()


def counted(directory: Path) -> dict[tuple[int, str, str], int]:
    """How many calls stand under each turn, stage and kind."""
    calls = Frames(directory).calls().group_by("turn", "stage", "kind").len()
    return {(turn, stage, kind): count for turn, stage, kind, count in calls.rows()}


async def test_what_was_written_is_found_again_and_traced_to_its_turns(tmp_path: Path) -> None:
    async with house(tmp_path, Extractive()) as (unit, memory):
        await write(memory, unit, [*said(1, 6, "one"), *said(7, 12, "two")], at=12)
        assert memory.state()["waiting_turns"] == 6  # the second session may go on
        held = memory.footprint().bytes
        with unit.scope(13, "read"):
            recalled = await memory.read("Who bought Drums at market number3?")
            assert (memory.state()["documents"], memory.state()["waiting_turns"]) == (2, 0)
            assert memory.footprint().bytes > held
            assert (await memory.read(" \n")).items == (await memory.read("hm")).items == ()
        text = "".join(item.text for item in recalled.items)
        # LightRAG's own four parts, in its order.
        parts = [text.index(part) for part in ("(Entity)", "(Relationship)", "Document Chunks", "Reference Document")]
        assert parts == sorted(parts)
        records = [json.loads(item.text.split("\n")[at]) for item in recalled.items
                   for at, line in enumerate(item.text.split("\n")) if line.startswith('{"')]  # fmt: skip
        assert len(records) == len(recalled.items)
        of_drums = next(item for item, held in zip(recalled.items, records, strict=True)
                        if held.get("entity", "").startswith("Drums"))  # fmt: skip
        assert of_drums.turn_ids == ("t3",)
        chunks = {item.turn_ids for item, held in zip(recalled.items, records, strict=True) if "content" in held}
        assert chunks == {tuple(f"t{i}" for i in range(1, 7)), tuple(f"t{i}" for i in range(7, 13))}
        assert recalled.ranked is not None
        assert set(recalled.ranked[0]) in map(set, chunks)  # round-robin: a chunk, an entity, a relation, a chunk …
        assert memory.footprint().tokens > 100


@pytest.mark.parametrize("gleaning", [0, 1])
async def test_its_calls_follow_the_closed_form(gleaning: int, tmp_path: Path) -> None:
    async with house(tmp_path, Graph(bought), granularity="utterance", gleaning=gleaning) as (unit, memory):
        await write(memory, unit, said(1, 15), at=15)
        state = memory.state()
    # Ann gathers a description per turn: eight at turn 8 become one, and that one and seven more are eight at turn 15.
    assert (state["documents"], state["chunks"], state["summaries"]) == (15, 15, 2)
    assert (state["entities"], state["relations"], state["dropped_records"]) == (16, 15, 0)
    # One extraction per chunk and as many gleanings, two summaries; embeddings of entities, relations and chunk.
    assert counted(tmp_path) == {(15, "write", "chat"): 15 * (1 + gleaning) + 2, (15, "write", "embed"): 15 * 3}


async def test_a_long_session_is_cut_into_chunks_of_1200_tokens_that_share_100(tmp_path: Path) -> None:
    turns = said(1, 90, "one")
    lines = [turn.line().rstrip("\n") for turn in turns]
    chunks = len(range(0, tokens.count("\n".join(lines)), 1200 - 100))
    assert chunks > 2

    def ann(chunk: str) -> str:
        """Ann has a name of her own in every chunk, so that every chunk is led to."""
        return (
            record("entity", f"Ann {chunk.count('b')} {len(chunk)}", "person", "Ann bought things.") + f"\n{COMPLETE}"
        )

    async with house(tmp_path, Graph(ann)) as (unit, memory):
        await write(memory, unit, turns, at=90)
        assert counted(tmp_path) == {}
        with unit.scope(91, "read"):
            items = (await memory.read("What did Ann buy?")).items
    assert counted(tmp_path)[91, "write", "chat"] == 2 * chunks
    found = [item.turn_ids for item in items if '"reference_id"' in item.text]
    # The chunks overlap, and together they hold every turn.
    assert len(found) == chunks
    assert {turn for held in found for turn in held} == {turn.id for turn in turns}
    assert sum(map(len, found)) > 90


async def test_calls_of_one_session_run_side_by_side(tmp_path: Path) -> None:
    class Waiting(Graph):
        """Lets nobody go until two are there."""

        here = 0
        two = asyncio.Event()

        async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
            self.here += 1
            if self.here == 2:
                self.two.set()
            await asyncio.wait_for(self.two.wait(), 30)
            return await super().chat(request, emit)

    async with house(tmp_path, Waiting(lambda _: COMPLETE), gleaning=0) as (unit, memory):
        await write(memory, unit, [*said(1, 60, "one"), *said(61, 61, "two")], at=61)
        assert memory.state()["chunks"] > 1


async def test_lazy_indexing_waits_for_a_read_and_is_charged_to_manage(tmp_path: Path) -> None:
    async with house(tmp_path, Graph(bought), granularity="utterance", lazy=True) as (unit, memory):
        await write(memory, unit, said(1, 3), at=3)
        assert memory.state()["waiting_turns"] == 3
        assert counted(tmp_path) == {}
        with unit.scope(4, "read"):
            assert len((await memory.read("What did Ann buy?")).items) > 3
    assert counted(tmp_path) == {
        (4, "manage", "chat"): 6, (4, "manage", "embed"): 9, (4, "read", "chat"): 1, (4, "read", "embed"): 1,
    }  # fmt: skip


UNREADABLE = ["Ann likes tea, I would say.", "", '{"entities": [{"name": "Ann"}]}', record("entity", "Ann", "person")]


@pytest.mark.parametrize("mode", ["mix", "hybrid"])
async def test_a_reply_without_a_record_is_told_with_the_reply_and_costs_the_turn_only_where_the_graph_alone_leads(
    mode: str, tmp_path: Path
) -> None:
    backbone = Graph(bought)
    async with house(tmp_path, backbone, granularity="utterance", mode=mode) as (unit, memory):
        await write(memory, unit, said(1, 1), at=1)
        for number, reply in enumerate(UNREADABLE, start=2):
            backbone.records = lambda _, reply=reply: reply
            await write(memory, unit, said(number, number), at=number)
            [fault] = memory.faults()
            assert fault.what.endswith("held no record of an entity or relation")
            assert fault.reply == reply
            assert fault.turn_ids == ((f"t{number}",) if mode == "hybrid" else ())
        backbone.records = lambda _: COMPLETE  # nothing worth a record: that is no fault
        await write(memory, unit, said(9, 9), at=9)
        assert memory.faults() == []
        assert memory.state()["lost_turns"] == (4 if mode == "hybrid" else 0)
        with unit.scope(10, "read"):
            recalled = await memory.read("2024: Who said at 09:30: I bought them at market number?")
            found = {turn for item in recalled.items for turn in item.turn_ids}
        # As lost as they were told to be; the last is not led to either, since the model saw nothing in it.
        assert found == ({"t1"} if mode == "hybrid" else {"t1", "t2", "t3", "t4", "t5", "t9"})


async def test_single_records_that_cannot_be_used_are_counted_and_the_others_stand(tmp_path: Path) -> None:
    def spoilt(_: str) -> str:
        rows = [
            record("entity", "Ann", "person", "Ann likes tea."),
            record("entity", "Tea<|#|>time", "event", "Five o'clock."),  # a delimiter in a name
            record("entity", "Ben", "person", ""),
            record("relation", "Ann", "Ann", "self", "She is herself."),
        ]
        return "\n".join([*rows, COMPLETE])

    async with house(tmp_path, Graph(spoilt)) as (unit, memory):
        await write(memory, unit, said(1, 1, "one") + said(2, 2, "two"), at=2)
        state = memory.state()
        # LightRAG takes the second for a relation whose kind was mistaken: of Tea to time, which become entities.
        assert (state["entities"], state["relations"], state["dropped_records"]) == (3, 1, 2)
        assert memory.lost() is None


async def test_an_empty_summary_and_keywords_in_prose_are_told(tmp_path: Path) -> None:
    backbone = Graph(bought)
    backbone.summary = backbone.keywords = ""
    async with house(tmp_path, backbone, granularity="utterance") as (unit, memory):
        await write(memory, unit, said(1, 8), at=8)
        assert [fault.what for fault in memory.faults()] == ["a summary of descriptions was empty"]
        backbone.keywords = "I would look for Ann."
        with unit.scope(9, "read"):
            # LightRAG gives up on a question of fifty characters or more without keywords, and searches for a shorter.
            assert (await memory.read("What was it that Ann bought at the market that day?")).items == ()
            assert (await memory.read("What did Ann buy?")).items != ()
        assert [(fault.what, fault.reply, fault.turn_ids) for fault in memory.faults()] == 2 * [
            ("a reply held no keywords", "I would look for Ann.", ())
        ]
        assert memory.lost() is None


class Thinking(Graph):
    """Thinks until its token limit, and says nothing, when asked to."""

    endless = False

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        reply = await super().chat(request, emit)
        if self.endless:
            reply.raw["choices"][0] |= {"finish_reason": "length", "message": {"content": "<think>Ann …</think>"}}
        return reply


async def test_a_document_that_lightrag_failed_to_insert_is_lost_and_the_others_stand(tmp_path: Path) -> None:
    backbone = Thinking(bought)
    async with house(tmp_path, backbone, granularity="utterance") as (unit, memory):
        for number in range(1, 4):
            backbone.endless = number == 2
            await write(memory, unit, said(number, number), at=number)
        [fault] = memory.faults()
        assert fault.turn_ids == ("t2",)
        assert "LightRAG failed to insert a document" in fault.what
        assert (memory.state()["documents"], memory.state()["lost_turns"]) == (2, 1)
        assert "lost 1 of 3 turns in 1 writes" in (memory.lost() or "")


class Moody(Hashing):
    """Gives vectors of another length when asked to."""

    wrong = False

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        reply = await super().embed(texts)
        if self.wrong:
            reply.vectors.resize((len(texts), 48), refcheck=False)
        return reply


async def test_vectors_of_the_wrong_length_fail_the_write_and_the_next_one_works(tmp_path: Path) -> None:
    embedder = Moody(64)
    async with house(tmp_path, Graph(bought), embedder, granularity="utterance") as (unit, memory):
        await write(memory, unit, said(1, 1), at=1)
        embedder.wrong = True
        with unit.scope(2, "write"), pytest.raises(RefusedError, match=r"48 dimensions, where . of 64 were expected"):
            await memory.write(said(2, 2))
        embedder.wrong = False
        await write(memory, unit, said(3, 3), at=3)
        assert [fault.turn_ids for fault in memory.faults()] == [("t2",)]
        assert memory.state()["documents"] == 2


async def test_a_model_call_that_fails_fails_the_write_and_at_a_read_is_told_with_the_next(tmp_path: Path) -> None:
    class Failing(Graph):
        down = False

        async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
            if self.down:
                raise refusal("out of credit", status=402)
            return await super().chat(request, emit)

    backbone = Failing(bought)
    async with house(tmp_path, backbone) as (unit, memory):
        await write(memory, unit, said(1, 1, "one"), at=1)
        backbone.down = True
        with unit.scope(2, "write"), pytest.raises(RefusedError, match=r"write failed: .*out of credit"):
            await memory.write(said(2, 2, "two"))
        with unit.scope(2, "read"), pytest.raises(RefusedError, match=r"read failed: .*out of credit"):
            await memory.read("What did Ann buy?")
        backbone.down = False
        await write(memory, unit, said(3, 4, "three"), at=4)
        assert [fault.turn_ids for fault in memory.faults()] == [("t1",), ("t2",)]


ODD = {
    "short": "ok",
    "empty": "",
    "long": " ".join(f"word{i}" for i in range(6_000)),  # 50 kB
    "hindi": "मुझे पोर्टो बहुत पसंद है और वहाँ एक बिल्ली है।",
    "emoji": "🎉" * 300,
    "markup": "entity<|#|>Ann<|#|>x &amp;amp; <b>``` {braces} <SEP> <|COMPLETE|>",
    "control": "be\x00ll\x07 and \u2028 line",
    "lines": "first\n\nsecond",
    "again": "ok",
}


@pytest.mark.parametrize("granularity", ["session", "utterance"])
async def test_odd_turns_are_all_kept(granularity: str, tmp_path: Path) -> None:
    noon = datetime(2024, 5, 1, 12)
    turns = [Turn(name, "Ann", text, noon, "one") for name, text in ODD.items()]
    turns += [Turn(f"{turn.id}-2", turn.speaker, turn.text, turn.time, "two") for turn in turns]  # word for word
    async with house(tmp_path, Extractive(), granularity=granularity, chunk_top_k=90, top_k=1) as (unit, memory):
        await write(memory, unit, turns, at=len(turns))
        with unit.scope(99, "read"):
            recalled = await memory.read("What was said by Ann?")
        assert memory.lost() is None
        assert memory.state()["documents"] == (2 if granularity == "session" else 18)
        if granularity == "session":
            assert {turn for item in recalled.items for turn in item.turn_ids} >= {turn.id for turn in turns}


async def test_another_process_answers_from_what_the_footprint_counts(tmp_path: Path) -> None:
    async with gate(tmp_path, Graph(bought), Hashing(64)) as (gateway, unit):
        home = tmp_path / "unit-1"
        home.mkdir()
        first = memory_of(gateway, unit, home, granularity="utterance")
        await write(first, unit, said(1, 5), at=5)
        with unit.scope(6, "read"):
            before = await first.read("What did Ann buy?")
        await first.close()
        size = sum(file.stat().st_size for file in (home / "rag").rglob("*") if file.is_file())
        assert first.footprint().bytes == size

        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (home / "rag").rename(elsewhere / "rag")
        second = memory_of(gateway, unit, elsewhere, granularity="utterance")
        with unit.scope(7, "read"):
            after = await second.read("What did Ann buy?")
        await second.close()
    assert [item.text for item in after.items] == [item.text for item in before.items]
    assert len(after.items) > 5


async def test_an_entity_comes_from_the_turns_that_say_its_description_and_a_chunk_from_its_own(tmp_path: Path) -> None:
    async with house(tmp_path, Graph(lambda _: COMPLETE)) as (unit, memory):
        await write(memory, unit, said(1, 12), at=12)
        all_turns = tuple(f"t{i}" for i in range(1, 13))

        def entity(description: str) -> str:
            return "```json\n" + json.dumps({"entity": "Ann", "type": "person", "description": description}) + "\n```\n"

        summary = entity("She bought 3 Drums at market number3. It rained.<SEP>Ann bought 7 Hats at market number7.")
        assert memory.sources(summary, all_turns) == ("t3", "t7")
        # Nobody said that: it may be from any of few turns, and of many none can be named.
        assert memory.sources(entity("An eager person."), all_turns[:10]) == all_turns[:10]
        assert memory.sources(entity("An eager person."), all_turns) == ()
        assert memory.sources('{"reference_id": "1", "content": "…"}\n', all_turns) == all_turns


def cell(protocol: str = "recall", **options: Any) -> Experiment:
    rules = {"rules": Setting(backbone="extractive", embedder="hashing", max_output_tokens=2_000)}
    workload = WorkloadUse(name="sample", protocols=(protocol,))
    return Experiment(name="cell", memories=(MemoryUse(name="lightrag", options=options),), settings=rules,
                      workloads=(workload,))  # fmt: skip


async def test_two_runs_of_one_spec_ask_and_hold_the_same(tmp_path: Path) -> None:
    asked = []
    for name in ("one", "two"):
        outcome = await run(cell(), tmp_path / name)
        frames = Frames(tmp_path / name)
        assert (outcome.done, outcome.failed) == (1, 0), frames.units()["error"].to_list()
        calls = frames.calls().sort("turn", "stage", "kind", "request_key", "call")
        asked.append((
            calls.select("turn", "question", "stage", "kind", "request_key", "input_tokens", "output_tokens").rows(),
            frames.units()["store_bytes"].to_list(),
            frames.answers().select("answer", "recalled").rows(),
        ))  # fmt: skip
        assert not list((tmp_path / name / "work").iterdir())
    assert asked[0] == asked[1]


async def test_a_spent_budget_stops_the_run_and_a_higher_one_finishes_it_without_paying_twice(tmp_path: Path) -> None:
    outcome = await run(cell(granularity="utterance"), tmp_path / "run", Limits(max_tokens=30_000))
    assert outcome.stopped is not None
    before = Frames(tmp_path / "run").table("calls").height
    assert before > 4
    outcome = await run(cell(granularity="utterance"), tmp_path / "run")
    assert (outcome.done, outcome.failed, outcome.stopped) == (1, 0, None)
    calls = Frames(tmp_path / "run").table("calls")
    assert calls["replays"].sum() == before
    assert calls["claimed"].min() == 1


async def test_a_served_dialogue_is_indexed_between_its_turns(tmp_path: Path) -> None:
    outcome = await run(cell("serve"), tmp_path)
    frames = Frames(tmp_path)
    assert (outcome.done, outcome.failed) == (1, 0), frames.units()["error"].to_list()
    chats = frames.calls().filter(pl.col("kind") == "chat", pl.col("stage") == "write")
    assert chats["turn"].unique().len() > 2


def test_an_option_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    for options, why in (({"mode": "naive"}, "mode must be"), ({"gleaning": 2}, "gleaning must be"),
                         ({"granularity": "day"}, "granularity must be")):  # fmt: skip
        services = registry.Services(None, None, None, None, None, tmp_path)  # type: ignore[arg-type]
        with pytest.raises(UserError, match=why):
            registry.create("lightrag", options, services)
