"""Workloads by name. A workload's module is imported when it is asked for."""

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, get_type_hints

import msgspec

from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads.base import Card, Workload

_CLASSES = {
    "locomo": "memgauge.workloads.locomo:LoCoMo",
    "longmemeval": "memgauge.workloads.longmemeval:LongMemEval",
    "memoryagentbench": "memgauge.workloads.memoryagentbench:MemoryAgentBench",
    "multiwoz": "memgauge.workloads.multiwoz:MultiWOZ",
    "sample": "memgauge.workloads.sample:Sample",
    "synthetic": "memgauge.workloads.synthetic:Synthetic",
    "transcript": "memgauge.workloads.transcript:Transcript",
}


def names() -> tuple[str, ...]:
    """Every workload that can be asked for by name."""
    return tuple(sorted(_CLASSES))


def card(name: str) -> Card:
    """What the workload ``name`` says of itself."""
    return _class(name).card


def create(name: str, options: Mapping[str, Any]) -> Workload:
    """The workload ``name``, or the transcript at the path ``name``, with ``options`` set.

    Raises UserError for an unknown name, an unknown, missing or mistyped option, and for whatever the workload
    itself finds wrong.
    """
    kind = _class(name)
    given = {"path": name, **options} if _is_path(name) else dict(options)
    return kind(**_checked(kind, given))


def _class(name: str) -> type[Workload]:
    if _is_path(name):
        name = "transcript"
    if name not in _CLASSES:
        raise UnknownNameError("workload", name, _CLASSES)
    module, _, attribute = _CLASSES[name].partition(":")
    kind: type[Workload] = getattr(import_module(module), attribute)
    return kind


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.endswith((".jsonl", ".json"))


def _checked(kind: type[Workload], options: Mapping[str, Any]) -> dict[str, Any]:
    workload = kind.card.name
    parameters = inspect.signature(kind).parameters
    hints = get_type_hints(kind.__init__)
    for option, value in options.items():
        if option not in parameters:
            raise UserError(f"workload {workload!r} has no option {option!r}; {_hint(option, [*parameters])}")
        try:
            msgspec.convert(value, hints[option])
        except msgspec.ValidationError as fault:
            reason = str(fault).replace("`", "").replace(" - at $", " at ")
            raise UserError(f"workload {workload!r}: option {option!r}: {reason}") from None
    for option, parameter in parameters.items():
        if parameter.default is parameter.empty and option not in options:
            raise UserError(f"workload {workload!r} needs the option {option!r}")
    return dict(options)


def _hint(option: str, known: list[str]) -> str:
    if not known:
        return "it has none"
    close = get_close_matches(option, known, n=1, cutoff=0.5)
    listed = f"known: {', '.join(known)}"
    return f"did you mean {close[0]!r}? ({listed})" if close else listed
