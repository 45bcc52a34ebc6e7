"""What both protocols do with a memory: read, write and manage, each in its scope, timed and noted."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memgauge import tokens
from memgauge.conversation import Conversation, Turn
from memgauge.ledger.records import StepRecord
from memgauge.ledger.writer import Ledger
from memgauge.memories.base import Item, Memory, Recalled, Stateful
from memgauge.meter.meter import UnitMeter
from memgauge.prefix import common_prefix

Tick = Callable[[int], None]  # told the turns or questions that are done


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
    written_tokens: int = 0
    _step: int = 0
    _counted: tuple[Item, ...] = ()
    _sums: list[int] = field(default_factory=list)

    async def read(self, turn: int, query: str, question: str | None = None) -> tuple[Recalled, int]:
        """What the memory recalls for ``query``, and its size in tokens."""
        with self._timed(turn, "read", question) as step:
            recalled = await self.memory.read(query)
            step.tokens, step.turns = self._size(recalled.items), recalled.dropped_turns
        return recalled, step.tokens

    async def write(self, turn: int, turns: Sequence[Turn]) -> None:
        """Hands ``turns`` to the memory, then lets it tidy up."""
        with self._timed(turn, "write") as step:
            await self.memory.write(turns)
            step.tokens, step.turns = tokens.count_all(said.text for said in turns), len(turns)
        self.written_tokens += step.tokens
        with self._timed(turn, "manage"):
            await self.memory.manage()
        if isinstance(self.memory, Stateful):
            state = json.dumps(dict(self.memory.state()), sort_keys=True)
            self.ledger.add_state(self.unit.unit, turn, state)

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
                self._step += 1
                self.ledger.add_step(
                    StepRecord(self.unit.unit, self._step, turn, question, stage, step.turns, step.tokens, seconds)
                )

    def _size(self, items: tuple[Item, ...]) -> int:
        """Tokens of ``items``; what the previous read recalled as well is not added up again."""
        shared = common_prefix(self._counted, items)
        del self._sums[shared:]
        total = self._sums[-1] if self._sums else 0
        for item in items[shared:]:
            total += tokens.count(item.text)
            self._sums.append(total)
        self._counted = items
        return total


@dataclass(slots=True)
class _Step:
    tokens: int = 0
    turns: int = 0
