"""The designer: learns from failures which skills are missing or poor, and goes back to the best bank there was."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np

from memgauge import tokens
from memgauge.memories.asking import Asker, Prompt
from memgauge.memories.memskill.clusters import clusters
from memgauge.memories.memskill.executor import Executed
from memgauge.memories.memskill.failures import ENOUGH, Case, FailurePool, told
from memgauge.memories.memskill.memory_bank import MemoryBank
from memgauge.memories.memskill.skills import ACTIONS, Skill, SkillBank
from memgauge.memories.memskill.spans import Span
from memgauge.memories.nearest import usable_rows
from memgauge.meter.handles import BackboneHandle, EmbedderHandle

CLUSTERS = 5
CASES = 3  # shown of each cluster
CHANGES = 3  # made in one cycle, at most
_FOUND = 3  # memories shown beside a case


class Change(msgspec.Struct):
    change: Annotated[str, msgspec.Meta(extra_json_schema={"enum": ["add_new", "refine_existing"]})] = ""
    name: str = ""
    action: Annotated[str, msgspec.Meta(extra_json_schema={"enum": list(ACTIONS)})] = ""
    description: str = ""
    instruction: str = ""


class Changes(msgspec.Struct):
    changes: list[Change] = []


# The steps share one text and the cases, and differ at the end, so that a prompt cache serves three of the four.
_TASK = """\
You look after the skills by which single statements, called memories, are written down from long conversations. A
skill is a short instruction for one kind of edit: INSERT, UPDATE, DELETE or NOOP. It is general: it names kinds of
things to remember, and how, never the people or events of one conversation. You get the skills in force, and
failures, grouped by likeness: things that were said and cannot be found again among the memories, each with what a
search finds instead, and spans of text whose edits could not be used at all. Small talk among them was rightly left
out, and calls for nothing.
"""
ANALYSE = Prompt("memskill analyse", _TASK, max_tokens=800)
REFLECT = Prompt("memskill reflect", _TASK, max_tokens=800)
REFINE = Prompt("memskill refine", _TASK, max_tokens=1500)
_ANALYSE = """\
## New analysis
What do the failures of each group have in common, and which skill allowed them, or is missing?
"""
_REFLECT = """\
## New reflection
Where is this analysis wrong, too narrow, or without proof in the failures, and how does it read when mended?
"""
_REFINE = """\
Reply with one JSON object and nothing else; the list is empty where the skills are right as they are:
{"changes": [{"change": "add_new", "name": "short-name", "action": "INSERT", "description": "one sentence",
"instruction": "Purpose: ...\\nWhen: ...\\nHow: ...\\nNever: ..."}]}
add_new: a skill under a name that is not in force yet.
refine_existing: the skill of that name, written anew and whole.
## New skills
Which skills, at most three, are to be added or refined?
"""


class Designer:
    """Keeps the failures and the best bank, and changes banks.

    How good a bank is: the mean share of words that memories tell of the turns they were made from (failures.told)
    while it was in force. That compares banks on different text, as no labelled questions are at hand to ask both.
    """

    def __init__(self, backbone: BackboneHandle, embedder: EmbedderHandle, bank: MemoryBank, k: int) -> None:
        self._backbone = backbone
        self._asker = Asker(backbone)
        self._embedder = embedder
        self._bank, self._k = bank, k
        self._scores: list[float] = []  # of the bank in force
        self._best: tuple[float, SkillBank] | None = None
        self.pool = FailurePool()
        self.cycles = self.rollbacks = 0

    def watch(self, span: Span, executed: Executed, skills: Sequence[Skill]) -> None:
        """Notes what of ``span`` its memories tell, and what they do not."""
        names = tuple(skill.name for skill in skills)
        texts = [memory.text for memory in executed.made]
        if executed.faulty:
            said = "".join(turn.line() for turn in span.fresh)
            self.pool.add(Case(said, names, 0.0, unusable=True))
        for turn in span.fresh:
            score = told(turn.text, texts)
            if score is not None:
                self._scores.append(score)
                # Of a faulty span the turns stand among the memories as they are.
                if score < ENOUGH and not executed.faulty:
                    self.pool.add(Case(f"{turn.speaker}: {turn.text}\n", names, score))

    async def cycle(self, skills: SkillBank, used: Counter[str]) -> SkillBank:
        """The bank to go on with: the best so far, with up to CHANGES changes learnt from the failures.

        One embedding call where there are new failures, and four calls where any are left that a search among the
        memories does not find after all. What was shown leaves the pool: no change of a skill writes it anew. The
        others wait for the next cycle, and gain weight.
        """
        self.cycles += 1
        skills = self._better(skills)
        cases = await self._unfound()
        groups = _hardest(cases)
        taught = {case.said for group in groups for case in group}
        self.pool.keep(case for case in cases if case.said not in taught)
        if not cases:
            return skills
        shown = [*(skill.text for skill in skills.skills), *_as_shown(groups)]
        thoughts = await self._asker.text(ANALYSE, *shown, _ANALYSE) or ""
        for _ in range(2):
            thoughts = await self._asker.text(REFLECT, *shown, _analysis(thoughts), _REFLECT) or thoughts
        said = await self._asker.form(REFINE, Changes, *shown, _analysis(thoughts), _REFINE)
        for change in said.changes[:CHANGES] if said else ():
            skills = self._changed(skills, change, used)
        if said and len(said.changes) > CHANGES:
            self._backbone.fault(f"{REFINE.name}: {len(said.changes)} changes, of which {CHANGES} were made")
        return skills

    def _better(self, skills: SkillBank) -> SkillBank:
        """The bank in force, or the best before it where that did better."""
        if self._scores:
            score = sum(self._scores) / len(self._scores)
            self._scores.clear()
            if self._best is None or score >= self._best[0]:
                self._best = score, skills
            elif self._best[1] != skills:
                self.rollbacks += 1
        return self._best[1] if self._best else skills

    async def _unfound(self) -> list[Case]:
        """The cases that still fail when their words are searched for."""
        cases = list(self.pool)
        new = [place for place, case in enumerate(cases) if case.vector is None]
        if new:
            said = [cases[place].said for place in new]
            otherwise = f"{len(new)} failures were not embedded and taught nothing"
            vectors = await usable_rows(self._embedder, said, otherwise)
            if vectors is None:
                return []
            for place, vector in zip(new, vectors, strict=True):
                cases[place] = replace(cases[place], vector=vector)
        return [case for one in cases if (case := self._searched(one)).unusable or case.score < ENOUGH]

    def _searched(self, case: Case) -> Case:
        assert case.vector is not None
        found = tuple(memory.text for memory in self._bank.nearest(case.vector, self._k))
        score = case.score if case.unusable else told(case.said, found) or 0.0
        return replace(case, score=score, found=found, fails=case.fails + 1)

    def _changed(self, skills: SkillBank, change: Change, used: Counter[str]) -> SkillBank:
        """The bank with one change; a change that cannot be made is a fault and makes none."""
        name = tokens.sanitize("-".join(change.name.lower().split()))
        action, old = change.action.strip().upper(), skills.named(name)
        description = tokens.sanitize(" ".join(change.description.split())) or (old.description if old else "")
        action = action if action in ACTIONS else old.action if old else ""
        wrong = (
            "no name" if not name
            else "no instruction" if not change.instruction.strip()
            else "no description" if not description
            else "no action" if not action
            else f"no skill is called {name!r}" if change.change == "refine_existing" and not old
            else f"a skill called {name!r} is in force already" if change.change != "refine_existing" and old
            else ""
        )  # fmt: skip
        if wrong:
            self._backbone.fault(f"{REFINE.name}: {wrong}", json.dumps(msgspec.to_builtins(change)))
            return skills
        return skills.with_skill(Skill(name, action, description, tokens.sanitize(change.instruction.strip())), used)


def _hardest(cases: Sequence[Case]) -> list[list[Case]]:
    """The weightiest CASES of every cluster."""
    if not cases:
        return []
    vectors = np.stack([case.vector for case in cases if case.vector is not None])
    groups = ([cases[place] for place in places] for places in clusters(vectors, CLUSTERS))
    return [sorted(group, key=lambda case: -case.weight)[:CASES] for group in groups]


def _as_shown(groups: Sequence[Sequence[Case]]) -> Iterator[str]:
    for i, group in enumerate(groups, start=1):
        yield f"## Failures, group {i}\n"
        for case in group:
            what = "No edit of this span could be used" if case.unusable else "Said, and not found again"
            yield f"{what} (skills: {', '.join(case.skills)}):\n{case.said}"
            yield from (f"Found: {text}\n" for text in case.found[:_FOUND])


def _analysis(thoughts: str) -> str:
    return f"## Analysis so far\n{thoughts or 'None.'}\n"
