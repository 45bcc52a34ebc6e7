"""What RAPTOR builds, what that costs and where, and what it recalls of it, worked out by hand."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, UpstreamError, Usage
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import raptor_clusters, registry
from memgauge.memories.base import Evidence, Recalled
from memgauge.memories.raptor import Raptor
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import Scripted, new_ledger, open_unit, unit_record

COLOURS = ("red", "green", "blue")


class Colours:
    """Embeds by the colours that a text names: similarity is chosen by the test."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.faults: list[str] = []
        self.broken = False

    async def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        if self.broken:
            raise UpstreamError("gave vectors of another width", status=502, kind="malformed")
        return np.array([[float(text.count(word)) for word in COLOURS] for text in texts], np.float32)

    def fault(self, what: str) -> None:
        self.faults.append(what)


class Detour:
    """Stands for the meter's own."""

    def __init__(self, stages: list[str], stage: str) -> None:
        self.stages, self.stage = stages, stage

    def __enter__(self) -> None:
        self.stages.append(self.stage)

    def __exit__(self, *_: object) -> None:
        self.stages.pop()


class Writer:
    """A backbone that replies from a list, then numbers its summaries."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.shown: list[str] = []
        self.faults: list[str] = []
        self.stages = ["as played"]
        self.charged: list[str] = []
        self.under_way = self.most = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.shown.append(request.messages[-1].text)
        self.charged.append(self.stages[-1])
        reply = self.replies.pop(0) if self.replies else f"summary {len(self.shown)}"
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        if isinstance(reply, Exception):
            raise reply
        return ChatReply(reply, Usage(), "writer")

    def detour(self, stage: str) -> Detour:
        return Detour(self.stages, stage)

    def fault(self, what: str, reply: str | None = None) -> None:
        self.faults.append(what)


def raptor(writer: Writer, colours: Colours | None = None, **options: Any) -> Raptor:
    return Raptor(writer, colours or Colours(), **options)  # type: ignore[arg-type]


def turns(number: int, text: str = "apples", start: int = 1) -> list[Turn]:
    return [Turn(f"t{i}", "Ann", text) for i in range(start, start + number)]


def ids(recalled: Recalled) -> list[str]:
    return [turn_id for item in recalled.items for turn_id in item.turn_ids]


Grouping = list[tuple[int, ...]]


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> list[Grouping]:
    """The groups of each layer that is still to be built, by hand; without any, one of all."""
    layers: list[Grouping] = []

    async def grouped(vectors: np.ndarray, lengths: Sequence[int], most: int) -> Grouping:
        assert len(vectors) == len(lengths)
        return layers.pop(0) if layers else [tuple(range(len(vectors)))]

    monkeypatch.setattr(raptor_clusters, "grouped", grouped)
    return layers


PAIRS: Grouping = [(i, i + 1) for i in range(0, 24, 2)]
# The fourth node of the layer is under two summaries.
QUARTERS: Grouping = [(0, 1, 2, 3), (3, 4, 5), (6, 7, 8), (9, 10, 11)]


async def test_a_tree_takes_one_call_per_cluster_and_one_embedding_call_per_layer(clusters: list[Grouping]) -> None:
    # 24 turns in 12 pairs, these in 4: upon four nodes nothing is built. 12 + 4 calls.
    clusters += [PAIRS, QUARTERS]
    writer, colours = Writer(), Colours()
    memory = raptor(writer, colours)
    await memory.write(turns(24))
    assert (len(writer.shown), len(colours.calls)) == (0, 1)

    await memory.read("apples")
    assert (len(writer.shown), len(colours.calls)) == (16, 1 + 2 + 1)
    assert memory.state() == {
        "leaves": 24, "summaries": 16, "layers": 2, "links": 24 + 13, "builds": 1, "unbuilt": 0,
    }  # fmt: skip
    assert writer.shown[0] == "Ann: apples\nAnn: apples\n"
    assert writer.shown[12] == "summary 1\nsummary 2\nsummary 3\nsummary 4\n"


async def test_summaries_of_one_layer_are_asked_for_side_by_side(clusters: list[Grouping]) -> None:
    clusters += [PAIRS, QUARTERS]
    writer = Writer()
    memory = raptor(writer)
    await memory.write(turns(24))
    await memory.read("apples")
    assert writer.most == 12


async def test_upon_eleven_nodes_nothing_is_built_and_upon_the_fifth_layer_nothing_either() -> None:
    writer = Writer()
    memory = raptor(writer)
    await memory.write(turns(11))
    await memory.read("apples")
    assert writer.shown == []


async def test_there_are_five_layers_at_most(clusters: list[Grouping]) -> None:
    clusters += [[(i,) for i in range(12)]] * 6
    writer = Writer()
    memory = raptor(writer)
    await memory.write(turns(12))
    await memory.read("apples")
    assert memory.state()["layers"] == 5
    assert len(writer.shown) == 5 * 12


async def test_a_tree_is_built_at_the_next_read_after_a_write_and_charged_to_manage(clusters: list[Grouping]) -> None:
    writer = Writer()
    memory = raptor(writer)
    await memory.write(turns(12))
    await memory.manage()
    assert writer.charged == []
    await memory.read("apples")
    await memory.read("pears")
    assert writer.charged == ["manage"]

    await memory.write(turns(1, start=13))
    await memory.read("apples")
    assert writer.charged == ["manage", "manage"]
    assert memory.state()["summaries"] == 1  # of all thirteen; the old tree is gone
    assert writer.shown[1].count("Ann: apples\n") == 13


async def test_an_eager_tree_is_built_in_manage_and_never_at_read(clusters: list[Grouping]) -> None:
    writer = Writer()
    memory = raptor(writer, build="eager")
    await memory.write(turns(12))
    await memory.read("apples")
    assert writer.charged == []
    await memory.manage()
    await memory.manage()
    await memory.read("apples")
    assert writer.charged == ["as played"]


async def test_between_builds_what_came_since_is_found_as_it_was_said(clusters: list[Grouping]) -> None:
    writer = Writer()
    memory = raptor(writer, rebuild_every=12)
    await memory.write(turns(12))
    await memory.read("red")
    await memory.write(turns(11, "red", start=13))
    recalled = await memory.read("red")
    assert len(writer.shown) == 1
    assert memory.state()["unbuilt"] == 11
    assert ids(recalled)[-11:] == [f"t{i}" for i in range(13, 24)]

    await memory.write(turns(1, start=24))
    await memory.read("red")
    assert len(writer.shown) == 2


async def test_a_summary_is_evidence_of_every_turn_under_it_and_stands_before_what_it_is_of(
    clusters: list[Grouping],
) -> None:
    clusters += [[(0, 1, 2), (2, 3), tuple(range(4, 12))]]
    memory = raptor(Writer("all red", "all\n  green", "all blue"), k=3)
    await memory.write([*turns(2, "red"), *turns(1, "red green", 3), *turns(1, "green", 4), *turns(8, "blue", 5)])
    recalled = await memory.read("green")

    assert [item.text for item in recalled.items] == ["all green\n", "Ann: red green\n", "Ann: green\n"]
    # "all green" and "Ann: green" are nearest, the higher of the two before the lower; "red green" is half as near.
    assert recalled.ranked == (("t3", "t4"), ("t4",), ("t3",))


async def test_a_read_ends_where_the_token_budget_does(clusters: list[Grouping]) -> None:
    line = tokens.count("Ann: red\n")
    for budget, shown in ((3 * line, 3), (3 * line - 1, 2)):
        memory = raptor(Writer(), budget_tokens=budget)
        await memory.write(turns(6, "red"))
        assert len((await memory.read("red")).items) == shown
    memory = raptor(Writer(), context_tokens=2 * line)
    await memory.write(turns(6, "red"))
    assert ids(await memory.read("red")) == ["t5", "t6"]


async def test_a_summary_that_is_empty_is_a_fault_and_its_turns_are_still_found(clusters: list[Grouping]) -> None:
    clusters += [[tuple(range(6)), tuple(range(6, 12))]]
    writer = Writer(" ", "the rest")
    memory = raptor(writer, k=50)
    await memory.write([*turns(1, "red"), *turns(11, "green", 2)])
    recalled = await memory.read("red")
    assert writer.faults == ["summary: the reply was empty"]
    assert memory.state()["summaries"] == 1
    assert recalled.ranked is not None
    assert recalled.ranked[0] == ("t1",)


async def test_turns_without_usable_vectors_are_still_recalled(clusters: list[Grouping]) -> None:
    colours = Colours()
    memory = raptor(Writer(), colours, k=50)
    colours.broken = True
    await memory.write(turns(12, "red"))
    colours.broken = False
    assert colours.faults
    assert set(ids(await memory.read("red"))) == {f"t{i}" for i in range(1, 13)}


async def test_an_upstream_that_fails_leaves_the_tree_as_it_was_and_is_asked_again(clusters: list[Grouping]) -> None:
    writer = Writer("first")
    memory = raptor(writer, k=50)
    await memory.write(turns(12, "red"))
    await memory.read("red")
    await memory.write(turns(1, "red", 13))
    writer.replies = [UpstreamError("connection refused", status=502, kind="connection"), "second"]
    with pytest.raises(UpstreamError):
        await memory.read("red")
    assert memory.state()["summaries"] == 1
    assert "second\n" in [item.text for item in (await memory.read("red")).items]


async def test_a_long_turn_becomes_leaves_of_which_each_says_who_spoke_and_when() -> None:
    sentences = [f"On day {i} we walked from village number {i} to the next one, and it rained." for i in range(40)]
    turn = Turn("t1", "Ann", " ".join(sentences), datetime(2024, 3, 1, 9, 30))
    memory = raptor(Writer(), k=100)
    await memory.write([turn])
    texts = [item.text for item in (await memory.read("anything")).items]

    head = "[1 March 2024, 09:30] Ann: "
    assert len(texts) > 5
    assert all(text.startswith(head) for text in texts)
    assert max(map(tokens.count, texts)) <= 100
    assert " ".join(text.removeprefix(head).strip() for text in texts) == turn.text


async def test_of_summaries_at_the_top_that_say_the_same_the_newest_stays(clusters: list[Grouping]) -> None:
    clusters += [[(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)]]
    memory = raptor(Writer("red early", "green", "red late"), k=50, dedup=0.99)
    await memory.write(turns(12, "blue"))
    texts = [item.text for item in (await memory.read("red")).items]
    assert [text for text in texts if not text.startswith("Ann")] == ["green\n", "red late\n"]


async def test_a_summary_fades_as_turns_come_after_it(clusters: list[Grouping]) -> None:
    # Asked for "red", the summary's cosine is 1 and that of the two-coloured turn 0.71. Eight turns came after the
    # summary's last: with a half-life of 8 turns it counts 0.5, with one of 20 it counts 0.5 ** 0.4 = 0.76.
    for fading, first in ((None, "red\n"), (8.0, "Ann: red green\n"), (20.0, "red\n")):
        clusters[:] = [[(0, 1, 2, 3)]]
        memory = raptor(Writer("red"), k=1, half_life_turns=fading)
        await memory.write([*turns(11, "blue"), *turns(1, "red green", 12)])
        [item] = (await memory.read("red")).items
        assert item.text == first, fading


async def test_the_footprint_counts_texts_vectors_and_links(clusters: list[Grouping]) -> None:
    memory = raptor(Writer("in short"))
    await memory.write(turns(12, "red"))
    # "Ann: red\n" is 9 bytes, a vector three float32.
    assert memory.footprint().bytes == 12 * (9 + 12)
    await memory.read("red")
    # "in short\n" is 9 bytes; twelve links to what it is of.
    assert memory.footprint().bytes == 12 * (9 + 12) + 9 + 12 + 12 * 4


@pytest.mark.parametrize(
    "options",
    [{"build": "sometimes"}, {"k": 0}, {"rebuild_every": 0}, {"leaf_tokens": 3}, {"half_life_turns": 0}],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    pytest.importorskip("umap", reason="memgauge[raptor] is not installed")
    services = registry.Services(None, None, None, Evidence({}))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="'raptor' refuses its options"):
        registry.create("raptor", options, services)


def dialogue() -> list[Turn]:
    """Sixty turns about five things."""
    things = ("the sailing boat and its torn sail", "a sourdough bakery on the corner", "my chess club in the library",
              "the vegetable garden and its tomatoes", "a night train to Vienna")  # fmt: skip
    said = ("I keep thinking of {}.", "Yesterday I spent two hours on {}.", "Clara asked me about {} again.")
    return [
        Turn(f"t{i}", "Ann" if i % 2 else "Ben", said[i % 3].format(things[i // 12]) + f" Number {i}.",
             datetime(2024, 3, 1 + i // 12, 9, i % 12))
        for i in range(60)
    ]  # fmt: skip


async def played(directory: Path) -> tuple[Raptor, Recalled]:
    """Sixty turns written one by one and one question asked, with the rules as backbone."""
    with new_ledger(directory / "ledger.sqlite", [unit_record(memory="raptor")]) as ledger:
        unit = Meter(ledger, Setting(), Extractive(), Hashing()).open(1, attempt=ledger.start_unit(1, 0.0))
        memory = Raptor(BackboneHandle(unit), EmbedderHandle(unit), k=8)
        for number, turn in enumerate(dialogue(), start=1):
            with unit.scope(number, "write"):
                await memory.write([turn])
            with unit.scope(number, "manage"):
                await memory.manage()
        with unit.scope(60, "read", "q1"):
            recalled = await memory.read("What happened to the sail of the boat?")
    return memory, recalled


async def test_the_ledger_has_one_call_per_cluster_and_is_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("umap", reason="memgauge[raptor] is not installed")
    trees = []
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        memory, recalled = await played(tmp_path / name)
        calls = Frames(tmp_path / name).calls().sort("seq")
        chats = calls.filter(calls["kind"] == "chat")
        assert set(chats["stage"]) == {"manage"}
        assert len(chats) == memory.state()["summaries"] > 1
        embeds = Counter(calls.filter(calls["kind"] == "embed")["stage"])
        assert embeds == {"write": 60, "manage": memory.state()["layers"], "read": 1}
        assert {f"t{i}" for i in range(12)} & set(ids(recalled))
        trees.append((chats["request_key"].to_list(), recalled))
    assert trees[0] == trees[1]


async def test_what_is_built_at_read_is_charged_to_manage_in_the_ledger(
    clusters: list[Grouping], tmp_path: Path
) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted("in short"))
        memory = Raptor(BackboneHandle(unit), EmbedderHandle(unit))
        with unit.scope(12, "write"):
            await memory.write(turns(12))
        with unit.scope(12, "read", "q1"):
            await memory.read("apples")
        [(stage, _)] = unit.detours()
    calls = Frames(tmp_path).calls().sort("seq")
    assert stage == "manage"
    assert calls.select("kind", "stage").rows() == [
        ("embed", "write"), ("chat", "manage"), ("embed", "manage"), ("embed", "read"),
    ]  # fmt: skip


# What another process needs to answer: texts and vectors, which the footprint counts with the links, and nothing else.
ELSEWHERE = """
import asyncio, json, sys
import numpy as np
from memgauge.embedders.hashing import Hashing
held = json.load(sys.stdin)
vectors = np.frombuffer(bytes.fromhex(held["vectors"]), np.float32).reshape(len(held["texts"]), -1)
query = asyncio.run(Hashing().embed([held["query"]])).vectors[0]
best = np.lexsort((-np.arange(len(vectors)), -(vectors @ query)))[: held["k"]]
print(json.dumps(sorted(held["texts"][place] for place in best)))
"""


async def test_another_process_recalls_the_same_from_what_the_footprint_counts(
    clusters: list[Grouping], tmp_path: Path
) -> None:
    clusters += [[tuple(range(i, i + 12)) for i in range(0, 60, 12)]]
    memory, recalled = await played(tmp_path)
    nodes = [*memory._leaves, *memory._tree.summaries]
    texts = [node.item.text for node in nodes]
    vectors = memory._leaf_index.vectors.tobytes() + memory._tree.vectors.tobytes()

    held = {"texts": texts, "vectors": vectors.hex(), "query": "What happened to the sail of the boat?", "k": 8}
    there = await asyncio.create_subprocess_exec(sys.executable, "-c", ELSEWHERE, stdin=PIPE, stdout=PIPE)
    answer, _ = await there.communicate(json.dumps(held).encode())
    assert json.loads(answer) == sorted(item.text for item in recalled.items)
    assert memory.footprint().bytes == sum(len(text.encode()) for text in texts) + len(vectors) + 4 * 60
