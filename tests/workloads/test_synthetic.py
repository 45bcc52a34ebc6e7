"""The grid: which dialogues there are, and that a dialogue written once stays the same."""

import json
from pathlib import Path

import pytest

from memgauge.conversation import Cell
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads.base import Outline
from memgauge.workloads.synthetic import Synthetic
from support import Scripted


def chunk(count: int, word: str = "pear") -> str:
    return json.dumps({"turns": [f"Number {n}: my aunt planted a {word} tree behind the barn." for n in range(count)]})


def test_by_default_it_is_the_papers_grid_of_five_cells_and_eight_repeats() -> None:
    items = Synthetic().items()
    assert len(items) == 40
    assert items[:2] == ("N15-L50-s0", "N15-L50-s1")
    assert items[-1] == "N400-L200-s7"


def test_seeds_may_be_listed() -> None:
    assert Synthetic(cells=[[15, 50]], seeds=[3, 9]).items() == ("N15-L50-s3", "N15-L50-s9")


def test_a_dialogue_knows_its_cell_and_carries_no_time() -> None:
    conversation = Synthetic(cells=[[15, 50]]).conversation("N15-L50-s2")
    assert conversation.cell == Cell(15, 50)
    assert len(conversation.turns) == 15
    assert {turn.time for turn in conversation.turns} == {None}
    assert len({turn.id for turn in conversation.turns}) == 15


@pytest.mark.parametrize(("turns", "asked"), [(1, 1), (7, 7), (10, 10), (15, 10), (100, 10)])
@pytest.mark.parametrize("length", [10, 50])
def test_questions_have_a_gold_that_stands_in_their_evidence(turns: int, asked: int, length: int) -> None:
    workload = Synthetic(cells=[[turns, length]], seeds=3)
    for item in workload.items():
        conversation = workload.conversation(item)
        text = {turn.id: turn.text for turn in conversation.turns}
        assert len(conversation.questions) == asked
        for question in conversation.questions:
            (evidence,) = question.evidence
            (gold,) = question.answers
            assert gold in text[evidence]


def test_questions_reach_over_the_whole_dialogue() -> None:
    workload = Synthetic(cells=[[100, 50]], seeds=1)
    numbers = [int(q.evidence[0].removeprefix("t")) for q in workload.conversation("N100-L50-s0").questions]
    # One in each tenth of the hundred turns, which are t1 to t100.
    assert [(number - 1) // 10 for number in numbers] == list(range(10))


def test_two_instances_give_equal_dialogues() -> None:
    one, other = (Synthetic(cells=[[15, 50]]).conversation("N15-L50-s1") for _ in range(2))
    assert one == other


def test_an_unknown_dialogue_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown synthetic dialogue 'N15-L50-s8'"):
        Synthetic(cells=[[15, 50]]).conversation("N15-L50-s8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cells": []}, "cells is empty"),
        ({"cells": [[15]]}, r"cell \[15\] must be"),
        ({"cells": [[0, 50]]}, r"cell \[0, 50\] must be"),
        ({"cells": [[15, 9]]}, r"tokens per turn from 10"),
        ({"seeds": 0}, "seeds must be"),
        ({"seeds": [1, 1]}, "seeds must be"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Synthetic(**options)  # type: ignore[arg-type]


def by_model(folder: Path) -> Synthetic:
    return Synthetic(cells=[[4, 20]], seeds=1, writer="model", cache_dir=str(folder))


async def test_a_model_writes_a_dialogue_once_for_all_runs(tmp_path: Path) -> None:
    first, second = by_model(tmp_path), by_model(tmp_path)
    await first.prepare(Scripted(chunk(4)))
    unused = Scripted(chunk(4, "plum"))
    await second.prepare(unused)
    assert unused.requests == []
    assert second.conversation("N4-L20-s0") == first.conversation("N4-L20-s0")
    assert first.conversation("N4-L20-s0").turns[3].text.startswith("Number 3: my aunt planted a pear tree")


async def test_another_model_writes_its_own(tmp_path: Path) -> None:
    first, second = by_model(tmp_path), by_model(tmp_path)
    await first.prepare(Scripted(chunk(4)))
    other = Scripted(chunk(4, "plum"))
    other.model = "scripted/1"  # the same letters and digits as scripted-1
    await second.prepare(other)
    assert "plum" in second.conversation("N4-L20-s0").turns[0].text


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff", b"[1]", None])
async def test_a_damaged_cache_file_is_written_anew(tmp_path: Path, damage: bytes | None) -> None:
    await by_model(tmp_path).prepare(Scripted(chunk(4)))
    (file,) = tmp_path.rglob("*.json")
    sound = file.read_bytes()
    # None stands for a dialogue whose turns are well-formed but too short.
    cut = json.dumps({**json.loads(sound), "texts": ["short"] * 4}).encode()
    file.write_bytes(cut if damage is None else damage)
    await by_model(tmp_path).prepare(Scripted(chunk(4)))
    assert file.read_bytes() == sound
    assert list(tmp_path.rglob(".*")) == [], "no draft is left behind"


async def test_a_failed_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="wrote no usable turns"):
        await by_model(tmp_path).prepare(Scripted("no", "no", "no"))
    assert list(tmp_path.iterdir()) == []


async def test_a_model_written_grid_needs_a_writer(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs a backbone"):
        await by_model(tmp_path).prepare(None)
    with pytest.raises(UserError, match="has not been written yet"):
        by_model(tmp_path).conversation("N4-L20-s0")


def test_an_outline_needs_no_dialogue_where_a_model_has_yet_to_write_it(tmp_path: Path) -> None:
    assert by_model(tmp_path).outline("N4-L20-s0") == Outline(4, 20, 0, Cell(4, 20))


async def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        await by_model(tmp_path / "file").prepare(Scripted(chunk(4)))
