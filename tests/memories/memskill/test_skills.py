"""Which skills a bank holds after changes."""

from collections import Counter
from itertools import pairwise

from memgauge.memories.memskill.skills import ACTIONS, CAPACITY, SEEDS, Skill, SkillBank


def skill(name: str, description: str = "d") -> Skill:
    return Skill(name, "INSERT", description, "i")


def names(bank: SkillBank) -> list[str]:
    return [one.name for one in bank.skills]


def test_the_seeds_have_one_skill_for_every_action() -> None:
    assert tuple(seed.action for seed in SkillBank().skills) == ACTIONS


def test_a_skill_of_a_known_name_takes_its_place_and_another_stands_behind() -> None:
    bank = SkillBank((skill("a"), skill("b"))).with_skill(skill("a", "better"), Counter())
    assert bank.skills == (skill("a", "better"), skill("b"))
    assert names(bank.with_skill(skill("c"), Counter())) == ["a", "b", "c"]


def test_a_bank_is_its_own_snapshot() -> None:
    before = SkillBank()
    before.with_skill(skill("new"), Counter())
    assert before.skills == SEEDS


def test_a_full_bank_lets_go_of_the_least_used_and_of_those_the_oldest_but_never_of_a_seed() -> None:
    bank = SkillBank()
    for i in range(CAPACITY - len(SEEDS)):
        bank = bank.with_skill(skill(f"s{i}"), Counter())
    used = Counter({f"s{i}": 5 for i in range(CAPACITY)} | {"s7": 2, "s9": 2})

    fuller = bank.with_skill(skill("new"), used)
    assert len(fuller.skills) == CAPACITY
    assert set(names(bank)) - set(names(fuller)) == {"s7"}
    assert names(fuller)[-1] == "new"
    assert fuller.skills[: len(SEEDS)] == SEEDS


def test_a_seeds_text_says_when_it_applies_and_what_it_must_not_do() -> None:
    for seed in SEEDS:
        places = [seed.text.index(part) for part in ("Purpose:", "When:", "How:", "Never:")]
        assert all(one < other for one, other in pairwise(places))
