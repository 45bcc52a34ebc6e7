"""Turns as documents for LightRAG: one per turn, or one per session; and which turns a chunk of one holds."""

from itertools import accumulate
from typing import Any

from lightrag.utils import sanitize_text_for_encoding

TORN = "�"  # at the ends of a chunk whose cut went through a character


class Document:
    """A text, and the turns whose lines it is made of, in order."""

    def __init__(self, name: str, turns: "list[str]", lines: "list[str]") -> None:
        self.name = name
        self.turns = turns
        self.text = "\n".join(lines)
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def turns_of(self, chunk: str) -> "list[str]":
        """The turns of which ``chunk`` holds at least a part; all of them where it cannot be found."""
        wanted = chunk.strip(TORN)
        start = self.text.find(wanted) if wanted else -1
        if start < 0:
            return self.turns
        end = start + len(wanted)
        spans = zip(self.turns, self._starts, self._starts[1:], strict=False)
        return [turn for turn, first, last in spans if first < end and start < last - 1]


class Cutter:
    """Collects turns until they make a document."""

    def __init__(self, by_session: bool) -> None:
        self.waiting: list[dict[str, Any]] = []
        self._by_session = by_session
        self._made = 0
        self._texts: set[str] = set()

    def add(self, turns: "list[dict[str, Any]]") -> "list[Document]":
        """The documents that are complete with ``turns``: a session is when the next one begins."""
        done = []
        for turn in turns:
            if self.waiting and (not self._by_session or _session(turn) != _session(self.waiting[-1])):
                done += self.rest()
            self.waiting.append(turn)
        return done if self._by_session else done + self.rest()

    def rest(self) -> "list[Document]":
        """What waits, as a document, complete or not."""
        if not self.waiting:
            return []
        turns = [turn["id"] for turn in self.waiting]
        lines = [sanitize_text_for_encoding(turn["line"]) for turn in self.waiting]
        self.waiting = []
        # LightRAG refuses a text that it has had already, and a name whose last part it has seen.
        bare = "".join("".join(lines).split())
        if bare in self._texts:
            lines[-1] += f" [{turns[-1]}]"
        self._texts.add(bare)
        self._made += 1
        return [Document(f"conversation-{self._made:04d}", turns, lines)]


def _session(turn: "dict[str, Any]") -> "str | None":
    """What a turn's session is known by: its name, else its day."""
    name: str | None = turn["session"] or (turn["time"] and turn["time"][:10])
    return name
