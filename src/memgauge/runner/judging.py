"""Judges the answers of a finished run, without running it again; what was judged before is not judged twice."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.meter.circuit import EndpointDown
from memgauge.meter.meter import UnitMeter
from memgauge.meter.stops import Stop
from memgauge.prices import load_card
from memgauge.protocols.judge import Answered, judge
from memgauge.protocols.rubrics import Rubric, default_for, load
from memgauge.runner.brake import Brake
from memgauge.runner.limits import Limits
from memgauge.runner.lock import locked
from memgauge.runner.models import check, meter_of, open_models
from memgauge.runner.spends import open_flights, spent_by_unit, stop_words
from memgauge.spec import Setting

# Judges that cannot judge: their verdicts prove the pipeline and nothing else.
UNFIT = {
    "extractive": "the extractive backbone fills in a form by rule; its verdicts are no judgement",
    "constant": "the constant backbone always says the same; its verdicts are no judgement",
    "embedded": "the embedded model is far too small to judge; its verdicts prove the pipeline only",
}


@dataclass(frozen=True, slots=True)
class Judging:
    """What is judged and how: rubrics by name or file (none: each workload's own), ``repeats`` of each."""

    setting: Setting
    rubrics: Sequence[str] = ()
    repeats: int = 1
    memories: Sequence[str] = ()
    prices: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """How it ended: verdicts given, errors among them, and answers that had their verdict already.

    ``stopped`` says why not all were given: the budget, or (``down``) the endpoint.
    """

    verdicts: int
    errors: int
    skipped: int
    stopped: str | None = None
    down: bool = False


@dataclass(frozen=True, slots=True)
class _Task:
    answered: Answered
    rubric: Rubric
    repeat: int


async def judge_run(
    directory: Path,
    judging: Judging,
    limits: Limits | None = None,
    tick: Callable[[int, int], None] | None = None,
    brake: Brake | None = None,
) -> Judged:
    """Judges every answer of the run that has no verdict yet; ``tick`` is told verdicts given and to give.

    Raises UserError where there is nothing to judge, or the judge cannot be reached.
    """
    limits = limits or Limits()
    check(judging.setting)
    card = load_card(judging.prices) if judging.prices else None
    tasks, skipped = _tasks(Frames(directory), judging)
    async with AsyncExitStack() as stack:
        models = await open_models(judging.setting, stack, limits.calls(paid=True))
        stack.enter_context(locked(directory))
        ledger = stack.enter_context(Ledger.open(directory / FILE_NAME, fsync=models.backbone.paid))
        flights, _ = open_flights(ledger, stack)
        budget = limits.budget(spent_by_unit(ledger, card).values())
        if brake is not None:
            brake.tie(budget)
        meter = meter_of(ledger, judging.setting, models, budget, card, flights)
        units = {task.answered.unit: meter.reopen(task.answered.unit) for task in tasks}
        concurrency = limits.tasks(models.backbone.paid)
        given, errors, stop = await _give(tasks, units, ledger, concurrency, tick or (lambda given, all_: None))
    stopped = None if stop is None else stop_words(stop)
    return Judged(given, errors, skipped, stopped, isinstance(stop, EndpointDown))


async def _give(
    tasks: Sequence[_Task],
    units: dict[int, UnitMeter],
    ledger: Ledger,
    concurrency: int,
    tick: Callable[[int, int], None],
) -> tuple[int, int, Stop | None]:
    gate = asyncio.Semaphore(concurrency)
    given = errors = 0
    stopped: Stop | None = None

    async def one(task: _Task) -> None:
        nonlocal given, errors, stopped
        async with gate:
            if stopped is not None:
                return
            try:
                verdict = await judge(units[task.answered.unit], task.answered, task.rubric, task.repeat)
            except Stop as stop:  # verdicts under way are paid for: they are given
                stopped = stop
                return
        ledger.add_verdict(verdict)
        given, errors = given + 1, errors + (verdict.outcome != "ok")
        tick(given, len(tasks))

    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(one(task))
    except* UserError as faults:
        raise faults.exceptions[0] from None
    return given, errors, stopped


def _tasks(frames: Frames, judging: Judging) -> tuple[list[_Task], int]:
    units = frames.units()
    answers = frames.answers().filter(pl.col("outcome") == "ok").join(
        units.select("unit", "memory", "workload", "turns"), on="unit"
    )  # fmt: skip
    if judging.memories:
        known = set(units["memory"])
        if strangers := [name for name in judging.memories if name not in known]:
            raise UserError(f"the run has no memory {strangers[0]!r}; it has: {', '.join(sorted(known))}")
        answers = answers.filter(pl.col("memory").is_in(list(judging.memories)))
    if answers.is_empty():
        raise UserError("there is no answer to judge: the run asked no question, or none was answered")
    named = [load(name) for name in judging.rubrics]
    done = {
        (row["unit"], row["ordinal"], row["rubric"], row["repeat"])
        for row in frames.table("verdicts").filter(pl.col("outcome") == "ok").iter_rows(named=True)
    }
    tasks: list[_Task] = []
    skipped = 0
    for row in answers.iter_rows(named=True):
        answered = Answered(
            unit=row["unit"], ordinal=row["ordinal"], turn=row["turns"], question_id=row["question"],
            question=row["text"], category=row["category"], golds=tuple(json.loads(row["golds"])),
            unanswerable=bool(row["unanswerable"]), answer=row["answer"] or "",
        )  # fmt: skip
        for rubric in named or [load(default_for(row["workload"]))]:
            for repeat in range(1, judging.repeats + 1):
                if (answered.unit, answered.ordinal, rubric.label, repeat) in done:
                    skipped += 1
                else:
                    tasks.append(_Task(answered, rubric, repeat))
    return tasks, skipped
