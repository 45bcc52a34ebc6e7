"""Turns an experiment into units: every (memory, setting, workload item, protocol, seed), in a fixed order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count

import msgspec

from memgauge.backbones import registry as backbones
from memgauge.conversation import Conversation, Question
from memgauge.embedders import registry as embedders
from memgauge.errors import MissingExtraError, UserError
from memgauge.ledger.records import UnitRecord
from memgauge.memories import registry as memories
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse
from memgauge.workloads import registry as workloads
from memgauge.workloads.base import Outline, Workload
from memgauge.workloads.fetch import state

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class Unit:
    """A planned unit: its row in the ledger, and what is needed to play it."""

    record: UnitRecord
    memory: MemoryUse
    setting: Setting
    workload: Workload
    answer_tokens: int  # cap on every generated reply or answer
    questions: int | None = None  # at most so many, spread evenly

    def conversation(self) -> Conversation:
        """What is played."""
        whole = self.workload.conversation(self.record.item)
        return replace(whole, questions=_spread(whole.questions, self.questions))


@dataclass(frozen=True, slots=True)
class Plan:
    """All units of an experiment, workload by workload, so that one that is cut short still compares memories."""

    experiment: Experiment
    units: tuple[Unit, ...]


def check(experiment: Experiment) -> None:
    """Raises UserError where the experiment names what does not exist; nothing is loaded or made."""
    for use in experiment.memory_uses():
        _missing(use)
    for setting in experiment.settings.values():
        backbones.check(setting)
        embedders.check(setting)
    for workload in experiment.workloads:
        card = workloads.card(workload.name)
        for protocol in workload.protocols:
            if protocol not in card.protocols:
                offered = ", ".join(card.protocols)
                raise UserError(f"workload {workload.name!r} cannot be played as {protocol!r}; it offers: {offered}")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What of an experiment can be played here, and in words what is left out because it is not here."""

    memories: tuple[MemoryUse, ...]
    workloads: tuple[tuple[WorkloadUse, Workload], ...]
    left_out: tuple[str, ...]


def load(experiment: Experiment) -> Loaded:
    """Loads every workload; raises UserError where a file is malformed, or missing and not optional."""
    used, loaded, left_out = [], [], []
    for memory in experiment.memory_uses():
        if why := _missing(memory):
            left_out.append(f"{memory.title} is left out: {why}")
        else:
            used.append(memory)
    for use in experiment.workloads:
        card = workloads.card(use.name)
        if use.optional and "path" not in use.options and any(state(card, file) != "present" for file in card.required):
            left_out.append(
                f"{use.name} is left out: its files are not here; get them with: memgauge data fetch {use.name}"
            )
        else:
            loaded.append((use, workloads.create(use.name, use.options)))
    return Loaded(tuple(used), tuple(loaded), tuple(left_out))


def _missing(use: MemoryUse) -> str | None:
    """Why an optional memory cannot be played here; raises UserError where it must be, or cannot be anywhere."""
    try:
        memories.check(use.name, use.options)
    except MissingExtraError as missing:
        if not use.optional:
            raise
        return str(missing)
    return None


def plan(experiment: Experiment, models: Mapping[str, tuple[str, str]], loaded: Loaded) -> Plan:
    """Lists the units. ``models`` gives, by setting, the names of its chat and embedding models."""
    units: list[Unit] = []
    for use, workload in loaded.workloads:
        for item in workload.items()[: use.limit]:
            outline = workload.outline(item)
            for protocol in use.protocols:
                if protocol == "recall" and not outline.questions:
                    continue
                for memory in _memories(loaded.memories, use, protocol):
                    for setting in experiment.settings:
                        for seed in experiment.seeds:
                            number = len(units) + 1
                            units.append(
                                _unit(number, experiment, memory, setting, models[setting], use, workload, item,
                                      outline, protocol, seed)
                            )  # fmt: skip
    if not units:
        raise UserError("nothing to run: no memory and workload of the spec fit together (recall needs questions)")
    return Plan(experiment, tuple(units))


def numbered(planned: Plan, known: Mapping[str, int]) -> Plan:
    """The plan with the numbers that units have in a ledger already; those that are new come after them."""
    free = count(1 + max(known.values(), default=0))
    units = (
        replace(unit, record=replace(unit.record, unit=known.get(unit.record.key) or next(free)))
        for unit in planned.units
    )
    return Plan(planned.experiment, tuple(units))


def _memories(used: Sequence[MemoryUse], use: WorkloadUse, protocol: str) -> Iterator[MemoryUse]:
    for memory in used:
        if memory.title in use.without or (use.memories is not None and memory.title not in use.memories):
            continue
        # The oracle knows the evidence of questions; a served turn has none, so there is nothing to measure.
        if protocol == "serve" and memory.name == "oracle":
            continue
        yield memory


def _unit(
    number: int,
    experiment: Experiment,
    memory: MemoryUse,
    setting_name: str,
    models: tuple[str, str],
    use: WorkloadUse,
    workload: Workload,
    item: str,
    outline: Outline,
    protocol: str,
    seed: int,
) -> Unit:
    setting = experiment.settings[setting_name]
    card = memories.card(memory.name)
    write_every = memory.write_every or card.write_every
    options = {"name": memory.name, **memory.options}
    longest = experiment.reply_tokens if protocol == "serve" else experiment.answer_tokens
    identity = [memory.title, options, card.version, write_every, setting_name, setting, use.name, use.options, item,
                use.questions, protocol, seed, longest]  # fmt: skip
    record = UnitRecord(
        unit=number,
        key=sha256(_encode(identity)).hexdigest()[:24],
        memory=memory.title,
        memory_options=_encode(options).decode(),
        control=card.control,
        write_every=write_every,
        setting=setting_name,
        backbone=setting.backbone,
        model=models[0],
        effort=setting.effort,
        embedder=setting.embedder,
        embedding_model=models[1],
        workload=workload.card.name,
        item=item,
        protocol=protocol,
        seed=seed,
        cell_turns=outline.cell.turns if outline.cell else None,
        cell_tokens=outline.cell.tokens if outline.cell else None,
        turns=outline.turns,
        mean_turn_tokens=round(outline.mean_turn_tokens, 3),
        questions=_number(outline.questions, use.questions) if protocol == "recall" else 0,
    )
    return Unit(record, memory, setting, workload, longest, use.questions)


def _number(there: int, most: int | None) -> int:
    return there if most is None else min(there, most)


def _spread(questions: tuple[Question, ...], most: int | None) -> tuple[Question, ...]:
    """At most ``most`` questions at equal distances, so that every part of a dialogue is asked about."""
    number = _number(len(questions), most)
    return tuple(questions[place * len(questions) // number] for place in range(number))
