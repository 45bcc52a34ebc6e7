"""The controller: which skills are followed for a span. The authors train one with PPO; neither of ours is trained."""

import json
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from memgauge.embedders.base import Vectors
from memgauge.memories.asking import Asker, Prompt
from memgauge.memories.memskill.memory_bank import Remembered
from memgauge.memories.memskill.skills import Skill, SkillBank
from memgauge.memories.memskill.spans import Span
from memgauge.meter.handles import BackboneHandle

How = Literal["embedding", "model"]


class Chosen(msgspec.Struct):
    skills: list[int] = []


CHOOSE = Prompt(
    "memskill choose",
    """\
New text is about to be worked into a memory: single statements from which questions will be answered later. How that
is done is laid down in skills. You get the new text, the memories that are nearest to it, and the skills, each with a
number. Which skills fit this text best, seen with these memories?
Reply with one JSON object and nothing else, the numbers of the skills, the best first:
{"skills": [3, 1]}
""",
    max_tokens=200,
)


class Controller:
    """The best ``top`` skills of a bank, by embedding or by asking the model; all of them where there are no more."""

    def __init__(self, backbone: BackboneHandle, how: How, top: int) -> None:
        self._backbone = backbone
        self._asker = Asker(backbone)
        self._how, self._top = how, top
        self._vectors: dict[str, Vectors] = {}  # by a skill's title

    def new_titles(self, bank: SkillBank) -> list[str]:
        """What has to be embedded beside a span before a choice can be made."""
        if len(bank.skills) <= self._top:
            return []
        return [skill.title for skill in bank.skills if skill.title not in self._vectors]

    def learn(self, titles: Sequence[str], vectors: Vectors) -> None:
        """Takes in the vectors of titles, of length 1."""
        self._vectors |= dict(zip(titles, vectors, strict=True))

    async def choose(
        self, bank: SkillBank, span: Span, near: Sequence[Remembered], vector: Vectors | None
    ) -> tuple[Skill, ...]:
        """The skills for ``span``, best first; ``vector`` is the span's, None where it has none."""
        if len(bank.skills) <= self._top:
            return bank.skills
        asked = await self._by_model(bank, span, near) if self._how == "model" else []
        return tuple((asked or self._by_embedding(bank, vector))[: self._top])

    def _by_embedding(self, bank: SkillBank, vector: Vectors | None) -> list[Skill]:
        """By cosine of span and title; the oldest first where there are no vectors."""
        if vector is None or any(skill.title not in self._vectors for skill in bank.skills):
            return list(bank.skills)
        similarity = np.stack([self._vectors[skill.title] for skill in bank.skills]) @ vector
        return [bank.skills[place] for place in np.argsort(-similarity, kind="stable")]

    async def _by_model(self, bank: SkillBank, span: Span, near: Sequence[Remembered]) -> list[Skill]:
        numbered = enumerate(bank.skills, start=1)
        said = await self._asker.form(
            CHOOSE, Chosen,
            "## Text to be worked in\n", *(turn.line() for turn in span.turns),
            "## Memories\n", *(memory.line for memory in near),
            "## Skills for the new text\n", *(f"Skill {i}: {skill.title}" for i, skill in numbered),
        )  # fmt: skip
        numbers = dict.fromkeys(said.skills) if said else {}
        if unknown := [number for number in numbers if not 1 <= number <= len(bank.skills)]:
            what = f"the reply named skills that were not shown: {', '.join(map(str, unknown))}"
            self._backbone.fault(f"{CHOOSE.name}: {what}", json.dumps(msgspec.to_builtins(said)))
        return [bank.skills[number - 1] for number in numbers if number not in unknown]
