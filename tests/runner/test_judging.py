"""A finished run is judged without running it again, and nothing is judged or paid twice."""

from pathlib import Path

import pytest

from memgauge.backbones.base import ChatReply, UpstreamError, Usage, completion
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.runner import models
from memgauge.runner.judging import Judging, judge_run
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse

RULES = Setting(backbone="extractive", embedder="hashing")
JUDGE = Setting(backbone="constant", embedder="hashing")


class Judge:
    """Says what it is told to, reply by reply, and then the last again."""

    name = model = "judge"
    paid = False
    window = None

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []

    async def chat(self, request, emit=None):  # type: ignore[no-untyped-def]
        self.asked.append(request.messages[-1].text)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        raw = completion("j", "judge", {"content": reply}, "stop", {"prompt_tokens": 50, "completion_tokens": 5})
        return ChatReply(reply, Usage(input=50, output=5), "judge", raw=raw)

    async def close(self) -> None:
        """Nothing to release."""


@pytest.fixture
async def finished(tmp_path: Path) -> Path:
    """A run of bm25 on the sample: ten answers."""
    experiment = Experiment(
        name="judged", memories=(MemoryUse(name="bm25"),), settings={"rules": RULES},
        workloads=(WorkloadUse(name="sample", protocols=("recall",)),),
    )  # fmt: skip
    await run(experiment, tmp_path)
    return tmp_path


def sits(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Puts ``judge`` in the place of the constant backbone."""
    monkeypatch.setattr(models.backbones, "create", lambda setting, max_connections: judge)
    return judge


async def test_every_answer_gets_a_verdict_in_the_ledger(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sits(Judge('{"reason": "same", "verdict": "CORRECT"}'), monkeypatch)
    judged = await judge_run(finished, Judging(JUDGE))

    assert (judged.verdicts, judged.errors, judged.skipped) == (10, 0, 0)
    verdicts = Frames(finished).table("verdicts")
    assert set(verdicts["rubric"]) == {"standard-1"}
    assert set(verdicts["verdict"]) == {"correct"}
    calls = Frames(finished).calls().filter(stage="judge")
    assert (calls.height, set(calls["attempt"]), set(calls["model"])) == (10, {0}, {"judge"})
    assert set(calls["question"]) == set(Frames(finished).answers()["question"])


async def test_judging_again_asks_only_for_what_is_new(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = sits(Judge('{"verdict": "WRONG"}'), monkeypatch)
    await judge_run(finished, Judging(JUDGE))
    again = await judge_run(finished, Judging(JUDGE))
    assert (again.verdicts, again.skipped) == (0, 10)
    more = await judge_run(finished, Judging(JUDGE, rubrics=("standard", "strict"), repeats=2))
    assert (more.verdicts, more.skipped) == (30, 10)
    # The unanswerable question is put in the same words under both rubrics: once asked, it is on record.
    assert len(judge.asked) == 39
    assert Frames(finished).table("verdicts").height == 40
    assert Frames(finished).calls().filter(stage="judge")["seq"].is_duplicated().sum() == 0


async def test_what_is_no_verdict_is_asked_again_and_then_an_error(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = sits(Judge("CORRECT and WRONG", '{"verdict": "CORRECT"}', "I cannot tell."), monkeypatch)
    judged = await judge_run(finished, Judging(JUDGE))

    assert (judged.verdicts, judged.errors) == (10, 9)
    assert len(judge.asked) == 2 + 9 * 3
    first, second = Frames(finished).table("verdicts").sort("ordinal").head(2).rows(named=True)
    assert (first["verdict"], first["outcome"]) == ("correct", "ok")
    assert (second["verdict"], second["outcome"]) == (None, "error")
    assert "I cannot tell." in second["why"]


async def test_an_upstream_that_fails_leaves_an_error_that_is_tried_again(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sits(Judge(UpstreamError("busy", status=503)), monkeypatch)
    judged = await judge_run(finished, Judging(JUDGE))
    assert (judged.verdicts, judged.errors) == (10, 10)

    sits(Judge('{"verdict": "CORRECT"}'), monkeypatch)
    judged = await judge_run(finished, Judging(JUDGE))
    assert (judged.verdicts, judged.errors, judged.skipped) == (10, 0, 0)
    assert set(Frames(finished).table("verdicts")["outcome"]) == {"ok"}


async def test_a_server_without_json_schemas_is_asked_in_words(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sits(Judge(UpstreamError("response_format unknown", status=400), '{"verdict": "CORRECT"}'), monkeypatch)
    judged = await judge_run(finished, Judging(JUDGE))
    assert (judged.verdicts, judged.errors) == (10, 0)


async def test_a_cap_stops_the_judging_and_a_higher_one_finishes_it(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = sum(Frames(finished).calls(["input_tokens", "output_tokens"]).sum().row(0))
    sits(Judge('{"verdict": "CORRECT"}'), monkeypatch)
    judged = await judge_run(finished, Judging(JUDGE), Limits(max_tokens=used + 2500))
    assert judged.stopped is not None
    assert 0 < judged.verdicts < 10
    judged = await judge_run(finished, Judging(JUDGE))
    assert judged.stopped is None
    assert judged.verdicts + judged.skipped == 10


async def test_nothing_to_judge_is_said(finished: Path) -> None:
    with pytest.raises(UserError, match="no memory 'mem0'; it has: bm25"):
        await judge_run(finished, Judging(JUDGE, memories=("mem0",)))
