"""MemSkill: skills, recipes for writing memories, chosen for every span of text, that evolve (arXiv 2602.02474; M8)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.memories.memskill.controller import Controller, How
from memgauge.memories.memskill.designer import Designer
from memgauge.memories.memskill.executor import Executor
from memgauge.memories.memskill.memory_bank import MemoryBank, Remembered
from memgauge.memories.memskill.skills import SkillBank
from memgauge.memories.memskill.spans import Span, Spans
from memgauge.memories.nearest import usable_rows
from memgauge.memories.window import Place, recalled_within
from memgauge.meter.handles import BackboneHandle, EmbedderHandle


class MemSkill:
    """Edits its memories once per span of ``span_tokens``, by the best ``top_skills`` of at most 30 skills.

    Per span one embedding call for it (and the titles of skills that are new), one call of the executor, which sees
    the ``k`` nearest memories, and one embedding call for what the edits wrote; with ``controller="model"`` one call
    more where there is a choice, that is, where more than ``top_skills`` skills are held. After ``designer_every``
    spans (0: never) manage takes one embedding call for new failures and four calls to change the skills, none
    where nothing failed. Lines of s tokens close 1 + ⌊(T − n − 1) / (n − o)⌋ spans in T > n turns, n = ⌊512 / s⌋ in a
    span and o = ⌊64 / s⌋ of them in the next as well.

    A read takes the ``k`` nearest memories, one embedding call, and the turns that stand in no span yet, as they are.
    With ``prefill_skills`` (paper 2) it takes no call: everything is recalled, every skill with the memories that it
    wrote, as far as the backbone's window goes. That is how we read its "all refined skill bundles", since a skill
    alone tells nothing of the conversation; it merges no skills either, which the authors do not do.

    A memory is evidence of the turns of its span that share its words, or of the whole span (provenance.narrowed);
    an update adds to them. The authors train a controller, and take failures from labelled questions, before anything
    is measured; here nothing is trained, and failures come from the dialogue itself (failures.py).
    """

    card: ClassVar[Card] = Card(
        name="memskill",
        title="MemSkill",
        summary="skills that edit the memories span by span, and evolve by what was lost",
        paper_id="M8",
        parallel_reads=True,
    )

    def __init__(
        self,
        backbone: BackboneHandle,
        embedder: EmbedderHandle,
        context_tokens: int | None = None,
        k: int = 20,
        span_tokens: int = 512,
        overlap_tokens: int = 64,
        top_skills: int = 7,
        controller: How = "embedding",
        designer_every: int = 10,
        prefill_skills: bool = False,
    ) -> None:
        if k < 1 or top_skills < 1 or designer_every < 0:
            raise ValueError("k and top_skills are at least 1, designer_every at least 0")
        if span_tokens and not (span_tokens >= 64 and 0 <= overlap_tokens <= span_tokens // 2):
            raise ValueError("span_tokens is 0 or at least 64, overlap_tokens at most half of it")
        if controller not in ("embedding", "model"):
            raise ValueError(f"the controller is 'embedding' or 'model', not {controller!r}")
        self._embedder = embedder
        self._window = context_tokens
        self._k = k
        self._every = designer_every
        self._prefills = prefill_skills
        self._spans = Spans(span_tokens, overlap_tokens)
        self._memories = MemoryBank(embedder)
        self._skills = SkillBank()
        self._used: Counter[str] = Counter()
        self._controller = Controller(backbone, controller, top_skills)
        self._executor = Executor(backbone, self._memories)
        self._designer = Designer(backbone, embedder, self._memories, k)
        self._written = self._designed = 0  # spans

    async def write(self, turns: Sequence[Turn]) -> None:
        """Works in every span that ``turns`` close, one after the other: each sees what the one before left."""
        for span in self._spans.add(turns):
            await self._work_in(span)
            self._written += 1

    async def manage(self) -> None:
        """Lets the designer change the skills, when it is time."""
        if self._every and self._written - self._designed >= self._every:
            self._designed = self._written
            self._skills = await self._designer.cycle(self._skills, self._used)

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The nearest memories in the order they were written, then what stands in no span yet.

        Where the window is too small the oldest turns give way first, then the memories that are least alike.
        """
        if self._prefills:
            return self._prefilled()
        found = await self._memories.search(query, self._k)
        ranking = [((0, memory.number), _item(memory)) for memory in found]
        return recalled_within(self._window, [*ranking, *self._waiting(1)])

    def state(self) -> Mapping[str, float]:
        """What drives its cost, and what the designer did."""
        return {
            "spans": self._written, "memories": len(self._memories), "open_tokens": self._spans.open_tokens,
            "skills": len(self._skills.skills), "failures": len(self._designer.pool),
            "cycles": self._designer.cycles, "rollbacks": self._designer.rollbacks,
        }  # fmt: skip

    def footprint(self) -> Footprint:
        """What a read needs: memories with their float32 vectors, and open turns.

        Where skills are recalled, these and their numbers beside the memories, four bytes each, in place of vectors.
        """
        texts = [memory.text for memory in self._memories.held]
        texts += [turn.line() for turn in self._spans.open]
        if self._prefills and texts:
            texts += [skill.text for skill in self._skills.skills]
        return Footprint.of_text(texts, 4 * len(self._memories) if self._prefills else self._memories.vector_bytes)

    async def close(self) -> None:
        """Nothing to release."""

    def _prefilled(self) -> Recalled:
        """Every skill, behind it what it wrote, oldest first; the oldest memories give way where not all fits."""
        skills, held = self._skills.skills, self._memories.held
        if not held and not self._spans.open:
            return Recalled()
        shelf = {skill.name: i for i, skill in enumerate(skills)}
        heads = [((i,), Item(skill.text)) for i, skill in enumerate(skills)]
        # What was written by a skill that is gone stands with the first one.
        written = [((shelf.get(one.skill, 0), one.number), _item(one)) for one in reversed(held)]
        recalled = recalled_within(self._window, [*heads, *self._waiting(len(skills)), *written])
        return replace(recalled, ranked=tuple(item.turn_ids for item in recalled.items if item.turn_ids))

    def _waiting(self, place: int) -> list[tuple[Place, Item]]:
        """What stands in no span yet, the newest first."""
        return [((place, i), Item.of(turn)) for i, turn in reversed(list(enumerate(self._spans.open)))]

    async def _work_in(self, span: Span) -> None:
        titles = self._controller.new_titles(self._skills)
        texts = ["".join(turn.line() for turn in span.turns), *titles]
        otherwise = "a span was not embedded, and is worked in without regard to memories"
        vectors = await usable_rows(self._embedder, texts, otherwise)
        if vectors is not None:
            self._controller.learn(titles, vectors[1:])
        vector = None if vectors is None else vectors[0]
        near = [] if vector is None else self._memories.nearest(vector, self._k)
        skills = await self._controller.choose(self._skills, span, near, vector)
        self._used.update(skill.name for skill in skills)
        executed = await self._executor.execute(span, near, skills)
        await self._memories.embed()
        if self._every:
            self._designer.watch(span, executed, skills)


def _item(memory: Remembered) -> Item:
    return Item(memory.text, memory.turn_ids)
