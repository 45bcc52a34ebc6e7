"""A run plays what is missing, survives being stopped, and its ledger does not depend on the interruptions."""

import asyncio
from pathlib import Path

import polars as pl
import pytest

from memgauge.backbones.base import UpstreamError
from memgauge.backbones.extractive import Extractive
from memgauge.errors import MissingExtraError, UserError
from memgauge.ledger.frames import Frames
from memgauge.ledger.schema import TIMES
from memgauge.runner.limits import Limits
from memgauge.runner.progress import Silent
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse

RULES = {"rules": Setting(backbone="extractive", embedder="hashing")}
TABLES = ("units", "calls", "steps", "answers", "texts", "vectors")


def experiment(*memories: str, protocols: tuple[str, ...] = ("serve", "recall")) -> Experiment:
    uses = tuple(MemoryUse(name=name) for name in memories or ("full-history", "dense"))
    return Experiment(
        name="test", memories=uses, settings=RULES, workloads=(WorkloadUse(name="sample", protocols=protocols),)
    )


def content(directory: Path) -> dict[str, pl.DataFrame]:
    """Every table but for clocks and the attempt that paid."""
    frames = Frames(directory)
    return {
        name: frames.table(name, tail="ORDER BY 1, 2").drop([c for c in TIMES if c in frames.table(name).columns])
        for name in TABLES
    }


def assert_same(one: Path, other: Path) -> None:
    left, right = content(one), content(other)
    for name in TABLES:
        assert left[name].equals(right[name]), name


async def test_every_unit_is_played_and_recorded(tmp_path: Path) -> None:
    outcome = await run(experiment(), tmp_path / "run")

    assert (outcome.done, outcome.failed, outcome.skipped) == (4, 0, 0)
    frames = Frames(tmp_path / "run")
    assert frames.units()["status"].to_list() == ["done"] * 4
    assert frames.answers().height == 2 * frames.units()["questions"].max()
    served = frames.calls().filter((pl.col("unit") == 1) & (pl.col("kind") == "chat"))
    assert served["turn"].to_list() == list(range(1, frames.units()["turns"][0] + 1))


async def test_the_same_seed_gives_the_same_ledger(tmp_path: Path) -> None:
    await run(experiment(), tmp_path / "one")
    await run(experiment(), tmp_path / "two")
    assert_same(tmp_path / "one", tmp_path / "two")


async def test_running_again_finds_nothing_to_do(tmp_path: Path) -> None:
    await run(experiment(), tmp_path)
    before = Frames(tmp_path).calls().height
    outcome = await run(experiment(), tmp_path)
    assert (outcome.done, outcome.skipped) == (0, 4)
    assert Frames(tmp_path).calls().height == before


@pytest.mark.parametrize("stop_at", [1, 13, 30, 55])
async def test_a_stopped_run_goes_on_and_pays_for_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    await run(experiment(), tmp_path / "whole")
    asked = 0
    original = Extractive.chat

    async def stopping(self, request, emit=None):  # type: ignore[no-untyped-def]
        nonlocal asked
        asked += 1
        if asked == stop_at:
            job.cancel()
            await asyncio.sleep(60)
        return await original(self, request, emit)

    monkeypatch.setattr(Extractive, "chat", stopping)
    job = asyncio.create_task(run(experiment(), tmp_path / "stopped"))
    with pytest.raises(asyncio.CancelledError):
        await job
    assert "interrupted" in Frames(tmp_path / "stopped").units()["status"].to_list()
    await run(experiment(), tmp_path / "stopped")

    chats = Frames(tmp_path / "whole").calls().filter(kind="chat").height
    assert asked == chats + 1  # the call that was stopped was asked once more
    lost = Frames(tmp_path / "stopped").lost_calls()
    assert lost["outcome"].to_list() == ["interrupted"]
    frames = Frames(tmp_path / "stopped")
    for name in ("steps", "answers"):
        assert content(tmp_path / "stopped")[name].equals(content(tmp_path / "whole")[name])
    compared = ["unit", "seq", "turn", "stage", "kind", "request_key", "input_tokens", "output_tokens", "prefix_tokens",
                "prefix_turns_ago", "counted_tokens", "reply"]  # fmt: skip
    assert frames.calls(compared).equals(Frames(tmp_path / "whole").calls(compared))


async def test_a_failed_unit_does_not_stop_the_others_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Extractive.chat

    async def failing(self, request, emit=None):  # type: ignore[no-untyped-def]
        raise UpstreamError("down", status=503)

    monkeypatch.setattr(Extractive, "chat", failing)
    outcome = await run(experiment("bm25", protocols=("serve",)), tmp_path)
    assert (outcome.done, outcome.failed) == (0, 1)
    assert Frames(tmp_path).units()["error"].to_list() == ["down"]

    monkeypatch.setattr(Extractive, "chat", original)
    outcome = await run(experiment("bm25", protocols=("serve",)), tmp_path)
    assert (outcome.done, outcome.failed) == (1, 0)
    assert Frames(tmp_path).units()["attempt"].to_list() == [2]


async def test_a_memory_that_breaks_is_a_failed_unit_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memgauge.memories.bm25 import BM25

    async def broken(self, query, at):  # type: ignore[no-untyped-def]
        raise ValueError("index torn")

    monkeypatch.setattr(BM25, "read", broken)
    outcome = await run(experiment("bm25", protocols=("serve",)), tmp_path)
    assert outcome.failed == 1
    assert Frames(tmp_path).units()["error"].to_list() == ["ValueError: index torn"]


@pytest.mark.parametrize("concurrency", [1, 16])
async def test_a_token_cap_stops_the_run_cleanly_and_a_higher_one_finishes_it(tmp_path: Path, concurrency: int) -> None:
    outcome = await run(experiment(), tmp_path, Limits(max_tokens=6_000, concurrency=concurrency))
    assert outcome.stopped is not None
    assert outcome.stopped.startswith("budget spent")
    spent = Frames(tmp_path).calls(["input_tokens", "output_tokens"]).sum().row(0)
    assert sum(spent) <= 6_000

    outcome = await run(experiment(), tmp_path, Limits(max_tokens=10_000_000))
    assert (outcome.stopped, outcome.failed) == (None, 0)
    assert set(Frames(tmp_path).units()["status"]) == {"done"}


async def test_a_directory_of_another_spec_is_refused_and_left_alone(tmp_path: Path) -> None:
    await run(experiment("bm25"), tmp_path)
    before = (tmp_path / "ledger.sqlite").read_bytes()
    with pytest.raises(UserError, match="belongs to another spec"):
        await run(experiment("dense"), tmp_path)
    assert (tmp_path / "ledger.sqlite").read_bytes() == before


async def test_nothing_is_written_for_an_experiment_that_cannot_run(tmp_path: Path) -> None:
    for broken in (experiment("densee"), experiment("bm25", protocols=("act",))):
        with pytest.raises(UserError):
            await run(broken, tmp_path / "run")
        assert not (tmp_path / "run").exists()


async def test_units_side_by_side_record_the_same_calls(tmp_path: Path) -> None:
    memories = ("full-history", "dense", "bm25", "rolling-window")
    await run(experiment(*memories), tmp_path / "one")
    await run(experiment(*memories), tmp_path / "eight", Limits(concurrency=8))
    columns = ["unit", "turn", "question", "stage", "request_key", "input_tokens", "reply"]
    one, eight = (Frames(tmp_path / name).calls(columns).sort(columns) for name in ("one", "eight"))
    assert eight.equals(one)
    assert Frames(tmp_path / "eight").answers().equals(Frames(tmp_path / "one").answers())


async def test_questions_side_by_side_are_attributed_to_themselves(tmp_path: Path) -> None:
    await run(experiment("dense", protocols=("recall",)), tmp_path, Limits(concurrency=16))
    frames = Frames(tmp_path)
    asked = frames.calls().filter(pl.col("question").is_not_null()).group_by("question").agg(pl.col("stage").sort())
    assert asked["stage"].to_list() == [["answer", "read"]] * frames.answers().height


class Warnings(Silent):
    """Keeps what a user is warned of."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def warned(self, word: str) -> None:
        self.words.append(word)


async def test_an_optional_memory_is_left_out_until_it_is_installed_and_then_joins_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memgauge.memories.bm25 import BM25

    def missing(options: object) -> None:
        raise MissingExtraError("BM25", "memgauge install bm25")

    uses = (MemoryUse(name="none"), MemoryUse(name="bm25", optional=True), MemoryUse(name="rolling-window"))
    whole = Experiment(
        name="test", memories=uses, settings=RULES, workloads=(WorkloadUse(name="sample", protocols=("recall",)),)
    )
    monkeypatch.setattr(BM25, "require", missing, raising=False)
    listener = Warnings()
    outcome = await run(whole, tmp_path / "run", listener=listener)
    assert listener.words == ["bm25 is left out: BM25 is not installed; run: memgauge install bm25"]
    assert Frames(tmp_path / "run").units()["memory"].to_list() == ["none", "rolling-window"]
    with pytest.raises(MissingExtraError):
        await run(experiment("none", "bm25"), tmp_path / "other")

    monkeypatch.delattr(BM25, "require")
    outcome = await run(whole, tmp_path / "run")
    assert (outcome.done, outcome.skipped) == (1, 2)
    assert Frames(tmp_path / "run").units()["memory"].to_list() == ["none", "rolling-window", "bm25"]
