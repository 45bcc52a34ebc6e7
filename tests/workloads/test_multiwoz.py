"""MultiWOZ: dialogues are read for their words alone, and strung together to the length wanted."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from memgauge.conversation import Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads.multiwoz import MultiWOZ
from spoilt import spoilt, unless_refused

REAL = Path(__file__).parents[3] / "shared" / "data" / "multiwoz" / "multiwoz22_dev_utterances_rebuilt.json"
needs_the_file = pytest.mark.skipif(not REAL.is_file(), reason="MultiWOZ's dev utterances are not at hand")


def dialogue(name: str, turns: int = 4) -> dict[str, Any]:
    speakers = ("USER", "SYSTEM")
    said = [
        {"turn_id": str(n), "speaker": speakers[n % 2], "utterance": f"{name} {n}", "frames": []} for n in range(turns)
    ]
    return {"dialogue_id": f"{name}.json", "services": ["hotel"], "turns": said}


def load(tmp_path: Path, *dialogues: dict[str, Any], **options: Any) -> MultiWOZ:
    file = tmp_path / "dialogues_001.json"
    file.write_text(json.dumps(dialogues), encoding="utf-8")
    return MultiWOZ(path=str(file), **options)


def test_a_dialogue_is_a_conversation_without_questions(tmp_path: Path) -> None:
    conversation = load(tmp_path, dialogue("PMUL1")).conversation("PMUL1")
    assert conversation.turns[:2] == (
        Turn("PMUL1/t1", "User", "PMUL1 0", session="PMUL1"),
        Turn("PMUL1/t2", "System", "PMUL1 1", session="PMUL1"),
    )
    assert conversation.questions == ()
    assert conversation.anomalies == {}
    assert MultiWOZ.card.protocols == ("serve",)


def test_whole_dialogues_are_strung_together_up_to_a_length(tmp_path: Path) -> None:
    workload = load(tmp_path, *(dialogue(name) for name in "abcde"), turns_per_conversation=10)
    # Four turns each: two fit ten, a third does not.
    assert workload.items() == ("a+1", "c+1", "e")
    turns = workload.conversation("c+1").turns
    assert [turn.id for turn in turns] == [f"{name}/t{n}" for name in "cd" for n in range(1, 5)]
    assert {turn.session for turn in turns} == {"c", "d"}
    assert workload.outline("c+1").turns == 8


def test_a_dialogue_that_is_too_long_alone_is_kept_whole_and_counted(tmp_path: Path) -> None:
    workload = load(tmp_path, dialogue("a", 2), dialogue("b", 6), dialogue("c", 2), turns_per_conversation=5)
    assert workload.items() == ("a", "b", "c")
    assert len(workload.conversation("b").turns) == 6
    assert workload.conversation("b").anomalies == {"dialogue longer than turns_per_conversation, kept whole": 1}


def test_a_folder_is_read_in_the_order_of_its_files(tmp_path: Path) -> None:
    for number, name in ((2, "b"), (1, "a")):
        (tmp_path / f"dialogues_00{number}.json").write_text(json.dumps([dialogue(name)]))
    (tmp_path / "schema.json").write_text("[]")
    assert MultiWOZ(path=str(tmp_path)).items() == ("a", "b")


def test_flaws_are_counted(tmp_path: Path) -> None:
    broken = dialogue("a")
    broken["turns"][1]["utterance"] = " "
    workload = load(tmp_path, broken, dialogue("a", 0))
    assert workload.items() == ("a", "a#2")
    assert [turn.id for turn in workload.conversation("a").turns] == ["a/t1", "a/t3", "a/t4"]
    assert workload.conversation("a").anomalies == {
        "space around a text, stripped": 1,
        "turn without text, left out": 1,
        "same speaker twice running": 1,
    }
    assert workload.conversation("a#2").anomalies == {
        "dialogue id used twice, renamed": 1,
        "dialogue without turns": 1,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"service_name": "hotel", "slots": []}]', "record 1: expected MultiWOZ 2.2's dialogues with dialogue_id"),
        ('[{"dialogue_id": "a", "turns": [{"speaker": "USER"}]}]', "missing required field utterance"),
        ('[{"dialogue_id": "a", "turns": [', "the file breaks off"),
        ("", "it is empty"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "dialogues_001.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message) as caught:
        MultiWOZ(path=str(file))
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no dialogues_\*\.json in this folder; expected that of one split"):
        MultiWOZ(path=str(tmp_path))
    with pytest.raises(UserError, match="no such file"):
        MultiWOZ(path=str(tmp_path / "dialogues_001.json"))
    with pytest.raises(UserError, match="turns_per_conversation is 0; expected at least 1"):
        load(tmp_path, dialogue("a"), turns_per_conversation=0)
    with pytest.raises(UnknownNameError, match="unknown MultiWOZ conversation 'b'"):
        load(tmp_path, dialogue("a")).conversation("b")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=spoilt([dialogue("a"), dialogue("b")]))
def test_a_bad_file_loads_or_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "dialogues_001.json"
    file.write_bytes(content)
    workload = unless_refused(lambda: MultiWOZ(path=str(file), turns_per_conversation=6))
    for item in workload.items() if workload else ():
        ids = [turn.id for turn in workload.conversation(item).turns]  # type: ignore[union-attr]
        assert len(ids) == len(set(ids))


@needs_the_file
def test_the_dev_utterances_load_whole() -> None:
    workload = MultiWOZ(path=str(REAL))
    conversations = [workload.conversation(item) for item in workload.items()]
    assert len(conversations) == 1000
    sizes = [len(conversation.turns) for conversation in conversations]
    assert (sum(sizes), min(sizes), max(sizes)) == (14748, 4, 34)
    assert sum((Counter(conversation.anomalies) for conversation in conversations), Counter()) == {}
    strung = MultiWOZ(path=str(REAL), turns_per_conversation=400)
    lengths = [strung.outline(item).turns for item in strung.items()]
    assert sum(lengths) == 14748
    assert all(400 - 34 < length <= 400 for length in lengths[:-1])
