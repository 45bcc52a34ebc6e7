"""Random runs against an upstream that keeps its own till: whatever happens, it must never hold more than the limit.

The upstream is truthful and nothing else: it reads up to one token for every byte, writes up to the limit that the
request names, spreads what it read over cached, cache-write and fresh input, fails with or without charging and with
or without saying so, and takes its money also for calls that nobody waits for any more.
"""

import asyncio
import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from memgauge.backbones.base import (
    ChatReply,
    ChatRequest,
    Emit,
    UpstreamError,
    Usage,
    another_attempt,
    completion,
)
from memgauge.backbones.faults import together
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.meter.meter import Meter
from memgauge.meter.stops import Stop
from memgauge.prices import Price, PriceCard, worst_case
from memgauge.runner.limits import Limits
from memgauge.runner.spends import open_flights, spent_by_unit
from memgauge.spec import Setting
from support import unit_record

UNITS = 32
CARD = PriceCard(
    "test",
    date(2026, 1, 1),
    (
        Price("till-1", "cheap", input=0.1, cached_input=0.01, output=0.4),
        Price("till-1", "dear", input=0.5, cached_input=0.125, cache_write=0.625, output=2.0),
        Price("till-1", "dear", input=1.0, cached_input=0.25, cache_write=1.25, output=3.0, above_tokens=500),
    ),
)
_WORDS = ("red", "green", "blue", "Straße", "日本語のテキスト", "🦊", "a" * 40, "\n", "  ", "x")


@dataclass
class Till:
    """What the upstream took, in tokens and dollars."""

    tokens: int = 0
    usd: float = 0.0

    def take(self, usage: Usage, provider: str) -> None:
        """Charges for a call, at the tier that its prompt reaches."""
        read = (usage.input or 0) + (usage.cached or 0) + (usage.cache_write or 0)
        written = (usage.output or 0) + (usage.reasoning or 0)
        self.tokens += read + written
        tiers = [price for price in CARD.prices if price.provider == provider and read > price.above_tokens]
        price = tiers[-1] if tiers else next(price for price in CARD.prices if price.provider == provider)
        assert price.input is not None
        assert price.output is not None
        rates = (price.input, price.cached_input or price.input, price.cache_write or price.input)
        figures = (usage.input or 0, usage.cached or 0, usage.cache_write or 0)
        self.usd += sum(n * rate for n, rate in zip(figures, rates, strict=True)) / 1e6 + written * price.output / 1e6


class Truthful:
    """A backbone in front of a till."""

    name = "till"
    model = "till-1"
    paid = True
    window = None

    def __init__(self, chance: random.Random, till: Till) -> None:
        self._chance = chance
        self._till = till

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """Answers after some attempts, or not at all."""
        used: Usage | None = None
        attempts = 0
        while True:
            attempts += 1
            usage, provider = self._usage(request), self._chance.choice(("cheap", "dear"))
            self._till.take(usage, provider)  # whether or not anybody will hear of it
            await asyncio.sleep(self._chance.choice((0, 0, 0.0005)))
            luck = self._chance.random()
            if luck < 0.75:
                # Now and then an upstream leaves something out of its usage.
                told = replace(usage, output=None, reasoning=None) if luck < 0.05 else usage
                told = Usage() if luck > 0.72 else told
                raw = completion("t", self.model, {"content": "ok"}, "stop", {})
                return ChatReply(
                    "ok", together(used, told) or told, self.model, "stop", provider, attempts=attempts, raw=raw
                )
            # A fault that was charged for: told, or such that it is not known (a lost connection, a time-out).
            told = usage if luck < 0.85 else Usage()
            fault = UpstreamError("no", status=502, kind="http" if luck < 0.85 else "connection", usage=told)
            ask_again = another_attempt.get()
            if attempts < 4 and luck < 0.95 and ask_again is not None and await ask_again(fault):
                used = together(used, told)
                continue
            fault.usage, fault.attempts = together(used, told) or Usage(), attempts
            raise fault

    async def close(self) -> None:
        """Nothing to release."""

    def _usage(self, request: ChatRequest) -> Usage:
        size = sum(len(message.text.encode()) for message in request.messages)
        read = self._chance.choice((size // 4, size, size + 40))
        cached, write = sorted(self._chance.choice((0, self._chance.randint(0, read))) for _ in range(2))
        limit = int(request.params["max_tokens"])
        written = self._chance.choice((limit, limit, self._chance.randint(0, limit)))
        reasoning = self._chance.randint(0, written)
        return Usage(read - write, cached, write - cached, written - reasoning, reasoning)


async def spree(directory: Path, seed: int) -> tuple[Till, Limits, int]:
    """One random run, stopped and resumed at random; returns the till, the limits, and how many calls were made."""
    chance = random.Random(seed)
    limits = Limits(
        max_tokens=chance.choice((None, chance.randint(500, 200_000))),
        max_usd=chance.choice((None, chance.uniform(0.0005, 0.2))),
    )
    if limits.max_tokens is None and limits.max_usd is None:
        limits = replace(limits, max_tokens=20_000)
    till = Till()
    path = directory / FILE_NAME
    with Ledger.create(path, {}) as ledger:
        ledger.add_units([unit_record(unit, backbone="till", model="till-1") for unit in range(1, UNITS + 1)])
    for _ in range(chance.randint(1, 3)):
        job = asyncio.create_task(_attempt(path, limits, chance, till))
        if chance.random() < 0.5:
            await asyncio.sleep(chance.uniform(0, 0.02))
            job.cancel()
        await asyncio.wait({job})
        if not job.cancelled() and (fault := job.exception()) is not None:
            raise fault
    with Ledger.open(path) as ledger:
        calls = int(ledger._one("SELECT count(*) FROM calls"))
    return till, limits, calls


async def _attempt(path: Path, limits: Limits, chance: random.Random, till: Till) -> None:
    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(path))
        flights, _ = open_flights(ledger, stack)
        budget = limits.budget(spent_by_unit(ledger, CARD).values())

        def price(read: int, written: int, cached: int) -> float | None:
            return worst_case(read, written, "till-1", card=CARD, cached_tokens=cached)

        meter = Meter(
            ledger, Setting(), Truthful(chance, till), Hashing(), budget=budget, price_chat=price, flights=flights
        )
        await asyncio.gather(
            *(_unit(ledger, meter, unit, random.Random(chance.random())) for unit in range(1, UNITS + 1))
        )


async def _unit(ledger: Ledger, meter: Meter, number: int, chance: random.Random) -> None:
    unit = meter.open(number, attempt=ledger.start_unit(number, 0.0))
    for turn in range(chance.randint(4, 12)):
        text = " ".join(chance.choices(_WORDS, k=chance.randint(1, 200)))
        with unit.scope(turn, "answer"):
            try:
                await unit.chat(ChatRequest.of("Be brief.", f"{turn} {text}", max_tokens=chance.randint(1, 300)))
            except UpstreamError:
                continue
            except Stop:
                return
