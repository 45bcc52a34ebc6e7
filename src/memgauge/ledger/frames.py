"""Reads a ledger into Polars frames, also while a run is writing it."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memgauge.ledger.schema import TABLES
from memgauge.ledger.writer import FILE_NAME, LedgerError, check_version

_TYPES: dict[str, type[pl.DataType]] = {
    "INTEGER": pl.Int64, "TEXT": pl.String, "REAL": pl.Float64, "BLOB": pl.Binary,
}  # fmt: skip


_CHUNK = 50_000


class Frames:
    """The reading end of a ledger. Every table is a frame with the schema's columns."""

    def __init__(self, path: Path) -> None:
        """``path`` is a ledger file or the directory of a run; raises LedgerError where there is none."""
        self.path = path / FILE_NAME if path.is_dir() else path
        if not self.path.is_file():
            raise LedgerError(f"no ledger at {self.path}; name the directory of a run")
        with closing(self._connect()) as connection:
            check_version(connection, self.path)

    def meta(self) -> dict[str, str]:
        """Everything in the ``meta`` table."""
        with closing(self._connect()) as connection:
            return dict(connection.execute("SELECT key, value FROM meta"))

    def units(self) -> pl.DataFrame:
        """One row per unit."""
        return self.table("units")

    def calls(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """One row per claimed call, ordered by unit and seq; ``columns`` picks some, which is faster."""
        return self.table("calls", columns, "WHERE claimed = 1 ORDER BY unit, seq, call")

    def lost_calls(self) -> pl.DataFrame:
        """Calls paid by an attempt that died and never asked for again: spend that was lost."""
        return self.table("calls", None, "WHERE claimed = 0 ORDER BY unit, seq, call")

    def steps(self) -> pl.DataFrame:
        """One row per step of the protocol, ordered by unit and step."""
        return self.table("steps")

    def answers(self) -> pl.DataFrame:
        """One row per question and unit, ordered; ``recalled`` is the JSON itself, not its id."""
        columns = [f"a.{name}" for name in _columns("answers") if name != "recalled"]
        query = (
            f"SELECT {', '.join(columns)}, body FROM answers a LEFT JOIN texts ON texts.text = a.recalled ORDER BY 1, 2"
        )
        schema = {name.removeprefix("a."): _type("answers", name.removeprefix("a.")) for name in columns}
        return self._query(query, {**schema, "recalled": pl.String})

    def scores(self) -> pl.DataFrame:
        """One row per unit, answer and metric."""
        return self.table("scores")

    def table(self, name: str, columns: Sequence[str] | None = None, tail: str = "") -> pl.DataFrame:
        """Any table, some or all of its columns, with an SQL ``tail``."""
        schema = {column: _type(name, column) for column in columns or _columns(name)}
        return self._query(f"SELECT {', '.join(schema)} FROM {name} {tail}", schema)

    def prompt(self, call: int) -> list[str]:
        """The pieces of a call's prompt, put together from the deltas."""
        pieces: list[int] = []
        keep: int | None = None
        with closing(self._connect()) as connection:
            here: int | None = call
            while here is not None:
                query = "SELECT prompt_base, prompt_keep, prompt_new FROM calls WHERE call = ?"
                row = connection.execute(query, (here,)).fetchone()
                if row is None:
                    raise LedgerError(f"{self.path} has no call {here}")
                base, kept, new = row
                own = np.frombuffer(new, "<i8").tolist()
                wanted = len(own) if keep is None else max(0, keep - kept)
                pieces = own[:wanted] + pieces
                keep = kept if keep is None else min(keep, kept)
                here = base if keep else None
            query = "SELECT body FROM texts WHERE text = ?"
            return [connection.execute(query, (piece,)).fetchone()[0] for piece in pieces]

    def text(self, identity: int) -> str:
        """The body of a text."""
        with closing(self._connect()) as connection:
            row = connection.execute("SELECT body FROM texts WHERE text = ?", (identity,)).fetchone()
        if row is None:
            raise LedgerError(f"{self.path} has no text {identity}")
        return str(row[0])

    def _query(self, query: str, schema: dict[str, Any]) -> pl.DataFrame:
        """Reads in chunks: a million rows as Python objects would take three times the memory of the frame."""
        with closing(self._connect()) as connection:
            try:
                cursor = connection.execute(query)
            except sqlite3.Error as fault:
                raise LedgerError(f"{self.path} cannot be read: {fault}") from None
            chunks = [pl.DataFrame([], schema=schema, orient="row")]
            while rows := cursor.fetchmany(_CHUNK):
                chunks.append(pl.DataFrame(rows, schema=schema, orient="row"))
        return pl.concat(chunks)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30)
        connection.execute("PRAGMA query_only = ON")
        return connection


def _declared() -> dict[str, dict[str, type[pl.DataType]]]:
    scratch = sqlite3.connect(":memory:")
    scratch.executescript(TABLES)
    names = [row[0] for row in scratch.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: {row[1]: _TYPES[row[2]] for row in scratch.execute(f"PRAGMA table_info({name})")} for name in names}


_SCHEMA = _declared()


def _columns(table: str) -> list[str]:
    return list(_SCHEMA[table])


def _type(table: str, column: str) -> type[pl.DataType]:
    return _SCHEMA[table][column]
