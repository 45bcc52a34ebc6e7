"""What the designer learns from, what it asks for, and which bank it leaves in force."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memgauge.conversation import Turn
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.memories.memskill.designer import CASES, CLUSTERS, Designer
from memgauge.memories.memskill.executor import Executed
from memgauge.memories.memskill.memory_bank import MemoryBank
from memgauge.memories.memskill.skills import SEEDS, Skill, SkillBank
from memgauge.memories.memskill.spans import Span
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from support import Scripted, new_ledger, open_unit

MISO = Turn("t1", "Ann", "My cat Miso loves the sunny balcony.")
CLARA = Turn("t2", "Ben", "My sister Clara works at the bakery.")
SMALL_TALK = Turn("t3", "Ben", "Hey, good to hear!")
SEED_BANK = SkillBank()


def change(**fields: str) -> dict[str, str]:
    whole = {
        "change": "add_new",
        "name": "Keep pets",
        "action": "INSERT",
        "description": "Pets.",
        "instruction": "How.",
    }
    return {**whole, **fields}


@dataclass
class Bench:
    """A designer over an empty bank of memories."""

    ledger: Ledger
    backbone: Scripted
    bank: MemoryBank
    designer: Designer

    def watch(self, *turns: Turn, told: str = "", faulty: bool = False) -> None:
        """A span of which the edits wrote one memory, or none."""
        made = (self.bank.insert(told, [], "s"),) if told else ()
        self.designer.watch(Span(turns), Executed(made, faulty), SEEDS[:1])

    async def cycle(self, *changes: dict[str, str], skills: SkillBank = SEED_BANK) -> SkillBank:
        self.backbone._replies = ["a", "b", "c", json.dumps({"changes": changes})]
        await self.bank.embed()
        return await self.designer.cycle(skills, Counter())

    def frames(self) -> Frames:
        self.ledger.commit()
        return Frames(self.ledger.path)

    def faults(self) -> list[str]:
        return [what.removeprefix("memskill refine: ") for what in self.frames().table("faults")["what"]]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        backbone = Scripted()
        unit = open_unit(ledger, backbone)
        bank = MemoryBank(EmbedderHandle(unit))
        with unit.scope(3, "manage"):
            yield Bench(ledger, backbone, bank, Designer(BackboneHandle(unit), EmbedderHandle(unit), bank, k=20))


async def test_a_turn_that_the_memories_of_its_span_do_not_tell_is_a_failure(bench: Bench) -> None:
    bench.watch(MISO, CLARA, SMALL_TALK, told="Ann's cat Miso is on the balcony.")
    # Of cat, miso, loves, sunny, balcony three are told; of sister, clara, works, bakery none; small talk is no fact.
    [case] = bench.designer.pool
    assert (case.said, case.score, case.skills) == (
        "Ben: My sister Clara works at the bakery.\n",
        0.0,
        (SEEDS[0].name,),
    )


async def test_a_cycle_is_one_embedding_call_and_four_calls_that_begin_alike(bench: Bench) -> None:
    bench.watch(CLARA)
    assert await bench.cycle() == SEED_BANK
    calls = bench.frames().calls()
    assert calls["kind"].to_list() == ["embed", "chat", "chat", "chat", "chat"]
    assert set(calls["stage"]) == {"manage"}

    system, said = zip(*((one.messages[0].text, one.messages[1].text) for one in bench.backbone.requests), strict=True)
    assert len(set(system)) == 1
    shared = "".join(seed.text for seed in SEEDS) + (
        "## Failures, group 1\n"
        "Said, and not found again (skills: keep-new-facts):\nBen: My sister Clara works at the bakery.\n"
    )
    assert all(one.startswith(shared) for one in said)
    # Each step sees what the one before said.
    assert [one[len(shared) :].split("\n##")[0] for one in said[1:]] == [
        "## Analysis so far\na", "## Analysis so far\nb",
        said[3][len(shared) :].split("\n##")[0],
    ]  # fmt: skip
    assert said[3][len(shared) :].startswith("## Analysis so far\nc\nReply with one JSON object")


async def test_what_a_search_finds_after_all_teaches_nothing(bench: Bench) -> None:
    bench.watch(CLARA)
    bench.bank.insert("Ben's sister Clara works at a bakery.", [], "s")
    assert await bench.cycle(change()) == SEED_BANK
    assert bench.backbone.requests == []
    assert len(bench.designer.pool) == 0


async def test_without_failures_no_call_is_made(bench: Bench) -> None:
    assert await bench.cycle(change()) == SEED_BANK
    assert bench.frames().calls().height == 0


async def test_a_span_whose_edits_could_not_be_used_is_a_failure_whatever_is_found(bench: Bench) -> None:
    bench.watch(CLARA, faulty=True)
    bench.bank.insert(CLARA.line(), [], "s")
    await bench.cycle()
    shown = bench.backbone.requests[0].messages[1].text
    assert "No edit of this span could be used (skills: keep-new-facts):\nBen: My sister Clara" in shown
    assert "Found: Ben: My sister Clara works at the bakery.\n" in shown
    assert "not found again" not in shown


async def test_at_most_three_cases_of_each_of_five_groups_are_shown_and_the_rest_waits_with_more_weight(
    bench: Bench,
) -> None:
    letters = "abcdefghijklmnopqrstuvwx"
    for one in letters:
        bench.watch(Turn("t", "Ann", " ".join(one * n for n in (4, 5, 6, 7))))
    await bench.cycle()
    shown = bench.backbone.requests[0].messages[1].text.count("not found again")
    assert 3 <= shown <= CLUSTERS * CASES
    waiting = list(bench.designer.pool)
    assert len(waiting) == len(letters) - shown
    assert {case.fails for case in waiting} == {1}

    await bench.cycle()
    kinds = bench.frames().calls()["kind"].to_list()
    assert kinds.count("embed") == 1  # those that waited have their vectors


async def test_skills_are_added_and_refined(bench: Bench) -> None:
    bench.watch(CLARA)
    leave = SEEDS[3].name
    after = await bench.cycle(
        change(), change(change="refine_existing", name=leave, action="", description="", instruction="Never twice.")
    )
    assert after.named("keep-pets") == Skill("keep-pets", "INSERT", "Pets.", "How.")
    assert after.named(leave) == Skill(leave, "NOOP", SEEDS[3].description, "Never twice.")
    assert [skill.name for skill in after.skills] == [*(seed.name for seed in SEEDS), "keep-pets"]
    assert bench.faults() == []


@pytest.mark.parametrize(
    ("unsound", "wrong"),
    [
        (change(name=" "), "no name"),
        (change(instruction=""), "no instruction"),
        (change(description=""), "no description"),
        (change(action="REMEMBER"), "no action"),
        (change(change="refine_existing", name="keep-ships"), "no skill is called 'keep-ships'"),
        (change(name=SEEDS[0].name), f"a skill called '{SEEDS[0].name}' is in force already"),
    ],
)
async def test_a_change_that_cannot_be_made_is_told_of_and_the_others_are_made(
    bench: Bench, unsound: dict[str, str], wrong: str
) -> None:
    bench.watch(CLARA)
    after = await bench.cycle(unsound, change(name="keep-jobs"))
    assert [skill.name for skill in after.skills] == [*(seed.name for seed in SEEDS), "keep-jobs"]
    assert bench.faults() == [wrong]


async def test_no_more_than_three_changes_are_made(bench: Bench) -> None:
    bench.watch(CLARA)
    after = await bench.cycle(*(change(name=f"s{i}") for i in range(5)))
    assert [skill.name for skill in after.skills[len(SEEDS) :]] == ["s0", "s1", "s2"]
    assert bench.faults() == ["5 changes, of which 3 were made"]


async def test_replies_of_no_use_leave_the_skills_as_they_are(bench: Bench) -> None:
    bench.watch(CLARA)
    await bench.bank.embed()
    bench.backbone._replies = ["", "", "", "Add a skill for pets."]
    assert await bench.designer.cycle(SEED_BANK, Counter()) == SEED_BANK
    assert len(bench.faults()) == 4
    assert "## Analysis so far\nNone.\n" in bench.backbone.requests[-1].messages[1].text


async def test_a_bank_that_did_worse_than_the_best_is_taken_back(bench: Bench) -> None:
    bench.watch(MISO, told="Ann's cat Miso is on the balcony.")  # three of five words
    bench.watch(CLARA)  # none of four: 0.3 on average
    second = await bench.cycle(change(name="second"))

    bench.watch(Turn("t4", "Ann", "Dora bought twelve green lamps."), told="Dora bought lamps.")  # three of five
    third = await bench.cycle(change(name="third"), skills=second)
    assert third == second  # 0.6 is the best so far; without failures nothing is changed
    bench.watch(Turn("t5", "Ann", "Emil repaired seven old clocks."))
    third = await bench.cycle(change(name="third"), skills=third)  # 0, under the bank that is the best itself
    assert (third.named("third") is not None, bench.designer.rollbacks) == (True, 0)

    bench.watch(Turn("t6", "Ann", "Fay planted forty pale roses."))
    fourth = await bench.cycle(change(name="fourth"), skills=third)  # 0 under the third
    assert bench.designer.rollbacks == 1
    assert [skill.name for skill in fourth.skills[len(SEEDS) :]] == ["second", "fourth"]
