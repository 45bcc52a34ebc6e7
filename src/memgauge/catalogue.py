"""Everything that can be named on the command line, with what it is."""

from collections.abc import Callable
from dataclasses import dataclass

from memgauge.backbones import registry as backbones
from memgauge.errors import UnknownNameError
from memgauge.memories import registry as memories
from memgauge.spec import load, preset_names
from memgauge.workloads import registry as workloads
from memgauge.workloads.base import Card
from memgauge.workloads.fetch import state


@dataclass(frozen=True, slots=True)
class Entry:
    """One name. ``paper_id`` is what the papers call it, where they do."""

    kind: str
    name: str
    summary: str
    paper_id: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file that a workload downloads, or what the user has to bring for it.

    ``state`` is present, missing or damaged, and ``by hand`` for what is brought.
    """

    workload: str
    file: str
    bytes: int
    licence: str
    source: str
    revision: str
    citation: str
    optional: bool
    state: str


def entries(kind: str | None = None) -> list[Entry]:
    """Every name, or those of one kind: memories, workloads, backbones or presets."""
    if kind is not None and kind not in _KINDS:
        raise UnknownNameError("kind", kind, _KINDS)
    return [entry for name, list_kind in _KINDS.items() if kind in (None, name) for entry in list_kind()]


def datasets() -> list[Dataset]:
    """Every file that some workload downloads or asks for."""
    return [dataset for name in workloads.names() for dataset in _datasets(workloads.card(name))]


def _datasets(card: Card) -> list[Dataset]:
    said = (card.licence, card.source, card.revision, card.citation)
    if card.by_hand:
        return [Dataset(card.name, card.by_hand, 0, *said, optional=False, state="by hand")]
    return [Dataset(card.name, file.name, file.bytes, *said, file.optional, state(card, file)) for file in card.files]


def _memories() -> list[Entry]:
    cards = (memories.card(name) for name in memories.names())
    return [Entry("memories", card.name, card.summary, card.paper_id) for card in cards]


def _workloads() -> list[Entry]:
    return [Entry("workloads", name, workloads.card(name).summary) for name in workloads.names()]


def _backbones() -> list[Entry]:
    return [Entry("backbones", name, summary) for name, summary in backbones.SUMMARIES.items()]


def _presets() -> list[Entry]:
    return [Entry("presets", name, load(name).summary) for name in preset_names()]


_KINDS: dict[str, Callable[[], list[Entry]]] = {
    "memories": _memories,
    "workloads": _workloads,
    "backbones": _backbones,
    "presets": _presets,
}
