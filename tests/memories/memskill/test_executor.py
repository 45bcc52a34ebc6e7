"""What the executor makes of the model's edits, sound and unsound."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memgauge.conversation import Turn
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.memories.memskill.executor import Executed, Executor
from memgauge.memories.memskill.memory_bank import MemoryBank
from memgauge.memories.memskill.skills import SEEDS
from memgauge.memories.memskill.spans import Span
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from support import Scripted, new_ledger, open_unit

PORTO = Turn("t1", "Ann", "I moved to Porto last Tuesday.")
MISO = Turn("t2", "Ann", "My cat Miso loves the sunny balcony.")
CLARA = Turn("t3", "Ben", "My sister Clara works at the bakery.")
SPAN = Span((PORTO, MISO, CLARA), seen=1)


@dataclass
class Bench:
    """An executor over a bank that holds two memories, of which the first is shown."""

    ledger: Ledger
    backbone: Scripted
    bank: MemoryBank
    executor: Executor

    async def execute(self, *edits: object) -> Executed:
        self.backbone._replies = [json.dumps({"operations": edits})]
        return await self.executor.execute(SPAN, self.bank.held[:1], SEEDS)

    def texts(self) -> list[str]:
        return [memory.text for memory in self.bank.held]

    def faults(self) -> list[str]:
        """What is told of, without who asked."""
        return [what.removeprefix("memskill execute: ") for what in self.frames().table("faults")["what"]]

    def frames(self) -> Frames:
        self.ledger.commit()
        return Frames(self.ledger.path)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        backbone = Scripted()
        unit = open_unit(ledger, backbone)
        bank = MemoryBank(EmbedderHandle(unit))
        bank.insert("Ann lives in Braga.", ["t0"], "s")
        bank.insert("Ben is a plumber.", ["t0"], "s")
        with unit.scope(3, "write"):
            yield Bench(ledger, backbone, bank, Executor(BackboneHandle(unit), bank))


async def test_an_insert_is_owed_to_the_turn_that_says_it(bench: Bench) -> None:
    executed = await bench.execute({"action": "INSERT", "number": 0, "text": " Ann's cat Miso\nloves the balcony. "})
    [memory] = executed.made
    assert (memory.number, memory.text, memory.turn_ids) == (3, "Ann's cat Miso loves the balcony.", ("t2",))
    assert (memory.skill, executed.faulty) == ("keep-new-facts", False)


async def test_an_update_is_owed_to_its_old_turns_and_to_the_turn_of_its_new_words(bench: Bench) -> None:
    text = "Ann lives in Braga no more; moved to Porto."
    [memory] = (await bench.execute({"action": "UPDATE", "number": 1, "text": text})).made
    # "no more; moved to Porto." shares moved and porto with t1 and nothing with the others.
    assert (memory.number, memory.text, memory.turn_ids) == (1, text, ("t0", "t1"))
    assert memory.skill == "bring-up-to-date"
    assert bench.texts() == [text, "Ben is a plumber."]


async def test_delete_and_noop_make_no_memory_and_no_fault(bench: Bench) -> None:
    assert await bench.execute({"action": "DELETE", "number": 1, "text": ""}) == Executed((), False)
    assert bench.texts() == ["Ben is a plumber."]
    assert await bench.execute({"action": "noop", "number": 0, "text": ""}) == Executed((), False)
    assert bench.texts() == ["Ben is a plumber."]
    assert bench.faults() == []


@pytest.mark.parametrize("action", ["UPDATE", "DELETE"])
async def test_a_memory_that_was_not_shown_is_left_alone_and_the_text_is_a_memory_more(
    bench: Bench, action: str
) -> None:
    text = "Clara, Ben's sister, works at the bakery; Ann's cat Miso loves the sunny balcony."
    executed = await bench.execute({"action": action, "number": 2, "text": text})
    assert bench.texts() == ["Ann lives in Braga.", "Ben is a plumber.", text]
    assert executed.faulty
    assert bench.faults() == [f"{action} of memory 2, which was not shown"]
    frames = bench.frames()
    reply = frames.text(frames.table("faults")["reply"][0])
    assert json.loads(reply) == {"action": action, "number": 2, "text": text}


async def test_what_no_sound_edit_tells_stands_as_it_was_said_where_an_edit_was_unsound(bench: Bench) -> None:
    executed = await bench.execute(
        {"action": "INSERT", "number": 0, "text": "Ben's sister Clara works at the bakery."},
        {"action": "INSERT", "number": 0, "text": " "},
    )
    assert bench.faults() == ["INSERT without text"]
    assert bench.texts()[2:] == ["Ben's sister Clara works at the bakery.", "Ann: My cat Miso loves the sunny balcony."]
    assert [memory.text for memory in executed.made] == bench.texts()[2:3]
    assert bench.bank.held[-1].turn_ids == ("t2",)


@pytest.mark.parametrize(
    ("edit", "wrong"),
    [
        ({"action": "UPDATE", "number": 1, "text": ""}, "UPDATE of memory 1, without text"),
        ({"action": "MERGE", "number": 1, "text": ""}, "no edit is called 'MERGE'"),
        ({"action": "DELETE", "number": 77, "text": ""}, "DELETE of memory 77, which was not shown"),
    ],
)
async def test_an_edit_that_means_nothing_is_told_and_the_fresh_turns_are_kept(
    bench: Bench, edit: object, wrong: str
) -> None:
    await bench.execute(edit)
    assert bench.faults() == [wrong]
    # t1 stood in the span before, which has dealt with it.
    assert bench.texts()[2:] == [MISO.line().strip(), CLARA.line().strip()]


async def test_a_reply_without_any_edit_is_a_fault(bench: Bench) -> None:
    assert await bench.execute() == Executed((), True)
    assert bench.faults() == ["the reply held no edit, not even NOOP"]
    assert bench.texts()[2:] == [MISO.line().strip(), CLARA.line().strip()]


async def test_a_memory_is_edited_once_gone_no_more(bench: Bench) -> None:
    await bench.execute(
        {"action": "DELETE", "number": 1, "text": ""},
        {"action": "UPDATE", "number": 1, "text": "Clara, Ben's sister, works at the bakery. Miso loves a balcony."},
    )
    assert bench.texts()[1] == "Clara, Ben's sister, works at the bakery. Miso loves a balcony."
    assert bench.faults() == ["UPDATE of memory 1, which was not shown"]


async def test_what_is_written_and_taken_out_in_one_reply_was_not_made(bench: Bench) -> None:
    executed = await bench.execute(
        {"action": "UPDATE", "number": 1, "text": "Ann lives in Porto."}, {"action": "DELETE", "number": 1, "text": ""}
    )
    assert executed == Executed((), False)
    assert bench.texts() == ["Ben is a plumber."]


async def test_the_prompt_tells_what_is_new_from_what_was_seen(bench: Bench) -> None:
    await bench.execute({"action": "NOOP", "number": 0, "text": ""})
    said = bench.backbone.requests[-1].messages[1].text
    before, new = said.split("## New text\n")
    assert new == MISO.line() + CLARA.line()
    assert before.endswith("## Memories\n1. Ann lives in Braga.\n## Seen before\n" + PORTO.line())
    assert before.startswith("".join(seed.text for seed in SEEDS))
