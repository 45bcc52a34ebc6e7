"""What each protocol asks of a memory and a backbone, turn by turn."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from memgauge.backbones.base import UpstreamError
from memgauge.conversation import Conversation, Question, Turn
from memgauge.ledger.frames import Frames
from memgauge.memories.base import Footprint, Item, Recalled
from memgauge.memories.full_history import FullHistory
from memgauge.meter.handles import BackboneHandle
from memgauge.protocols.play import Play
from memgauge.protocols.recall import recall
from memgauge.protocols.serve import serve
from support import Scripted, new_ledger, open_unit, refusal

TURNS = tuple(Turn(f"t{i}", "Ann", f"word{i}") for i in range(1, 6))
QUESTIONS = (Question("q1", "Which word?", ("word1",), "1", ("t1",)), Question("q2", "Which other?", ("word2",)))
DIALOGUE = Conversation("c", TURNS, QUESTIONS)


class Diary:
    """Notes what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def write(self, turns: Sequence[Turn]) -> None:
        self.done.append("write " + " ".join(turn.id for turn in turns))

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        self.done.append(f"read {query}" + (f" at {at:%Y-%m-%d}" if at else ""))
        return Recalled((Item("something", ("t1",)),))

    async def manage(self) -> None:
        self.done.append("manage")

    def footprint(self) -> Footprint:
        return Footprint()

    async def close(self) -> None:
        """Nothing to release."""


async def played(tmp_path: Path, protocol, memory, backbone: Scripted, write_every: int = 1) -> Frames:  # type: ignore[no-untyped-def]
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await protocol(Play(open_unit(ledger, backbone), ledger, memory, DIALOGUE, write_every, answer_tokens=9))
    return Frames(tmp_path)


async def test_serve_reads_answers_and_then_lets_the_turn_to_the_gate(tmp_path: Path) -> None:
    diary = Diary()
    await played(tmp_path, serve, diary, Scripted(), write_every=2)
    assert diary.done == [
        "read word1", "read word2", "write t1 t2", "manage", "read word3", "read word4", "write t3 t4", "manage",
        "read word5",
    ]  # fmt: skip


async def test_a_served_turn_sees_what_was_written_before_it_and_itself(tmp_path: Path) -> None:
    backbone = Scripted()
    await played(tmp_path, serve, FullHistory(), backbone)
    third = backbone.requests[2].messages[1].parts
    assert [part for part in third if "word" in part] == ["Ann: word1\n", "Ann: word2\n", "Ann: word3\n"]
    assert third[-1] == "Ann: word3\n"
    assert backbone.requests[2].params["max_tokens"] == 9


async def test_a_turn_that_cannot_be_answered_ends_the_dialogue(tmp_path: Path) -> None:
    with pytest.raises(UpstreamError):
        await played(tmp_path, serve, FullHistory(), Scripted("one", refusal()))
    calls = Frames(tmp_path).calls()
    assert calls["outcome"].to_list() == ["ok", "http"]
    assert calls["turn"].to_list() == [1, 2]


async def test_recall_writes_everything_in_batches_and_then_asks(tmp_path: Path) -> None:
    diary = Diary()
    await played(tmp_path, recall, diary, Scripted(), write_every=2)
    assert diary.done == [
        "write t1 t2", "manage", "write t3 t4", "manage", "write t5", "manage", "read Which word?", "read Which other?",
    ]  # fmt: skip


async def test_answers_are_recorded_with_golds_evidence_and_what_was_recalled(tmp_path: Path) -> None:
    frames = await played(tmp_path, recall, Diary(), Scripted(" word1 ", "word9"))
    first, second = frames.answers().rows(named=True)
    assert (first["answer"], first["golds"], first["evidence"], first["recalled"]) == (
        "word1", '["word1"]', '["t1"]', '[["t1"]]',
    )  # fmt: skip
    assert (second["question"], second["answer"], second["outcome"]) == ("q2", "word9", "ok")


async def test_a_dated_question_says_when_it_was_asked(tmp_path: Path) -> None:
    backbone = Scripted()
    question = Question("q1", "How long ago?", ("a week",), time=datetime(2023, 5, 30, 23, 40))
    dated = Conversation("c", TURNS, (question,))
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await recall(Play(open_unit(ledger, backbone), ledger, FullHistory(), dated, 1, answer_tokens=9))
    assert backbone.requests[0].messages[1].parts[-1] == "Question, asked on 30 May 2023, 23:40: How long ago?"


async def test_a_question_that_failed_is_an_error_and_the_next_is_asked(tmp_path: Path) -> None:
    frames = await played(tmp_path, recall, FullHistory(), Scripted(refusal("busy"), "word2"))
    first, second = frames.answers().rows(named=True)
    assert (first["outcome"], first["answer"], first["error"]) == ("error", None, "busy")
    assert (second["outcome"], second["answer"]) == ("ok", "word2")


async def test_steps_say_what_was_written_and_handed_on(tmp_path: Path) -> None:
    frames = await played(tmp_path, serve, FullHistory(), Scripted())
    steps = frames.steps()
    # "Ann: wordN\n" in o200k tokens, counted by hand: Ann|:| word|1|\n. A store of the turns verbatim compresses by 1.
    assert steps.filter(stage="write")["tokens"].to_list() == [5] * 5
    assert steps.filter(stage="read")["tokens"].to_list() == [0, 5, 10, 15, 20]
    assert steps["stage"].to_list()[:4] == ["read", "answer", "write", "manage"]


class Late:
    """Tidies up only when it is asked something, and says so."""

    def __init__(self, backbone: BackboneHandle) -> None:
        self._backbone = backbone

    async def write(self, turns: Sequence[Turn]) -> None:
        """Puts everything off."""

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        with self._backbone.detour("manage"):
            await self._backbone.ask("tidy up")
        await self._backbone.ask("look")
        return Recalled()

    async def manage(self) -> None:
        """Not yet."""

    def footprint(self) -> Footprint:
        return Footprint()

    async def close(self) -> None:
        """Nothing to release."""


async def test_work_put_off_until_a_read_is_charged_to_its_own_stage_with_its_time(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        play = Play(unit, ledger, Late(BackboneHandle(unit)), DIALOGUE, 5, answer_tokens=9)
        await recall(play)
    frames = Frames(tmp_path)
    of_first = frames.calls().filter(question="q1")
    assert of_first["stage"].to_list() == ["manage", "read", "answer"]
    assert frames.steps().filter(question="q1")["stage"].to_list() == ["manage", "read", "answer"]
    assert frames.steps()["seconds"].min() >= 0  # type: ignore[operator]


async def test_a_memory_is_told_when_it_is_asked(tmp_path: Path) -> None:
    diary, dated = Diary(), Conversation("c", (Turn("t1", "Ann", "word1", datetime(2024, 5, 1)),),
                                         (Question("q", "When?", ("x",), time=datetime(2024, 6, 2)),))  # fmt: skip
    for protocol in (serve, recall):
        with new_ledger(tmp_path / protocol.__name__ / "ledger.sqlite") as ledger:
            await protocol(Play(open_unit(ledger, Scripted()), ledger, diary, dated, 1, answer_tokens=9))
    assert [done for done in diary.done if done.startswith("read")] == [
        "read word1 at 2024-05-01", "read When? at 2024-06-02",
    ]  # fmt: skip
