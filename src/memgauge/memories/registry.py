"""Finds memories by name, ours and those of other packages, through the entry-point group ``memgauge.memories``."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from memgauge.errors import UnknownNameError, UserError
from memgauge.memories.base import Card, Evidence, GatewayAccess, Memory
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Alike

GROUP = "memgauge.memories"


@dataclass(frozen=True, slots=True)
class Services:
    """What a memory may ask for by the name of a constructor parameter; see memories.base.Memory."""

    backbone: BackboneHandle
    embedder: EmbedderHandle
    context_tokens: int | None
    evidence: Evidence
    gateway: GatewayAccess | None = None
    directory: Path | None = None


_SERVICES = frozenset(Services.__dataclass_fields__)


def names() -> list[str]:
    """Every memory that is installed."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def card(name: str) -> Card:
    """What a memory says of itself."""
    found: Card = _load(name).card
    return found


def check(name: str, options: Mapping[str, Any]) -> None:
    """Raises UserError where there is no such memory, it has no such option, or what it needs is not installed.

    A memory that needs more than its package says so in a class method ``require``, which is given the options and
    raises UserError.
    """
    kind = _load(name)
    known = [key for key in _parameters(kind) if key not in _SERVICES]
    for option in options:
        if option not in known:
            close = get_close_matches(option, known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(known) or 'none'}"
            raise UserError(f"memory {name!r} has no option {option!r}; {hint}")
    if require := getattr(kind, "require", None):
        require(options)


def wants(name: str, service: str) -> bool:
    """Whether a memory asks for a service, by a field name of Services."""
    return service in _parameters(_load(name))


def alike(name: str) -> Alike | None:
    """What makes requests of a memory that mean the same the same; see memories.base.Memory."""
    found: Alike | None = getattr(_load(name), "alike", None)
    return found


def product(name: str) -> Any | None:
    """The outside product (products.environment.Product) that a memory drives, if it drives one."""
    return getattr(_load(name), "product", None)


def create(name: str, options: Mapping[str, Any], services: Services) -> Memory:
    """A fresh memory. The gold evidence is handed to controls only."""
    check(name, options)
    kind = _load(name)
    wanted = [key for key in _parameters(kind) if key in _SERVICES]
    if "evidence" in wanted and not kind.card.control:
        raise UserError(f"memory {name!r} asks for the gold evidence, which only a control may see")
    try:
        memory: Memory = kind(**{key: getattr(services, key) for key in wanted}, **options)
    except (TypeError, ValueError) as fault:
        raise UserError(f"memory {name!r} refuses its options {dict(options)}: {fault}") from fault
    return memory


@cache
def _load(name: str) -> Any:
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        raise UnknownNameError("memory", name, points)
    try:
        return points[name].load()
    except ImportError as fault:
        raise UserError(f"memory {name!r} cannot be loaded: {fault}") from fault


def _parameters(kind: Any) -> list[str]:
    return [key for key in inspect.signature(kind).parameters if key not in ("args", "kwargs")]
