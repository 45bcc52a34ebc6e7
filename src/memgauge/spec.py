"""What is to be run: an experiment in TOML, checked before anything is spent.

```toml
name = "my-run"
memories = ["full-history", "bm25", { name = "dense", label = "dense k=5", options = { k = 5 } }]

[settings.local]
backbone = "embedded"

[[workloads]]
name = "sample"
protocols = ["serve", "recall"]
```
"""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from memgauge.errors import UnknownNameError, UserError

PROTOCOLS = ("serve", "recall")
STAGES = ("write", "manage", "read", "answer", "judge")


class SpecError(UserError):
    """A spec that cannot be read: names the file and what was expected."""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One column of the grid: the backbone with its limits, and the embedder beside it.

    Whatever a memory asks for, the setting's ``model``, ``effort``, ``temperature`` and routing are what is sent;
    ``max_output_tokens`` caps every reply. ``None`` leaves a parameter to the server. ``window`` is the context
    in tokens where the backbone does not know its own. ``provider`` is passed on as the request's provider
    routing (OpenRouter). Keys are read from the environment variables named here and written nowhere.
    """

    backbone: str = "embedded"
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    effort: str | None = None
    temperature: float | None = 0.0
    max_output_tokens: int | None = None
    window: int | None = None
    provider: dict[str, Any] | None = None
    embedder: str = "minilm"
    embedding_model: str | None = None
    embedding_base_url: str | None = None
    embedding_api_key_env: str | None = None

    @property
    def on_openrouter(self) -> bool:
        """Whether OpenRouter serves it, which takes the effort in a field of its own and lists its own prices."""
        return "openrouter" in (self.base_url or "")


class MemoryUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A memory in an experiment: its registry name, the label it runs under, its ingest trigger and options.

    An ``optional`` one is left out, with a word, while what it needs is not installed.
    """

    name: str
    label: str | None = None
    write_every: int | None = None
    options: dict[str, Any] = {}
    optional: bool = False

    @property
    def title(self) -> str:
        """The name that units, tables and figures carry."""
        return self.label or self.name


class WorkloadUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A workload in an experiment: how it is played, on which memories (all, unless named), and its options.

    ``without`` leaves memories out. ``limit`` takes the first so many conversations, ``questions`` so many of
    each, spread evenly. An ``optional`` workload is left out, with a word, while its files are not there.
    """

    name: str
    protocols: tuple[str, ...] = ("recall",)
    memories: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    optional: bool = False
    limit: int | None = None
    questions: int | None = None
    options: dict[str, Any] = {}


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole of what is run.

    ``reply_tokens`` caps the message that answers a served turn, ``answer_tokens`` the answer to a question;
    ``prices`` names a price card.
    """

    name: str
    memories: tuple[MemoryUse | str, ...]
    workloads: tuple[WorkloadUse, ...]
    settings: dict[str, Setting] = msgspec.field(default_factory=lambda: {"default": Setting()})
    summary: str = ""
    seeds: tuple[int, ...] = (0,)
    reply_tokens: int = 64
    answer_tokens: int = 64
    prices: str | None = None

    def memory_uses(self) -> tuple[MemoryUse, ...]:
        """Every memory in its long form."""
        return tuple(MemoryUse(name=use) if isinstance(use, str) else use for use in self.memories)

    def canonical(self) -> str:
        """The experiment as JSON with sorted keys: what its hash is taken of."""
        return msgspec.json.encode(self, order="sorted").decode()

    def hash(self) -> str:
        """Tells whether a run directory belongs to this experiment."""
        return sha256(self.canonical().encode()).hexdigest()


def parse(text: str, origin: str) -> Experiment:
    """Reads TOML. Raises SpecError, naming ``origin`` and the place, where it is no experiment."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise SpecError(f"{origin}: malformed TOML: {fault}") from None
    try:
        experiment = msgspec.convert(raw, Experiment)
    except msgspec.ValidationError as fault:
        raise SpecError(f"{origin}: {_explained(str(fault))}") from None
    return checked(experiment, origin)


def checked(experiment: Experiment, origin: str) -> Experiment:
    """The experiment, or SpecError where its parts do not fit together."""

    def refuse(reason: str) -> None:
        raise SpecError(f"{origin}: {reason}")

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", experiment.name):
        refuse(f"name {experiment.name!r} must be 1-64 letters, digits, '.', '_' or '-'")
    for what in ("memories", "workloads", "settings", "seeds"):
        if not getattr(experiment, what):
            refuse(f"{what} is empty; name at least one")
    titles = [use.title for use in experiment.memory_uses()]
    if twice := {title for title in titles if titles.count(title) > 1}:
        refuse(f"memory {min(twice)!r} is named twice; give each a label of its own")
    for use in experiment.memory_uses():
        if use.write_every is not None and use.write_every < 1:
            refuse(f"write_every of {use.title!r} must be at least 1, not {use.write_every}")
    for workload in experiment.workloads:
        for protocol in workload.protocols:
            if protocol not in PROTOCOLS:
                refuse(str(UnknownNameError("protocol", protocol, PROTOCOLS)))
        for name in (*(workload.memories or ()), *workload.without):
            if name not in titles:
                refuse(f"workload {workload.name!r}: {UnknownNameError('memory', name, titles)}")
        for what, number in (("limit", workload.limit), ("questions", workload.questions)):
            if number is not None and number < 1:
                refuse(f"{what} of workload {workload.name!r} must be at least 1, not {number}")
    for what in ("reply_tokens", "answer_tokens"):
        if getattr(experiment, what) < 1:
            refuse(f"{what} must be at least 1, not {getattr(experiment, what)}")
    return experiment


def preset_names() -> list[str]:
    """The experiments that ship with memgauge."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in (resources.files("memgauge") / "presets").iterdir()
        if entry.name.endswith(".toml")
    )


def load(name_or_path: str) -> Experiment:
    """A preset by name, or a TOML file by path."""
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        path = Path(name_or_path)
        try:
            return parse(path.read_text(encoding="utf-8"), str(path))
        except OSError as fault:
            raise SpecError(f"{path}: {fault.strerror or fault}") from None
        except UnicodeDecodeError:
            raise SpecError(f"{path}: not UTF-8 text; a spec is a TOML file") from None
    if name_or_path not in preset_names():
        raise UnknownNameError("preset", name_or_path, preset_names())
    text = (resources.files("memgauge") / "presets" / f"{name_or_path}.toml").read_text(encoding="utf-8")
    return parse(text, f"preset {name_or_path}")


def _explained(fault: str) -> str:
    """msgspec's message with the closest known field, where a field is unknown."""
    match = re.search(r"unknown field `(?P<name>[^`]+)`(?: - at `\$(?P<path>[^`]*)`)?", fault)
    if match is None:
        return fault.replace("`$", "`")
    path = match["path"] or ""
    kind = next((kind for key, kind in _KINDS.items() if path.startswith(key)), Experiment)
    known = kind.__struct_fields__
    close = get_close_matches(match["name"], known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    where = path.lstrip(".") or "the spec"
    return f"unknown field {match['name']!r} in {where}; {hint}"


_KINDS: Mapping[str, type[msgspec.Struct]] = {
    ".settings": Setting,
    ".memories": MemoryUse,
    ".workloads": WorkloadUse,
}
