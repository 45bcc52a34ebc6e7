"""A run in trouble stops in order: what was paid for is on record, and the same run goes on from there."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memgauge.ledger.frames import Frames
from memgauge.ledger.verify import verify
from memgauge.runner.brake import Brake
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse
from scripted_upstream import EMBEDDING_MODEL, KEY, MODEL, Fail, Say, ScriptedUpstream

CARD = """
date = 2026-01-01
[[price]]
model = "scripted-1"
input = 1.0
output = 2.0
[[price]]
model = "scripted-embed"
embedding = 0.1
"""


class Moody(ScriptedUpstream):
    """Refuses every chat call but those of its good days, which are counted from 1."""

    def __init__(self, good: range, status: int = 503) -> None:
        super().__init__()
        self.good, self.status, self.asked = good, status, 0

    async def _chat(self, request: Any) -> Any:
        if (await request.json())["messages"]:
            self.asked += 1
            # x-should-retry spares the test the waits between attempts.
            self.script(Say() if self.asked in self.good else Fail(self.status, headers={"x-should-retry": "false"}))
        return await super()._chat(request)


def experiment(upstream: ScriptedUpstream, *memories: str, protocol: str = "recall", **changes: Any) -> Experiment:
    setting = Setting(
        backbone="endpoint", base_url=upstream.base_url, model=MODEL, api_key_env="UPSTREAM_KEY",
        embedder="endpoint", embedding_model=EMBEDDING_MODEL,
    )  # fmt: skip
    return Experiment(
        name="test", memories=tuple(MemoryUse(name=name) for name in memories), settings={"scripted": setting},
        workloads=(WorkloadUse(name="sample", protocols=(protocol,)),), **changes,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", KEY)


def sound(directory: Path) -> bool:
    return not any(finding.wrong for finding in verify(directory))


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_an_endpoint_that_goes_down_stops_the_run_early_and_loses_nothing(
    tmp_path: Path, concurrency: int
) -> None:
    memories = ("full-history", "bm25", "rolling-window", "none")
    async with Moody(range(1, 14)) as upstream:
        outcome = await run(experiment(upstream, *memories), tmp_path, Limits(concurrency=concurrency))
        assert outcome.down
        assert outcome.stopped is not None
        assert outcome.stopped.startswith(
            "the endpoint of scripted-1 is down: 10 calls in a row failed; the last: HTTP 503"
        )
        assert upstream.asked < 13 + 10 + 2 * concurrency
        assert Frames(tmp_path).calls().filter(outcome="ok").height == 13
        assert sound(tmp_path)

        upstream.good = range(1, 10_000)
        before = upstream.asked
        outcome = await run(experiment(upstream, *memories), tmp_path, Limits(concurrency=concurrency))
    assert (outcome.stopped, outcome.failed, outcome.done + outcome.skipped) == (None, 0, 4)
    assert upstream.asked - before == 4 * 10 - 13  # ten questions to each memory, of which 13 had their answer
    assert set(Frames(tmp_path).answers()["outcome"]) == {"ok"}
    assert sound(tmp_path)


async def test_a_key_that_expires_stops_the_run(tmp_path: Path) -> None:
    async with Moody(range(1, 3), status=401) as upstream:
        outcome = await run(experiment(upstream, "bm25", "none"), tmp_path, Limits(concurrency=1))
    assert outcome.down
    assert "HTTP 401" in str(outcome.stopped)


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_a_unit_whose_questions_mostly_fail_is_given_up_and_the_others_go_on(
    tmp_path: Path, concurrency: int
) -> None:
    async with Moody(range(1, 1), status=400) as upstream:
        lines = [f'{{"speaker": "a", "text": "Fact {i} is {i * 7}."}}' for i in range(5)]
        lines += [f'{{"question": "What is fact {i}?", "answer": "7", "evidence": []}}' for i in range(60)]
        (tmp_path / "many.jsonl").write_text("\n".join(lines))
        many = experiment(upstream, "bm25", "none")
        use = WorkloadUse(name=str(tmp_path / "many.jsonl"), protocols=("recall",))
        many = Experiment(name="many", memories=many.memories, settings=many.settings, workloads=(use,))
        outcome = await run(many, tmp_path / "run", Limits(concurrency=concurrency))
    assert (outcome.failed, outcome.done, outcome.stopped) == (2, 0, None)
    errors = Frames(tmp_path / "run").units()["error"].to_list()
    assert all("questions ended in an error; the last: HTTP 400" in error for error in errors)
    assert upstream.asked <= 2 * (10 + concurrency + 3)


@pytest.mark.parametrize("concurrency", [1, 16])
async def test_a_dollar_limit_cuts_no_call_off_and_a_higher_one_goes_on(tmp_path: Path, concurrency: int) -> None:
    (tmp_path / "card.toml").write_text(CARD)
    limit = 0.004
    async with ScriptedUpstream() as upstream:
        spec = experiment(upstream, "full-history", "dense", prices=str(tmp_path / "card.toml"))
        outcome = await run(spec, tmp_path / "run", Limits(concurrency=concurrency, max_usd=limit))
        spent = (upstream.charged("prompt") * 1.0 + upstream.charged("completion") * 2.0) / 1e6
        spent += upstream.charged("embedding") * 0.1 / 1e6
        assert outcome.stopped is not None
        assert outcome.stopped.startswith("budget spent: the next call may cost $0.00")
        assert 0 < spent <= limit
        calls = Frames(tmp_path / "run").calls()
        assert set(calls["outcome"]) == {"ok"}  # none interrupted
        assert sound(tmp_path / "run")

        served = len(upstream.log)
        outcome = await run(spec, tmp_path / "run", Limits(concurrency=concurrency, max_usd=1.0))
        fresh = len(upstream.log) - served
    assert (outcome.stopped, outcome.failed) == (None, 0)
    assert Frames(tmp_path / "run").calls().height == calls.height + fresh
    assert Frames(tmp_path / "run").lost_calls().is_empty()


async def test_a_unit_that_spends_its_own_limit_stops_alone(tmp_path: Path) -> None:
    async with ScriptedUpstream() as upstream:
        spec = experiment(upstream, "full-history", "none")
        outcome = await run(spec, tmp_path, Limits(concurrency=1, unit_max_tokens=6_000))
        assert (outcome.done, outcome.failed, outcome.stopped) == (1, 1, None)
        units = Frames(tmp_path).units()
        assert units["status"].to_list() == ["interrupted", "done"]
        assert "6,000 are allowed in one unit" in units["error"][0]
        outcome = await run(spec, tmp_path, Limits(concurrency=1, unit_max_tokens=1_000_000))
    assert (outcome.done, outcome.failed) == (1, 0)
    assert Frames(tmp_path).lost_calls().is_empty()


async def test_a_limit_needs_a_reply_that_has_one(tmp_path: Path) -> None:
    """Outside products seldom limit their replies; memgauge's own prompts always do."""
    from house import house
    from memgauge.backbones.base import ChatRequest
    from memgauge.meter.budget import Budget, BudgetExceeded

    async with house(tmp_path, Budget(max_tokens=1_000_000)) as here:
        with pytest.raises(BudgetExceeded, match=r"no bound.*a reply without a limit \(set max_output_tokens"):
            await here.unit.chat(ChatRequest.of("s", "u"))
        assert here.upstream.log == []


async def test_a_run_that_is_cancelled_leaves_its_calls_as_interrupted_with_their_worst_case(tmp_path: Path) -> None:
    async with ScriptedUpstream() as upstream:
        upstream.script(*[Say()] * 3, *[Say(wait_s=30)] * 8)
        job = asyncio.create_task(run(experiment(upstream, "full-history"), tmp_path, Limits(concurrency=1)))
        while len(upstream.log) < 3:  # noqa: ASYNC110 - the upstream tells nobody
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    [stopped] = Frames(tmp_path).calls().filter(outcome="interrupted").to_dicts()
    assert stopped["input_at_most"] > 500
    assert stopped["output_at_most"] == 64
    assert sound(tmp_path)
    assert not any((tmp_path / "in-flight").read_bytes())


async def test_a_run_that_is_braked_lets_its_calls_finish_and_pays_for_none_twice(tmp_path: Path) -> None:
    brake = Brake()
    assert not brake.pull()  # nothing is under way yet
    async with ScriptedUpstream() as upstream:
        spec = experiment(upstream, "full-history", "dense", "bm25")
        upstream.script(*[Say(wait_s=0.1)] * 500)
        job = asyncio.create_task(run(spec, tmp_path, Limits(concurrency=4), brake=brake))
        while len(upstream.log) < 6:  # noqa: ASYNC110 - the upstream tells nobody
            await asyncio.sleep(0.01)
        assert brake.pull()
        outcome = await job
        assert (outcome.stopped, outcome.down) == ("stopped before it was finished", False)
        calls = Frames(tmp_path).calls()
        assert set(calls["outcome"]) == {"ok"}
        assert len(calls) == len(upstream.log)

        upstream._steps.clear()
        outcome = await run(spec, tmp_path, Limits(concurrency=4))
        assert (outcome.stopped, outcome.failed) == (None, 0)
        assert Frames(tmp_path).table("calls").height == len(upstream.log)
    assert Frames(tmp_path).lost_calls().is_empty()
