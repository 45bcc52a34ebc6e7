"""What both protocols do with a memory: read, write and manage, each in its scope, timed and noted."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from memgauge import tokens
from memgauge.conversation import Conversation, Turn
from memgauge.ledger.records import StepRecord
from memgauge.ledger.writer import Ledger
from memgauge.memories.base import Faulty, Item, Lossy, Memory, Recalled, Stateful
from memgauge.meter.meter import UnitMeter
from memgauge.prefix import common_prefix

Done = TypeVar("Done")
Tick = Callable[[int], None]  # told the turns or questions that are done


class EverythingLostError(Exception):
    """A memory that lost all it was given."""


@dataclass(frozen=True, slots=True)
class Context:
    """What was recalled, its texts as parts of a prompt, and their tokens."""

    recalled: Recalled
    parts: tuple[str, ...]
    tokens: int


@dataclass(slots=True)
class Play:
    """One unit being played: its memory, its meter, and where its steps are noted."""

    unit: UnitMeter
    ledger: Ledger
    memory: Memory
    conversation: Conversation
    write_every: int
    answer_tokens: int
    tick: Tick = lambda done: None
    asks: asyncio.Semaphore | None = None  # questions side by side, over all units; None: one after the other
    outside: bool = False  # the memory runs in a process of its own
    written_tokens: int = 0
    _step: int = 0
    _items: tuple[Item, ...] = ()  # of the latest read, with their texts and running sums of tokens
    _parts: tuple[str, ...] = ()
    _sums: list[int] = field(default_factory=list)

    async def read(self, turn: int, query: str, question: str | None = None, at: datetime | None = None) -> "Context":
        """What the memory recalls for ``query``, asked ``at`` that time, as it stands in the prompt."""
        with self._timed(turn, "read", question) as step:
            recalled = await self._unless_refused(self.memory.read(query, at))
            context = self._context(recalled)
            step.tokens, step.turns = context.tokens, recalled.dropped_turns
        return context

    async def write(self, turn: int, turns: Sequence[Turn]) -> None:
        """Hands ``turns`` to the memory, then lets it tidy up."""
        with self._timed(turn, "write") as step:
            await self._unless_refused(self.memory.write(turns))
            step.tokens, step.turns = tokens.count_all(said.line() for said in turns), len(turns)
        self.written_tokens += step.tokens
        with self._timed(turn, "manage"):
            await self._unless_refused(self.memory.manage())
        if isinstance(self.memory, Stateful):
            state = json.dumps(dict(self.memory.state()), sort_keys=True)
            self.ledger.add_state(self.unit.unit, turn, state)

    def check_kept(self) -> None:
        """Raises EverythingLostError where the memory holds nothing of what was written: it is not an empty one."""
        if isinstance(self.memory, Lossy) and (why := self.memory.all_lost()):
            raise EverythingLostError(why)

    async def _unless_refused(self, work: Coroutine[Any, Any, Done]) -> Done:
        """What the memory does; where it runs outside, only until a call of its is refused for good.

        A product takes our last word for a fault among others, and asks again, for minutes. What it still has under way
        is paid for, and is waited for. Raises the Stop.
        """
        if not self.outside:
            return await work
        working, refused = asyncio.ensure_future(work), asyncio.ensure_future(self.unit.refused())
        try:
            await asyncio.wait((working, refused), return_when=asyncio.FIRST_COMPLETED)
            if working.done() or self.unit.refusal is None:
                return await working
            raise self.unit.refusal
        finally:
            for task in (working, refused):
                task.cancel()
            await asyncio.gather(working, refused, return_exceptions=True)

    @contextmanager
    def answering(self, turn: int, question: str | None = None) -> Iterator[None]:
        """The scope in which the generator is called."""
        with self._timed(turn, "answer", question):
            yield

    @contextmanager
    def _timed(self, turn: int, stage: str, question: str | None = None) -> Iterator["_Step"]:
        step = _Step()
        with self.unit.scope(turn, stage, question, parallel=self.asks is not None and question is not None):
            started = time.perf_counter()
            try:
                yield step
            finally:
                seconds = time.perf_counter() - started
                for detour, spent in self.unit.detours():
                    self._note(turn, question, detour, _Step(), spent)
                    seconds -= spent
                self._note(turn, question, stage, step, seconds)
                if isinstance(self.memory, Faulty):
                    for fault in self.memory.faults():
                        self.unit.fault(fault.what, fault.reply, len(fault.turn_ids))

    def _note(self, turn: int, question: str | None, stage: str, step: "_Step", seconds: float) -> None:
        self._step += 1
        self.ledger.add_step(
            StepRecord(self.unit.unit, self._step, turn, question, stage, step.turns, step.tokens, seconds)
        )

    def _context(self, recalled: Recalled) -> "Context":
        """Parts and tokens of what was recalled; what the read before recalled as well is not gone through again."""
        items = recalled.items
        shared = common_prefix(self._items, items)
        del self._sums[shared:]
        new = tuple([item.text for item in items[shared:]])
        total = self._sums[-1] if self._sums else 0
        for size in tokens.count_each(new):
            total += size
            self._sums.append(total)
        self._items, self._parts = items, self._parts[:shared] + new
        return Context(recalled, self._parts, total)


@dataclass(slots=True)
class _Step:
    tokens: int = 0
    turns: int = 0
