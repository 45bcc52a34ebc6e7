"""What happened inside the memories: their calls and their state, for the page."""

from dataclasses import dataclass

from memgauge.analysis.call_trees import CallTree, call_trees
from memgauge.analysis.memory_states import MemoryStates, memory_states
from memgauge.analysis.read import Read


@dataclass(frozen=True, slots=True)
class Insides:
    """A tree of calls per memory and protocol, and what each memory said of its state."""

    trees: tuple[CallTree, ...]
    states: tuple[MemoryStates, ...]


def insides(found: Read) -> Insides:
    """Both, of a ledger read already."""
    return Insides(call_trees(found), memory_states(found))
