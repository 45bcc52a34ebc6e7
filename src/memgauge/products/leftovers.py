"""Finds and ends what an earlier sidecar left running: its process group, and what slipped out of the group.

A sidecar's processes carry a secret mark in their environment, and a note beside the unit's directory says which mark
and which process. Where environments can be read (Linux) everything that bears the mark is found, daemons included;
elsewhere the process group is, as long as its leader is still the process that was started.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

MARK = "MEMGAUGE_SIDECAR"
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Trace:
    """How a sidecar is recognised later: its group leader, when that one was started, and the mark it bears."""

    pid: int
    started: str
    mark: str

    @classmethod
    def of(cls, pid: int, mark: str) -> Self:
        """The trace of a process that runs now."""
        return cls(pid, _started(pid) or "", mark)

    def write(self, note: Path) -> None:
        """Leaves the note, whole or not at all."""
        draft = note.with_name(f"{note.name}.new")
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(note)

    def end(self) -> None:
        """Kills what is left of the sidecar, now. Does nothing where nothing is."""
        if self.started and _started(self.pid) == self.started:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        for pid in _bearing(self.mark):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def sweep(note: Path) -> None:
    """Ends what the sidecar of ``note`` left running, and removes the note."""
    with suppress(FileNotFoundError):
        # What cannot be read is no note of ours: nothing can be concluded from it.
        with suppress(ValueError, TypeError):
            Trace(**json.loads(note.read_text())).end()
        note.unlink()


def _started(pid: int) -> str | None:
    """When a process was started, in whatever form the system has; None where there is no such process."""
    if sys.platform == "linux":
        try:
            # Field 22; the second one, in parentheses, may itself hold blanks and parentheses.
            return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            return None
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip() or None


def _bearing(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        with suppress(OSError):
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found
