"""Estimates a plan by playing it without a model: rules answer, and the prompts are counted.

For memories that call no model the prompts are the real ones, so calls and input tokens are exact but for the
answering model's own tokenizer. For memories that do, rules stand in for what a model would have extracted. Units
that differ in nothing that matters to cost (seed, setting, repeats of a grid cell) are rehearsed once.
"""

import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from memgauge.backbones.extractive import Extractive
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.writer import Ledger
from memgauge.meter.meter import Meter
from memgauge.runner.models import open_gateway
from memgauge.runner.plan import Plan, Unit
from memgauge.runner.progress import Listener, Silent, State
from memgauge.runner.unit import Surroundings, play_unit
from memgauge.spec import Setting


@dataclass(frozen=True, slots=True)
class Estimate:
    """What ``units`` of one memory on one workload and cell will use, all together.

    ``prefix_tokens`` is the part of the input that repeats the start of an earlier prompt of its unit.
    """

    setting: str
    memory: str
    workload: str
    protocol: str
    cell: tuple[int, int] | None
    units: int = 0
    calls: int = 0
    input_tokens: int = 0
    prefix_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0

    def plus(self, usage: tuple[int, int, int, int, int]) -> "Estimate":
        """This and one more unit that uses ``usage`` (as Ledger.usage gives it)."""
        calls, read, repeated, written, embedded = usage
        return replace(
            self,
            units=self.units + 1,
            calls=self.calls + calls,
            input_tokens=self.input_tokens + read,
            prefix_tokens=self.prefix_tokens + repeated,
            output_tokens=self.output_tokens + written,
            embedding_tokens=self.embedding_tokens + embedded,
        )


async def rehearse(plan: Plan, listener: Listener | None = None) -> list[Estimate]:
    """One estimate per (setting, memory, workload, protocol, cell), in the order of the plan.

    A unit that fails is told to ``listener``; what it used until then is its estimate.
    """
    listener = listener or Silent()
    state = State(len({tuple(_cost_identity(unit)) for unit in plan.units}), skipped=0)
    known: dict[tuple[str, ...], tuple[int, int, int, int, int]] = {}
    estimates: dict[Estimate, Estimate] = {}
    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(Ledger.scratch())
        work = stack.enter_context(tempfile.TemporaryDirectory(prefix="memgauge-"))
        around = Surroundings(ledger, Path(work), gateway=await open_gateway(plan.experiment, stack))
        ledger.add_units(unit.record for unit in plan.units)
        meter = Meter(ledger, Setting(backbone="extractive", embedder="hashing"), Extractive(), Hashing())
        for unit in plan.units:
            like = tuple(_cost_identity(unit))
            if like not in known:
                known[like] = await _usage(unit, meter, around, listener, state)
            record = unit.record
            cell = (record.cell_turns, record.cell_tokens) if record.cell_turns and record.cell_tokens else None
            group = Estimate(record.setting, record.memory, record.workload, record.protocol, cell)
            estimates[group] = estimates.get(group, group).plus(known[like])
    return list(estimates.values())


async def _usage(
    unit: Unit, meter: Meter, around: Surroundings, listener: Listener, state: State
) -> tuple[int, int, int, int, int]:
    """What one unit used when it was rehearsed, as Ledger.usage gives it."""

    def note(step: int) -> None:
        state.doing[unit.record.unit] = step
        listener.stepped(unit, state)

    listener.started(unit, state)
    error = await play_unit(unit, meter, around, note)
    used = around.ledger.usage(unit.record.unit)
    state.done, state.failed = state.done + (error is None), state.failed + (error is not None)
    state.tokens += used[1] + used[3] + used[4]
    listener.ended(unit, state, error)
    return used


def _cost_identity(unit: Unit) -> Iterator[str]:
    record = unit.record
    yield from (record.memory, record.workload, record.protocol)
    if record.cell_turns is None:
        yield record.item
    else:
        yield from (str(record.cell_turns), str(record.cell_tokens))
