"""Plays one unit from start to end, and enters how it ended."""

import asyncio
import logging
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from memgauge import tokens
from memgauge.backbones.base import UpstreamError
from memgauge.conversation import Conversation
from memgauge.ledger.writer import Ledger, LedgerError
from memgauge.memories import registry as memories
from memgauge.memories.base import Evidence, GatewayAccess, Lossy, Started
from memgauge.meter.budget import Budget, BudgetExceeded
from memgauge.meter.gateway import Gateway
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.meter.stops import Stop
from memgauge.protocols.play import Play
from memgauge.protocols.prompts import answer_messages, reply_messages
from memgauge.protocols.recall import recall
from memgauge.protocols.serve import serve
from memgauge.runner.plan import Unit

_PROTOCOLS = {"serve": serve, "recall": recall}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the units of a run share besides their meter.

    ``gateway`` serves memories outside this process (None where no memory asks for one), ``work`` holds the
    directories of the units in hand, ``asks`` limits the questions that are in hand at a time. ``budget_of`` gives
    the budget of a unit where each has its own.
    """

    ledger: Ledger
    work: Path
    gateway: Gateway | None = None
    asks: asyncio.Semaphore | None = None
    budget_of: Callable[[int], Budget | None] = lambda unit: None


async def play_unit(unit: Unit, meter: Meter, around: Surroundings, tick: Callable[[int], None]) -> str | None:
    """Plays ``unit``; returns the error that it failed with, or None. What a memory lost is entered with the unit.

    A fault of the memory or its models fails this unit alone; a budget of its own that is spent interrupts it. What
    stops others too (cancellation, a spent budget, an endpoint that is down, a ledger that cannot be written) is
    raised, with the unit entered as interrupted.
    """
    ledger, number, started = around.ledger, unit.record.unit, time.perf_counter()
    attempt = ledger.start_unit(number, time.time())
    metered = meter.open(
        number, attempt=attempt, seed=unit.record.seed, budget=around.budget_of(number),
        alike=memories.alike(unit.memory.name),
    )  # fmt: skip
    status, error, lost, store, written = "interrupted", None, None, None, None
    try:
        async with AsyncExitStack() as stack:
            play = await _prepared(unit, metered, meter, around, tick, stack)
            await _PROTOCOLS[unit.record.protocol](play)
            footprint = play.memory.footprint()
            store, written = (footprint.bytes, footprint.tokens), play.written_tokens
            lost = play.memory.lost() if isinstance(play.memory, Lossy) else None
            if metered.refusal is not None:  # and a product swallowed it
                raise metered.refusal
        status = "done"
    except (asyncio.CancelledError, LedgerError):
        error = "stopped before it was finished"
        raise
    except Exception as fault:
        # A product tells of a refusal in its own words, if at all.
        stop = fault if isinstance(fault, Stop) else metered.refusal
        if stop is not None:
            error = str(stop)
            if stop.whole_run:
                raise stop from fault
            status = "interrupted" if isinstance(stop, BudgetExceeded) else "failed"
        else:
            # A memory is somebody's code: whatever it raises is the unit's error, and the run goes on.
            _log.debug("unit %s failed", number, exc_info=True)
            status = "failed"
            error = str(fault) if isinstance(fault, UpstreamError) else f"{type(fault).__name__}: {fault}"
    finally:
        ledger.end_unit(
            number, status, now=time.time(), wall_s=time.perf_counter() - started,
            error=error or lost, store=store, written_tokens=written,
        )  # fmt: skip
        ledger.commit()
    return error


async def _prepared(
    unit: Unit,
    metered: UnitMeter,
    meter: Meter,
    around: Surroundings,
    tick: Callable[[int], None],
    stack: AsyncExitStack,
) -> Play:
    """The unit's memory with its surroundings, ready to be played; ``stack`` takes them down."""
    name, conversation = unit.memory.name, unit.conversation()
    evidence: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for question in conversation.questions:
        evidence[question.text] += question.evidence
    access = directory = None
    if around.gateway is not None and memories.wants(name, "gateway"):
        around.gateway.register(metered)
        stack.callback(around.gateway.unregister, metered)
        access = GatewayAccess(
            around.gateway.base_url, metered.key, metered.model, metered.embedding_model, metered.embedding_dimensions
        )
    if memories.wants(name, "directory"):
        directory = around.work / f"unit-{unit.record.unit}"
        shutil.rmtree(directory, ignore_errors=True)  # what an attempt that was killed left behind
        directory.mkdir(parents=True)
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
    services = memories.Services(
        backbone=BackboneHandle(metered),
        embedder=EmbedderHandle(metered),
        context_tokens=_context_tokens(meter.backbone.window, conversation, unit.answer_tokens),
        evidence=Evidence(evidence),
        gateway=access,
        directory=directory,
    )
    memory = memories.create(name, unit.memory.options, services)
    stack.push_async_callback(memory.close)
    if isinstance(memory, Started):
        await memory.start()
    asks = around.asks if memories.card(name).parallel_reads else None
    return Play(
        metered, around.ledger, memory, conversation, unit.record.write_every, unit.answer_tokens, tick, asks,
        outside=access is not None,
    )  # fmt: skip


# A model's own tokenizer may need more tokens than o200k for the same text: SmolLM2 needs a tenth more on
# English dialogue. What is left out of the window is counted, what overflows it is an error.
_TOKENIZER_MARGIN = 1.2


def _context_tokens(window: int | None, conversation: Conversation, answer_tokens: int) -> int | None:
    """Tokens of recalled text that fit ``window`` beside the prompt, the longest turn or question, and the answer."""
    if window is None:
        return None
    prompts = (reply_messages((), ""), answer_messages((), ""))
    fixed = max(sum(tokens.count(message.text) for message in prompt) for prompt in prompts)
    asked = [turn.line() for turn in conversation.turns] + [question.text for question in conversation.questions]
    longest = max(map(tokens.count, asked), default=0)
    return max(0, int((window - answer_tokens) / _TOKENIZER_MARGIN) - fixed - longest - 32)
