"""Runs an experiment: opens the run directory and the models, plays what is missing, and leaves a ledger behind."""

import asyncio
import platform
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memgauge import __version__
from memgauge.errors import UserError
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.meter.budget import Budget
from memgauge.meter.circuit import ABOUT_THE_REQUEST, EndpointDown
from memgauge.meter.meter import Meter
from memgauge.meter.stops import Stop
from memgauge.prices import load_card
from memgauge.protocols import prompts
from memgauge.runner.brake import Brake
from memgauge.runner.limits import Limits
from memgauge.runner.lock import locked
from memgauge.runner.models import Models, meter_of, open_gateway, open_models
from memgauge.runner.plan import Loaded, Plan, Unit, check, load, numbered, plan
from memgauge.runner.progress import Listener, Silent, State
from memgauge.runner.provenance import note_products, paper_ids
from memgauge.runner.spends import open_flights, spent_by_unit, stop_words
from memgauge.runner.unit import Surroundings, play_unit
from memgauge.runner.writing import prepare
from memgauge.spec import Experiment


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. ``stopped`` says why it ended before its last unit: the budget, or (``down``) an endpoint."""

    directory: Path
    done: int
    failed: int
    skipped: int
    stopped: str | None = None
    down: bool = False


async def run(
    experiment: Experiment,
    directory: Path,
    limits: Limits | None = None,
    listener: Listener | None = None,
    brake: Brake | None = None,
) -> Outcome:
    """Plays every unit of ``experiment`` that ``directory`` does not hold yet, or not without the upstream's failures.

    Raises UserError before anything is written where the experiment cannot be run. Where the ``brake`` is pulled, and
    on cancellation, the units in hand are entered as interrupted; the same call then goes on from what was recorded.
    The brake lets calls that are under way finish, cancellation cuts them off.
    """
    limits, listener = limits or Limits(), listener or Silent()
    check(experiment)
    _check_directory(directory, experiment)
    card = load_card(experiment.prices) if experiment.prices else None
    loaded = load(experiment)
    for word in loaded.left_out:
        listener.warned(word)
    async with AsyncExitStack() as stack:
        models = {
            name: await open_models(setting, stack, limits.calls(paid=True))
            for name, setting in experiment.settings.items()
        }
        first = next(iter(models))
        try:
            writing = await prepare(loaded, experiment.settings[first], models[first], directory, limits, card)
        except Stop as stop:
            return Outcome(directory, 0, 0, 0, stop_words(stop), isinstance(stop, EndpointDown))
        named = {name: (pair.backbone.model, pair.embedder.model) for name, pair in models.items()}
        planned = plan(experiment, named, loaded)
        paid = any(pair.paid for pair in models.values())
        directory.mkdir(parents=True, exist_ok=True)
        stack.enter_context(locked(directory))
        ledger = stack.enter_context(_ledger(directory, experiment, loaded, models, fsync=paid))
        planned = numbered(planned, ledger.unit_numbers())
        ledger.add_units(unit.record for unit in planned.units)
        ledger.commit()
        flights, left = open_flights(ledger, stack)
        if left:
            listener.warned(_left_words(len(left), sum(one.input_at_most + one.output_at_most for one in left)))
        spent = spent_by_unit(ledger, card)
        budget = limits.budget([writing, *spent.values()])
        if brake is not None:
            brake.tie(budget)
        meters = {
            name: meter_of(ledger, experiment.settings[name], pair, budget, card, flights)
            for name, pair in models.items()
        }
        concurrency = limits.tasks(paid)
        around = Surroundings(
            ledger,
            work=directory / "work",
            gateway=await open_gateway(experiment, stack),
            asks=asyncio.Semaphore(concurrency) if concurrency > 1 else None,
            budget_of=lambda unit: limits.unit_budget(budget, spent.get(unit)),
        )
        return await _play(planned, meters, around, budget, concurrency, listener, directory)


async def _play(
    planned: Plan,
    meters: Mapping[str, Meter],
    around: Surroundings,
    budget: Budget,
    concurrency: int,
    listener: Listener,
    directory: Path,
) -> Outcome:
    status = around.ledger.unit_status()
    again = around.ledger.unanswered(ABOUT_THE_REQUEST)  # costs no more than the calls that failed
    missing = [unit for unit in planned.units if status[unit.record.key] != "done" or unit.record.key in again]
    state = State(len(planned.units), skipped=len(planned.units) - len(missing))
    gate = asyncio.Semaphore(concurrency)
    stops: dict[str | None, Stop] = {}  # by the setting whose endpoint is down; None: of the whole run

    def note(unit: Unit, step: int) -> None:
        state.doing[unit.record.unit] = step
        state.tokens, state.usd = budget.spent.tokens, budget.spent.usd
        listener.stepped(unit, state)

    async def one(unit: Unit) -> None:
        async with gate:
            setting = unit.record.setting
            if None in stops or setting in stops:
                return
            listener.started(unit, state)
            try:
                error = await play_unit(unit, meters[setting], around, partial(note, unit))
            except Stop as stop:
                # Units in hand go on until they are refused as well: what is under way is paid for.
                stops.setdefault(setting if isinstance(stop, EndpointDown) else None, stop)
                return
            finally:
                state.doing.pop(unit.record.unit, None)
            state.done, state.failed = state.done + (error is None), state.failed + (error is not None)
            listener.ended(unit, state, error)

    try:
        async with asyncio.TaskGroup() as group:
            for unit in missing:
                group.create_task(one(unit))
    except* UserError as faults:
        raise faults.exceptions[0] from None
    stop = stops.get(None) or next(iter(stops.values()), None)
    stopped = None if stop is None else stop_words(stop)
    return Outcome(directory, state.done, state.failed, state.skipped, stopped, isinstance(stop, EndpointDown))


def _left_words(calls: int, tokens: int) -> str:
    return (
        f"the process before died with {calls} {'call' if calls == 1 else 'calls'} under way; they may have been"
        f" charged for, {tokens:,} tokens at most, which count against the limits"
    )


def _check_directory(directory: Path, experiment: Experiment) -> None:
    path = directory / FILE_NAME
    if not path.exists():
        return
    with Ledger.open(path) as ledger:
        if ledger.meta().get("spec_hash") != experiment.hash():
            raise UserError(f"{directory} belongs to another spec; choose another --out, or remove it to start afresh")


def _ledger(
    directory: Path, experiment: Experiment, loaded: Loaded, models: Mapping[str, Models], *, fsync: bool
) -> Ledger:
    path = directory / FILE_NAME
    if path.exists():
        ledger = Ledger.open(path, fsync=fsync)
    else:
        meta = {
            "spec": experiment.canonical(),
            "spec_hash": experiment.hash(),
            "name": experiment.name,
            "memgauge_version": __version__,
            "python_version": platform.python_version(),
            "prompts_version": prompts.VERSION,
            "paper_ids": paper_ids(experiment.memory_uses()),
        }
        meta |= {f"provenance.{name}.{key}": value for name, pair in models.items()
                 for key, value in pair.provenance().items()}  # fmt: skip
        ledger = Ledger.create(path, meta, fsync=fsync)
    note_products(ledger, loaded.memories)
    return ledger
