"""What the model answered Hindsight, as the module inside its server writes it down."""

import json
from pathlib import Path
from typing import Any

# What a reply must hold for Hindsight to take it for one; without any of these it is as if nothing had been said.
_WANTED = {"retain": {"facts"}, "consolidation": {"creates", "updates", "deletes"}}
_SHOWN = 80


class Entry:
    """One model call, or one chunk of text that was dropped, with the operation it belongs to."""

    def __init__(self, line: str) -> None:
        told: dict[str, Any] = json.loads(line)
        self.operation: str = told["operation"] or ""
        self.facts: list[str] = told.get("facts") or []  # ids of those it was asked to consolidate
        self.chunk: str = told.get("chunk") or ""  # that it was asked to extract facts from
        self.dropped: str | None = told.get("dropped")
        self.failed: str | None = told.get("failed")
        self.status: int | None = told.get("status")
        self.reply: str | None = told.get("reply")
        self._keys: list[str] | None = told.get("keys")
        self.cut = bool(told.get("cut"))

    @property
    def wrong(self) -> str | None:
        """What is wrong with the reply, in words; None where Hindsight could read it, or where there was none."""
        wanted = _WANTED.get(self.operation)
        if self.reply is None or wanted is None:
            return None
        cut = ", cut off at its token limit," if self.cut else ""
        if not self.reply.strip():
            return f"the model's reply{cut} was empty"
        if self._keys is None:
            return f"the model's reply{cut} was no JSON object: {self.reply[:_SHOWN]!r}"
        if not wanted & set(self._keys):
            return f"the model's reply{cut} held no {' or '.join(sorted(wanted))}: {self.reply[:_SHOWN]!r}"
        return None


class Journal:
    """Reads on from where it left off; entries wait until they are taken."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._file = path.open(encoding="utf-8")
        self._waiting: list[Entry] = []
        self._rest = ""

    def take(self, operation: str) -> list[Entry]:
        """What is new of one operation, oldest first."""
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        self._waiting += map(Entry, lines)
        taken = [entry for entry in self._waiting if entry.operation == operation]
        self._waiting = [entry for entry in self._waiting if entry.operation != operation]
        return taken
