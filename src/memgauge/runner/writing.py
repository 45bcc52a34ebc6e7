"""Lets a model write the dialogues that a workload asks for: metered, capped and replayed like any other call.

The calls belong to no unit of the plan, since the plan comes after them: they stand in a ledger of their own, in the
run's directory under ``writing``, which is there only where something was written.
"""

import time
from contextlib import AsyncExitStack
from pathlib import Path

from memgauge import __version__
from memgauge.backbones.base import ChatReply, ChatRequest, Emit
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.meter.budget import Budget, Spend
from memgauge.meter.meter import UnitMeter
from memgauge.prices import PriceCard
from memgauge.runner.limits import Limits
from memgauge.runner.lock import locked
from memgauge.runner.models import Models, meter_of
from memgauge.runner.plan import Loaded
from memgauge.runner.spends import open_flights, spent_by_unit
from memgauge.spec import Setting

FOLDER = "writing"
_UNIT = 1


async def prepare(
    loaded: Loaded, setting: Setting, models: Models, directory: Path, limits: Limits, card: PriceCard | None
) -> Spend:
    """Makes every workload ready; returns what writing has cost in this directory, now and before.

    Raises UserError where a dialogue could not be written, and a Stop where the limits leave no room for it: what was
    written by then is not paid for again.
    """
    async with AsyncExitStack() as stack:
        writer = _Writer(setting, models, directory / FOLDER, limits, card, stack)
        for _, workload in loaded.workloads:
            await workload.prepare(writer)
        return writer.spent()


class _Writer:
    """The setting's backbone, behind a meter that is opened when it is first asked."""

    def __init__(
        self,
        setting: Setting,
        models: Models,
        directory: Path,
        limits: Limits,
        card: PriceCard | None,
        stack: AsyncExitStack,
    ) -> None:
        self.name, self.model = models.backbone.name, models.backbone.model
        self.paid, self.window = models.backbone.paid, models.backbone.window
        self._setting = setting
        self._models = models
        self._directory = directory
        self._limits = limits
        self._card = card
        self._stack = stack
        self._budget: Budget | None = None
        self._meter: UnitMeter | None = None

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        self._meter = self._meter or self._opened()
        return await self._meter.chat(request, emit)

    async def close(self) -> None:
        """Nothing to release: the backbone is the run's."""

    def spent(self) -> Spend:
        """Of this and earlier runs in the directory."""
        if self._budget is not None:
            return self._budget.spent
        if not (self._directory / FILE_NAME).exists():
            return Spend(usd=0.0)
        with Ledger.open(self._directory / FILE_NAME) as ledger:
            return sum(spent_by_unit(ledger, self._card).values(), Spend(usd=0.0))

    def _opened(self) -> UnitMeter:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._stack.enter_context(locked(self._directory))
        ledger = self._stack.enter_context(_ledger(self._directory / FILE_NAME, self._record(), fsync=self.paid))
        flights, _ = open_flights(ledger, self._stack)
        self._budget = self._limits.budget(spent_by_unit(ledger, self._card).values())
        attempt = ledger.start_unit(_UNIT, time.time())
        started = time.perf_counter()
        self._stack.push(
            lambda kind, fault, trace: ledger.end_unit(
                _UNIT, "done" if kind is None else "interrupted", now=time.time(), error=str(fault) if fault else None,
                wall_s=time.perf_counter() - started,
            )
        )  # fmt: skip
        meter = meter_of(ledger, self._setting, self._models, self._budget, self._card, flights)
        unit = meter.open(_UNIT, attempt=attempt)
        self._stack.enter_context(unit.scope(0, "write"))
        return unit

    def _record(self) -> UnitRecord:
        setting, models = self._setting, self._models
        return UnitRecord(
            unit=_UNIT, key=FOLDER, memory="dialogue writer", memory_options="{}", control=True, write_every=1,
            setting="writer", backbone=setting.backbone, model=models.backbone.model, effort=setting.effort,
            embedder=setting.embedder, embedding_model=models.embedder.model, workload="synthetic", item="all",
            protocol="write", seed=0, cell_turns=None, cell_tokens=None, turns=0, mean_turn_tokens=0.0, questions=0,
        )  # fmt: skip


def _ledger(path: Path, record: UnitRecord, *, fsync: bool) -> Ledger:
    if path.exists():
        return Ledger.open(path, fsync=fsync)
    ledger = Ledger.create(path, {"name": FOLDER, "memgauge_version": __version__}, fsync=fsync)
    ledger.add_units([record])
    return ledger
