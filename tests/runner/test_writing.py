"""A model that writes dialogues is metered, kept within the limits, and never paid twice for one."""

import json
from pathlib import Path

import pytest

from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.meter.budget import BudgetExceeded, Spend
from memgauge.runner.limits import Limits
from memgauge.runner.models import Models
from memgauge.runner.plan import Loaded
from memgauge.runner.writing import prepare
from memgauge.spec import Setting, WorkloadUse
from memgauge.workloads.synthetic import Synthetic
from support import Scripted, refusal

SAID = json.dumps({"turns": [f"Number {i}: my aunt planted a pear tree in {1950 + i}." for i in range(4)]})
# Scripted reports 120 tokens read and a word a token, with 3 of reasoning.
USED = 120 + len(SAID.split()) + 3


def loaded(cache: Path, cells: int) -> Loaded:
    grid = [[4, 20 + 5 * cell] for cell in range(cells)]
    workload = Synthetic(cells=grid, seeds=1, writer="model", cache_dir=str(cache))
    return Loaded((), ((WorkloadUse(name="synthetic"), workload),), ())


async def write(run: Path, cache: Path, backbone: Scripted, limits: Limits | None = None, cells: int = 1) -> Spend:
    models = Models(backbone, Hashing())
    return await prepare(loaded(cache, cells), Setting(), models, run, limits or Limits(), None)


async def test_what_is_written_stands_in_a_ledger_of_its_own_and_counts_for_the_run(tmp_path: Path) -> None:
    spent = await write(tmp_path / "run", tmp_path / "cache", Scripted(SAID))
    assert spent.tokens == USED
    calls = Frames(tmp_path / "run" / "writing").calls()
    assert calls["stage"].to_list() == ["write"]
    # The dialogue is kept: the next run of the directory asks nobody, and still counts it.
    unused = Scripted()
    assert (await write(tmp_path / "run", tmp_path / "cache", unused)).tokens == USED
    assert unused.requests == []
    # Another directory has paid nothing for it.
    assert (await write(tmp_path / "other", tmp_path / "cache", unused)).tokens == 0
    assert not (tmp_path / "other").exists()


async def test_the_limit_holds_while_dialogues_are_written(tmp_path: Path) -> None:
    limits = Limits(max_tokens=10)
    backbone = Scripted(SAID)
    with pytest.raises(BudgetExceeded):
        await write(tmp_path / "run", tmp_path / "cache", backbone, limits)
    assert backbone.requests == []
    assert Frames(tmp_path / "run" / "writing").units()["status"].to_list() == ["interrupted"]


async def test_a_writer_that_died_goes_on_from_what_was_paid(tmp_path: Path) -> None:
    dying = Scripted(SAID, refusal())
    with pytest.raises(UserError, match="could not write the synthetic dialogue: overloaded"):
        await write(tmp_path / "run", tmp_path / "lost", dying, cells=2)
    heir = Scripted(SAID)
    spent = await write(tmp_path / "run", tmp_path / "cache", heir, cells=2)
    assert len(heir.requests) == 1
    assert spent.tokens == 2 * USED
