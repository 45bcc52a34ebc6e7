"""What can go wrong with a ledger's file, in one line that names it."""

import sqlite3
from pathlib import Path
from types import TracebackType

from memgauge.errors import UserError


class LedgerError(UserError):
    """The ledger cannot be read or written: wrong version, not a ledger, disk full."""


class plain_faults:  # noqa: N801 - a context manager, read like a keyword
    """Turns SQLite's faults into one line that names the file."""

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(value, sqlite3.Error):
            raise LedgerError(f"cannot write {self.path}: {value}") from value
