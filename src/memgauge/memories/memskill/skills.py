"""Skills: recipes for writing memories, and the bank that holds them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

CAPACITY = 30
ACTIONS = ("INSERT", "UPDATE", "DELETE", "NOOP")


@dataclass(frozen=True, slots=True)
class Skill:
    """How one kind of edit of the memories is made; ``action`` is one of ACTIONS."""

    name: str
    action: str
    description: str
    instruction: str

    @property
    def title(self) -> str:
        """What it is chosen by."""
        return f"{self.name}: {self.description}\n"

    @property
    def text(self) -> str:
        """What it is followed by."""
        return f"Skill {self.name} ({self.action}): {self.description}\n{self.instruction}\n"


SEEDS = (
    Skill(
        "keep-new-facts",
        "INSERT",
        "Write down what the text tells for the first time.",
        "Purpose: nothing that somebody may ask about later is lost.\n"
        "When: the text states a fact, an event, a plan, a taste, an opinion or a number that no memory holds.\n"
        "How: one memory per fact; say who, what, when and where in full, with names for pronouns and dates for "
        "words like yesterday.\n"
        "Never: greetings, thanks, questions that get no answer; nothing that is only guessed.",
    ),
    Skill(
        "bring-up-to-date",
        "UPDATE",
        "Rewrite a memory to which the text adds something, or which it changes.",
        "Purpose: one memory holds all that is known of its matter.\n"
        "When: the text speaks of the same matter as a memory, and says more, or something newer.\n"
        "How: write the memory anew and whole; keep what still holds, add what is new, and say since when.\n"
        "Never: two matters in one memory; a detail of the old memory dropped because the text does not repeat it.",
    ),
    Skill(
        "drop-what-is-wrong",
        "DELETE",
        "Take out a memory that the text shows to be false.",
        "Purpose: nothing false is remembered.\n"
        "When: the text takes back or corrects what a memory says, and nothing of the memory remains true.\n"
        "How: name the memory's number; what is true instead goes into a memory of its own.\n"
        "Never: a memory that is merely old; what was true once is updated, with its dates.",
    ),
    Skill(
        "leave-as-is",
        "NOOP",
        "Change nothing where the text tells nothing.",
        "Purpose: the memories stay few and clear.\n"
        "When: the text is small talk, or says only what the memories hold already.\n"
        "How: reply with this one edit.\n"
        "Never: together with other edits.",
    ),
)


@dataclass(frozen=True, slots=True)
class SkillBank:
    """At most CAPACITY skills, of different names, oldest first. A bank never changes: it is its own snapshot."""

    skills: tuple[Skill, ...] = SEEDS

    def named(self, name: str) -> Skill | None:
        """The skill of that name."""
        return next((skill for skill in self.skills if skill.name == name), None)

    def with_skill(self, skill: Skill, used: Counter[str]) -> "SkillBank":
        """With ``skill`` in place of the one of its name, or behind the others.

        Where the bank is full the least ``used`` skill makes room, of those the oldest; the seeds stay.
        """
        if self.named(skill.name):
            return replace(self, skills=tuple(skill if one.name == skill.name else one for one in self.skills))
        kept = self.skills
        if len(kept) >= CAPACITY:
            least = min(self._spare(), key=lambda one: used[one.name])
            kept = tuple(one for one in kept if one is not least)
        return replace(self, skills=(*kept, skill))

    def _spare(self) -> Iterable[Skill]:
        seeds = {seed.name for seed in SEEDS}
        return (skill for skill in self.skills if skill.name not in seeds)
