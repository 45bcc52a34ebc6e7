"""An experiment with the command line's flags applied: the same spec, other memories, models or workload."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from memgauge.errors import UserError
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse, checked

# Backbones without a model answer at once; a real embedder beside them would be most of the time.
_WITHOUT_MODEL = ("extractive", "constant")


_SERVER_FIELDS = ("model", "base_url", "api_key_env", "effort", "provider", "window")


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line may change. ``None`` and empty leave the spec's word."""

    memories: Sequence[str] = ()
    workload: str | None = None
    workload_options: dict[str, Any] = field(default_factory=dict)
    protocols: Sequence[str] = ()
    limit: int | None = None
    questions: int | None = None
    reply_tokens: int | None = None
    answer_tokens: int | None = None
    prices: str | None = None
    setting: dict[str, Any] = field(default_factory=dict)  # fields of spec.Setting

    @property
    def any(self) -> bool:
        """Whether anything is changed."""
        return self != Flags()


def customized(experiment: Experiment, flags: Flags) -> Experiment:
    """``experiment`` with ``flags`` applied; raises UserError where they do not fit together."""
    changes: dict[str, Any] = {}
    if flags.memories:
        known = {use.title: use for use in experiment.memory_uses()}
        named = (known.get(name, MemoryUse(name=name)) for name in flags.memories)
        changes["memories"] = tuple(msgspec.structs.replace(use, optional=False) for use in named)
    if flags.setting:
        changes["settings"] = _settings(experiment, flags)
    workloads = experiment.workloads
    if flags.workload is not None:
        protocols = tuple(flags.protocols) or _protocols_of(flags.workload)
        workloads = (WorkloadUse(name=flags.workload, protocols=protocols, options=flags.workload_options),)
    elif flags.workload_options:
        raise UserError("a workload option (-W) needs --workload, so that it is clear whose option it is")
    uses = {
        key: value
        for key, value in (
            ("limit", flags.limit),
            ("questions", flags.questions),
            ("protocols", tuple(flags.protocols)),
        )
        if value
    }
    changes["workloads"] = tuple(msgspec.structs.replace(use, **uses) for use in workloads)
    if flags.memories:
        changes["workloads"] = tuple(_for(use, flags.memories) for use in changes["workloads"])
    for name in ("reply_tokens", "answer_tokens", "prices"):
        if (value := getattr(flags, name)) is not None:
            changes[name] = value
    return checked(msgspec.structs.replace(experiment, **changes), "command line")


def default_directory(experiment: Experiment, flags: Flags) -> Path:
    """``runs/NAME``, or ``runs/NAME-HASH`` where flags made another experiment of it."""
    suffix = f"-{experiment.hash()[:6]}" if flags.any else ""
    return Path("runs") / f"{experiment.name}{suffix}"


def _settings(experiment: Experiment, flags: Flags) -> dict[str, Setting]:
    """Every setting changed; those that the change made equal are one, named after its backbone."""
    changed = {name: _setting(setting, flags) for name, setting in experiment.settings.items()}
    kept = list(changed.values())
    if len(kept) > 1 and all(setting == kept[0] for setting in kept):
        return {kept[0].backbone: kept[0]}
    return changed


def _setting(setting: Setting, flags: Flags) -> Setting:
    changes = dict(flags.setting)
    backbone = changes.get("backbone", setting.backbone)
    if backbone != setting.backbone and backbone in _WITHOUT_MODEL and "embedder" not in changes:
        changes |= {"embedder": "hashing", "embedding_model": None}
    if backbone != "endpoint" and setting.backbone == "endpoint":
        # What only a server knows means nothing to a local backbone.
        changes = {**dict.fromkeys(_SERVER_FIELDS), **changes}
    return msgspec.structs.replace(setting, **changes)


def _for(use: WorkloadUse, memories: Sequence[str]) -> WorkloadUse:
    """A workload that names memories keeps those that are still there."""
    named = None if use.memories is None else tuple(name for name in use.memories if name in memories)
    return msgspec.structs.replace(use, memories=named, without=tuple(name for name in use.without if name in memories))


def _protocols_of(workload: str) -> tuple[str, ...]:
    from memgauge.workloads import registry

    return registry.card(workload).protocols
