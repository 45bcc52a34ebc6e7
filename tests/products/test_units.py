"""Units whose memory is a sidecar: what goes wrong in one is its own error, and what was lost stands in the ledger."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.runner.foresee import foresee
from memgauge.runner.limits import Limits
from memgauge.runner.plan import Unit
from memgauge.runner.progress import Silent, State
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse

SCRIPT = Path(__file__).parent.parent / "scripted_sidecar.py"


def use(how: str, **options: Any) -> MemoryUse:
    return MemoryUse(name="sidecar", label=how, options={"command": [sys.executable, str(SCRIPT), how], **options})


def experiment(*memories: MemoryUse, protocols: tuple[str, ...] = ("serve", "recall")) -> Experiment:
    rules = {"rules": Setting(backbone="extractive", embedder="hashing")}
    workload = WorkloadUse(name="sample", protocols=protocols)
    return Experiment(name="test", memories=memories, settings=rules, workloads=(workload,))


async def test_a_sidecar_is_played_like_any_memory_and_nothing_of_it_stays(tmp_path: Path) -> None:
    outcome = await run(experiment(use("well")), tmp_path, Limits(concurrency=2))
    frames = Frames(tmp_path)
    assert (outcome.done, outcome.failed) == (2, 0), frames.units()["error"].to_list()
    assert frames.units()["store_bytes"].to_list() == [1000, 1000]
    states = frames.table("states").filter(unit=1)
    told = [json.loads(state)["turns"] for state in states["state"]]
    assert told == list(range(1, frames.units()["turns"][0] + 1))
    assert not list((tmp_path / "work").iterdir())


async def test_one_that_dies_or_never_settles_fails_its_unit_alone(tmp_path: Path) -> None:
    memories = (use("crashes in write"), use("never settles", limits_s={"settle": 0.2}), use("well"))
    outcome = await run(experiment(*memories, protocols=("serve",)), tmp_path, Limits(concurrency=3))
    assert (outcome.done, outcome.failed) == (1, 2)
    dead, restless, sound = Frames(tmp_path).units()["error"].to_list()
    assert dead == "SidecarError: sidecar ended with exit code 9 during 'write'; its last words: reading pages | torn"
    assert restless.startswith("NotSettledError: sidecar did not settle within 0.2 s")
    assert sound is None
    assert not list((tmp_path / "work").iterdir())


async def test_a_lost_write_stands_with_its_unit_which_goes_on(tmp_path: Path) -> None:
    outcome = await run(experiment(use("loses the second write"), protocols=("recall",)), tmp_path)
    frames = Frames(tmp_path)
    assert (outcome.done, outcome.failed) == (1, 0)
    turns = frames.units()["turns"][0]
    assert frames.units()["error"].to_list() == [
        f"sidecar lost 1 of {turns} turns in 1 writes; the last: the reply was prose"
    ]
    assert json.loads(frames.table("states")["state"][-1])["lost_writes"] == 1
    [fault] = frames.table("faults").to_dicts()
    assert (fault["turn"], fault["stage"], fault["what"], fault["lost_turns"]) == (2, "write", "the reply was prose", 1)
    assert frames.answers().height == frames.units()["questions"][0]


@pytest.mark.parametrize("protocol", ["serve", "recall"])
async def test_a_memory_that_lost_everything_is_an_error_and_is_asked_nothing(protocol: str, tmp_path: Path) -> None:
    outcome = await run(experiment(use("loses all"), protocols=(protocol,)), tmp_path)
    frames = Frames(tmp_path)
    assert (outcome.done, outcome.failed) == (0, 1)
    [error] = frames.units()["error"].to_list()
    assert error.startswith("EverythingLostError: sidecar lost")
    assert error.endswith("the last: the reply was empty")
    assert frames.answers().height == 0


async def test_one_that_asks_until_it_is_answered_does_not_keep_a_stopped_run(tmp_path: Path) -> None:
    patient = experiment(use("asks until it is answered"), protocols=("serve",))
    outcome = await run(patient, tmp_path, Limits(max_tokens=2000))
    assert (outcome.stopped or "").startswith("budget spent")
    frames = Frames(tmp_path)
    assert frames.units()["status"].to_list() == ["interrupted"]
    before = frames.calls().height
    assert before > 0
    outcome = await run(patient, tmp_path)
    assert (outcome.done, outcome.failed) == (1, 0)
    assert frames.calls()["replays"].sum() == before


async def test_a_product_that_is_not_installed_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMGAUGE_DATA", str(tmp_path / "nothing"))
    with pytest.raises(UserError, match=r"^Mem0 2\.x is not installed; run: memgauge install mem0$"):
        await run(experiment(MemoryUse(name="mem0")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Failures(Silent):
    """Keeps the errors that units end with."""

    def __init__(self) -> None:
        self.errors: list[str | None] = []

    def ended(self, unit: Unit, state: State, error: str | None) -> None:
        self.errors.append(error)


async def test_a_plan_says_which_product_could_not_be_rehearsed() -> None:
    listener = Failures()
    foreseen = await foresee(experiment(use("crashes in write"), use("well"), protocols=("serve",)), listener)
    dead, sound = listener.errors
    assert dead is not None
    assert dead.startswith("SidecarError: sidecar ended with exit code 9")
    assert sound is None
    assert len(foreseen.lines) == 2
