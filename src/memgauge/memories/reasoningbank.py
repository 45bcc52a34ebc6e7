"""ReasoningBank: what finished tasks teach, found again by the task (Ouyang et al. 2025, arXiv 2509.25140; M7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.memories.lessons import Teacher, listed
from memgauge.memories.nearest import Nearest
from memgauge.memories.reasoningbank_prompts import Lesson
from memgauge.memories.together import together
from memgauge.memories.trajectories import Sessions, Trajectory
from memgauge.memories.window import recalled_within
from memgauge.meter.handles import BackboneHandle, EmbedderHandle


@dataclass(frozen=True, slots=True)
class Record:
    """What the bank keeps of a task: the attempts at it, and what they teach.

    ``key`` is the text by which it is found, its task or its one lesson. Where no key (None) or no lesson could be made
    of the attempts, their steps stand in.
    """

    key: str | None
    steps: tuple[Item, ...]
    succeeded: bool
    lessons: tuple[Lesson, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The texts by which it is found."""
        return tuple(step.text for step in self.steps) if self.key is None else (self.key,)

    @property
    def items(self) -> tuple[Item, ...]:
        """What is recalled of it: all lessons in one block, or the steps verbatim."""
        return (Item(listed(self.lessons), Trajectory(self.steps).turn_ids),) if self.lessons else self.steps

    @property
    def is_taught(self) -> bool:
        """Whether key and lessons are there."""
        return self.key is not None and bool(self.lessons)

    def by_lesson(self) -> "list[Record]":
        """One record per lesson, found by it; itself where there is none."""
        return [replace(self, key=listed((one,)), lessons=(one,)) for one in self.lessons] or [self]


class ReasoningBank:
    """Two calls per finished trajectory, judge and extraction, both in ``write``; one embedding call per write.

    A dialogue has no tasks: each of its sessions counts as one trajectory (memories.trajectories.Sessions), and the
    judge also puts into a line what was wanted, by which the record is found: by any of its turns where that line could
    not be had. A session that is not over is no trajectory yet: its turns are recalled verbatim, after the records. So
    a conversation of S named sessions takes 2·(S − 1) calls. A read embeds the query, without a further call, and
    recalls the lessons of the ``n`` records whose tasks are nearest; the evidence of a record is all turns of its
    session.

    Where a workload has tasks of its own, ``write_trajectories`` takes them, and MaTTS spends several attempts on one:
    in parallel (``write_rollouts``: a judge call per attempt, then one extraction that contrasts them), or in sequence
    (``re_examined``, as often as wished, before ``write_trajectories``). An outcome that the environment tells is not
    judged again.

    Paper 2 finds single lessons by their own text (``find_by="lesson"``), and merges: ``merge_from`` is the cosine of
    two keys from which on their records become one, for which a call of ``manage`` makes one lesson of those that are
    redundant and leaves out those that are superseded. The authors only append.
    """

    card: ClassVar[Card] = Card(
        name="reasoningbank",
        title="ReasoningBank",
        summary="what finished sessions and tasks teach, found by the task",
        paper_id="M7",
        parallel_reads=True,
    )

    def __init__(
        self,
        backbone: BackboneHandle,
        embedder: EmbedderHandle,
        context_tokens: int | None = None,
        n: int = 1,
        find_by: str = "task",
        merge_from: float | None = None,
        session_tokens: int = 2000,
    ) -> None:
        if n < 1 or session_tokens < 1 or (merge_from is not None and merge_from <= 0):
            raise ValueError("n and session_tokens are at least 1, merge_from is above 0")
        if find_by not in ("task", "lesson"):
            raise ValueError(f"find_by is task or lesson, not {find_by!r}")
        self._teacher = Teacher(backbone)
        self._window = context_tokens
        self._n = n
        self._by_lesson = find_by == "lesson"
        self._merge_from = merge_from
        self._sessions = Sessions(session_tokens)
        self._records: list[Record] = []  # held are those that a key leads to
        self._keys = Nearest(embedder)
        self._owners: list[int] = []  # the place of the record that each key leads to
        self._lost: list[int] = []  # places of records of which no key was embedded: they are always recalled
        self._settled = 0  # records that have been through manage

    async def write(self, turns: Sequence[Turn]) -> None:
        """Draws lessons from every session that is over."""
        await self.write_trajectories(list(self._sessions.add(turns)))

    async def write_trajectories(self, trajectories: Sequence[Trajectory]) -> None:
        """Judges them side by side, then draws lessons from each, side by side."""
        judged = await together(map(self._teacher.judged, trajectories))
        drawn = await together(map(self._teacher.lessons, judged))
        attempts = zip(judged, drawn, strict=True)
        await self._enter([Record(one.task, one.steps, bool(one.succeeded), lessons) for one, lessons in attempts])

    async def write_rollouts(self, rollouts: Sequence[Trajectory]) -> None:
        """Makes one record of several attempts at one task, by contrast (MaTTS, parallel)."""
        judged = await together(map(self._teacher.judged, rollouts))
        steps = tuple(step for attempt in judged for step in attempt.steps)
        succeeded = any(attempt.succeeded for attempt in judged)
        lessons = await self._teacher.contrasted(judged)
        await self._enter([Record(judged[0].task, steps, succeeded, lessons)])

    async def re_examined(self, trajectory: Trajectory) -> Trajectory:
        """The attempt, with how it should have gone as its last step, in one call (MaTTS, sequential)."""
        return await self._teacher.re_examined(trajectory)

    async def _enter(self, records: Sequence[Record]) -> None:
        if self._by_lesson:
            records = [single for record in records for single in record.by_lesson()]
        await self._keys.add([key for record in records for key in record.keys])
        for record in records:
            first = len(self._owners)
            self._owners += [len(self._records)] * len(record.keys)
            if not self._keys.vectors[first : len(self._owners)].any():
                self._lost.append(len(self._records))
            self._records.append(record)

    async def manage(self) -> None:
        """With ``merge_from``, merges every new record with the earlier one whose key is nearest, if near enough."""
        for place in range(self._settled, len(self._records)):
            if self._merge_from is not None and (near := self._nearest_before(place, self._merge_from)) is not None:
                await self._merge(near, place)
        self._settled = len(self._records)

    def _nearest_before(self, place: int, least: float) -> int | None:
        """The place of the earlier record whose key is nearest to that of another, both of them with lessons."""
        if not self._records[place].is_taught:
            return None
        for hit in self._keys.nearest_to(self._keys.vectors[self._owners.index(place)], len(self._keys)):
            owner = self._owners[hit.place]
            if hit.similarity < least:
                return None
            if owner < place and self._records[owner].is_taught:
                return owner
        return None

    async def _merge(self, older: int, newer: int) -> None:
        """Makes the newer record one of both, to which the older one's keys lead as well."""
        one, other = self._records[older], self._records[newer]
        if lessons := await self._teacher.merged(one.lessons, other.lessons):
            steps = tuple(dict.fromkeys(one.steps + other.steps))  # two lessons may come from one attempt
            self._records[newer] = replace(other, steps=steps, lessons=lessons)
            self._owners = [newer if owner == older else owner for owner in self._owners]

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """What the nearest records teach, those that no query can find, and the pending turns."""
        near = [self._owners[hit.place] for hit in await self._keys.nearest(query, len(self._keys))]
        found = [place for place in dict.fromkeys(near) if place not in self._lost][: self._n]
        chosen = [
            ((place, step), item)
            for place in (*found, *self._lost)
            for step, item in enumerate(self._records[place].items)
        ]
        pending = [((len(self._records), step), item) for step, item in enumerate(self._sessions.pending)]
        return recalled_within(self._window, [*chosen, *reversed(pending)])

    @property
    def _held(self) -> list[Record]:
        return [self._records[place] for place in dict.fromkeys(self._owners)]

    def state(self) -> Mapping[str, float]:
        """Records and lessons held, and the tokens of the session that is not over."""
        return {
            "records": len(self._held),
            "lessons": sum(len(record.lessons) for record in self._held),
            "pending_tokens": tokens.count_all(item.text for item in self._sessions.pending),
        }

    def footprint(self) -> Footprint:
        """Keys with their vectors, lessons, trajectories, and pending turns."""
        texts = [text for record in self._held for text in {record.key or "", listed(record.lessons)}]
        steps = dict.fromkeys(step for record in self._held for step in record.steps)
        return Footprint.of_text([*texts, *(item.text for item in [*steps, *self._sessions.pending])], self._keys.bytes)

    async def close(self) -> None:
        """Forgets everything."""
        self._records.clear()
        self._sessions.pending.clear()
