"""Calls that are under way, noted in a file beside the ledger: a process that is killed leaves word of them.

One slot of SLOT bytes per call, written by one system call before the request goes out, wiped when its row is on
disk. The kernel keeps it whatever becomes of the process; a loss of power may take it.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from memgauge.ledger.faults import LedgerError

FILE_NAME = "in-flight"

_FORMAT = struct.Struct("<6q8s8s192s")  # a slot never crosses a page
SLOT = _FORMAT.size
_EMPTY = bytes(SLOT)


@dataclass(frozen=True, slots=True)
class Flight:
    """A call that was sent. ``input_at_most`` and ``output_at_most`` bound the tokens that it may be charged for."""

    unit: int
    attempt: int
    seq: int
    turn: int
    input_at_most: int
    output_at_most: int
    stage: str
    kind: str
    model: str

    def packed(self) -> bytes:
        """The bytes of a slot."""
        return _FORMAT.pack(
            self.unit, self.attempt, self.seq, self.turn, self.input_at_most, self.output_at_most,
            self.stage.encode(), self.kind.encode(), self.model.encode(errors="replace")[:192],
        )  # fmt: skip

    @classmethod
    def unpacked(cls, slot: bytes) -> "Flight":
        """What ``packed`` gave."""
        *figures, stage, kind, model = _FORMAT.unpack(slot)
        unit, attempt, seq, turn, read, written = figures
        words = (word.rstrip(b"\0").decode(errors="replace") for word in (stage, kind, model))
        return cls(unit, attempt, seq, turn, read, written, *words)


class Flights:
    """The calls of one run that are under way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._slots = os.fstat(self._file).st_size // SLOT
        self._free: list[int] = []

    def left(self) -> list[Flight]:
        """The calls that a process which died has left behind."""
        content = os.pread(self._file, self._slots * SLOT, 0)
        slots = (content[start : start + SLOT] for start in range(0, len(content), SLOT))
        return [Flight.unpacked(slot) for slot in slots if slot != _EMPTY]

    def clear(self) -> None:
        """Forgets all of them."""
        os.ftruncate(self._file, 0)
        self._slots, self._free = 0, []

    def sent(self, flight: Flight) -> int:
        """Notes a call that goes out now; returns its slot."""
        if self._free:
            slot = self._free.pop()
        else:
            slot, self._slots = self._slots, self._slots + 1
        self.change(slot, flight)
        return slot

    def change(self, slot: int, flight: Flight) -> None:
        """Notes that the call is sent once more, and may be charged for more."""
        self._write(flight.packed(), slot)

    def landed(self, slot: int) -> None:
        """Forgets a call whose row is on disk."""
        self._write(_EMPTY, slot)
        self._free.append(slot)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    def _write(self, content: bytes, slot: int) -> None:
        try:
            os.pwrite(self._file, content, slot * SLOT)
        except OSError as fault:
            raise LedgerError(f"cannot write {self._path}: {fault.strerror}") from fault
