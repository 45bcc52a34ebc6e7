"""Which skills are chosen for a span."""

from pathlib import Path

import numpy as np

from memgauge.conversation import Turn
from memgauge.embedders.base import Vectors
from memgauge.ledger.frames import Frames
from memgauge.memories.memskill.controller import Controller, How
from memgauge.memories.memskill.memory_bank import Remembered
from memgauge.memories.memskill.skills import Skill, SkillBank
from memgauge.memories.memskill.spans import Span
from memgauge.meter.handles import BackboneHandle
from support import Scripted, new_ledger, open_unit

BANK = SkillBank(tuple(Skill(name, "INSERT", f"keep {name}", "i") for name in ("pets", "jobs", "towns")))
VECTORS = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
SPAN = Span((Turn("t1", "Ann", "My cat Miso."),))
NEAR = (Remembered(4, "Ann has a balcony.", (), "pets"),)


async def chosen(
    directory: Path, how: How, top: int, *replies: str, vector: Vectors | None = VECTORS[2]
) -> tuple[list[str], Scripted]:
    backbone = Scripted(*replies)
    with new_ledger(directory / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, backbone)
        controller = Controller(BackboneHandle(unit), how, top)
        controller.learn(controller.new_titles(BANK), VECTORS[: len(controller.new_titles(BANK))])
        with unit.scope(1, "write"):
            skills = await controller.choose(BANK, SPAN, NEAR, vector)
    return [skill.name for skill in skills], backbone


async def test_by_embedding_the_nearest_titles_win(tmp_path: Path) -> None:
    names, backbone = await chosen(tmp_path, "embedding", 2)
    assert names == ["towns", "jobs"]  # cosines 1 and 0.8, of pets 0
    assert backbone.requests == []


async def test_a_span_without_a_vector_gets_the_oldest(tmp_path: Path) -> None:
    assert (await chosen(tmp_path, "embedding", 2, vector=None))[0] == ["pets", "jobs"]


async def test_where_all_may_be_followed_nothing_is_embedded_or_asked(tmp_path: Path) -> None:
    assert Controller(None, "embedding", 3).new_titles(BANK) == []  # type: ignore[arg-type]
    names, backbone = await chosen(tmp_path, "model", 3)
    assert names == ["pets", "jobs", "towns"]
    assert backbone.requests == []


async def test_the_model_names_the_skills_by_number_best_first(tmp_path: Path) -> None:
    names, backbone = await chosen(tmp_path, "model", 2, '{"skills": [2, 1, 3]}')
    assert names == ["jobs", "pets"]
    assert backbone.requests[0].messages[1].text == (
        "## Text to be worked in\nAnn: My cat Miso.\n"
        "## Memories\n4. Ann has a balcony.\n"
        "## Skills for the new text\nSkill 1: pets: keep pets\nSkill 2: jobs: keep jobs\nSkill 3: towns: keep towns\n"
    )


async def test_the_model_may_want_fewer(tmp_path: Path) -> None:
    assert (await chosen(tmp_path, "model", 2, '{"skills": [1]}'))[0] == ["pets"]


async def test_numbers_of_no_skill_are_a_fault_and_without_any_left_the_embedding_decides(tmp_path: Path) -> None:
    assert (await chosen(tmp_path, "model", 2, '{"skills": [9, 0, 1]}'))[0] == ["pets"]
    assert Frames(tmp_path).table("faults")["what"].to_list() == [
        "memskill choose: the reply named skills that were not shown: 9, 0"
    ]
    (tmp_path / "other").mkdir()
    assert (await chosen(tmp_path / "other", "model", 2, "The second one."))[0] == ["towns", "jobs"]


def test_a_title_is_embedded_once_and_again_where_it_reads_differently() -> None:
    controller = Controller(None, "embedding", 1)  # type: ignore[arg-type]
    titles = controller.new_titles(BANK)
    assert titles == ["pets: keep pets\n", "jobs: keep jobs\n", "towns: keep towns\n"]
    controller.learn(titles, VECTORS)
    assert controller.new_titles(BANK) == []
    changed = SkillBank((*BANK.skills[:2], Skill("towns", "INSERT", "keep every town", "i")))
    assert controller.new_titles(changed) == ["towns: keep every town\n"]
