"""Writes a ledger: SQLite in WAL mode, one writer, any number of readers while it runs.

Rows are inserted at once and committed together at the end of the event loop's turn, so that many units share
one commit. ``committed`` returns when everything inserted so far is on disk: against the death of the process
always, against loss of power where ``fsync`` is set (the runner sets it where calls cost money).
"""

import asyncio
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memgauge.ledger.faults import LedgerError, plain_faults
from memgauge.ledger.flights import Flight
from memgauge.ledger.migrate import check_version
from memgauge.ledger.records import (
    AnswerRecord,
    CallRecord,
    FaultRecord,
    PromptRecord,
    RecordedCall,
    StepRecord,
    UnitRecord,
    VerdictRecord,
)
from memgauge.ledger.schema import TABLES, VERSION

FILE_NAME = "ledger.sqlite"

_REMEMBERED_TEXTS = 1 << 15


def text_id(body: str) -> int:
    """The id of a text in the ledger: the first 63 bits of its SHA-256."""
    return int.from_bytes(sha256(body.encode()).digest()[:8], "big") >> 1


class Ledger:
    """The writing end of a ledger. Use from one thread only."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._db = connection
        self._known_texts: set[int] = set()
        self._commit: asyncio.Future[None] | None = None
        self._fault: LedgerError | None = None
        self._next_call = 1 + (self._one("SELECT max(call) FROM calls") or 0)

    @classmethod
    def create(cls, path: Path, meta: dict[str, str], *, fsync: bool = False) -> Self:
        """Makes a new ledger at ``path``; raises LedgerError where one is there already."""
        if path.exists():
            raise LedgerError(f"{path} exists already")
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(path, fsync)
        with plain_faults(path):
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
            rows = {"schema_version": str(VERSION), **meta}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        return cls(connection, path)

    @classmethod
    def open(cls, path: Path, *, fsync: bool = False) -> Self:
        """Opens an existing ledger for writing; raises LedgerError where there is none of this version."""
        if not path.is_file():
            raise LedgerError(f"no ledger at {path}")
        connection = _connect(path, fsync)
        check_version(connection, path)
        return cls(connection, path)

    @classmethod
    def scratch(cls) -> Self:
        """A ledger in memory, for rehearsals: nothing of it stays."""
        connection = _connect(Path(":memory:"), fsync=False)
        connection.executescript(TABLES)
        return cls(connection, Path(":memory:"))

    def meta(self) -> dict[str, str]:
        """Everything in the ``meta`` table."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def set_meta(self, key: str, value: str) -> None:
        """Writes one entry of ``meta``."""
        self._insert("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # Units

    def add_units(self, units: Iterable[UnitRecord]) -> None:
        """Enters the plan: units that are not in the ledger yet, as ``planned``."""
        names = ", ".join(field.name for field in fields(UnitRecord))
        marks = ", ".join("?" * len(fields(UnitRecord)))
        statement = f"INSERT OR IGNORE INTO units ({names}, status, attempt) VALUES ({marks}, 'planned', 0)"
        for unit in units:
            self._insert(statement, _UNIT(unit))

    def unit_numbers(self) -> dict[str, int]:
        """Number by unit key."""
        return dict(self._db.execute("SELECT key, unit FROM units"))

    def unit_status(self) -> dict[str, str]:
        """Status by unit key."""
        return dict(self._db.execute("SELECT key, status FROM units"))

    def unanswered(self, about_the_request: Collection[int]) -> set[str]:
        """Keys of units that are done but for questions which the upstream failed to answer.

        A refusal with one of the statuses ``about_the_request`` would come again.
        """
        marks = ", ".join("?" * len(about_the_request))
        rows = self._db.execute(
            "SELECT DISTINCT key FROM units JOIN answers a USING (unit) JOIN calls c USING (unit, question)"
            " WHERE a.outcome = 'error' AND c.claimed = 1 AND (c.outcome IN ('connection', 'timeout', 'malformed')"
            f" OR c.outcome = 'http' AND c.status NOT IN ({marks}))",
            tuple(about_the_request),
        )
        return {key for (key,) in rows}

    def start_unit(self, unit: int, now: float) -> int:
        """Marks a unit as running and clears what a dead attempt left half-done; returns the attempt, from 1.

        Calls stay, unclaimed: they are paid for, and the new attempt is served from them. It is on disk before a call
        of the new attempt can be under way.
        """
        for table in ("steps", "states", "faults", "answers", "verdicts", "scores"):
            self._insert(f"DELETE FROM {table} WHERE unit = ?", (unit,))
        self._insert("UPDATE calls SET claimed = 0 WHERE unit = ?", (unit,))
        self._insert(
            "UPDATE units SET status = 'running', error = NULL, attempt = attempt + 1, started_at = ?,"
            " finished_at = NULL, wall_s = NULL WHERE unit = ?",
            (now, unit),
        )
        self.commit()
        return int(self._one("SELECT attempt FROM units WHERE unit = ?", unit))

    def end_unit(
        self,
        unit: int,
        status: str,
        *,
        now: float,
        wall_s: float,
        error: str | None = None,
        store: tuple[int, int] | None = None,
        written_tokens: int | None = None,
    ) -> None:
        """Marks a unit as done, failed or interrupted. ``store`` is its footprint in bytes and tokens."""
        store_bytes, store_tokens = store or (None, None)
        self._insert(
            "UPDATE units SET status = ?, error = ?, finished_at = ?, wall_s = ?, store_bytes = ?,"
            " store_tokens = ?, written_tokens = ? WHERE unit = ?",
            (status, error, now, wall_s, store_bytes, store_tokens, written_tokens, unit),
        )

    # Calls

    def add_call(self, record: CallRecord) -> int:
        """Enters a call and the texts it brings; returns its id."""
        call, self._next_call = self._next_call, self._next_call + 1
        prompt = record.prompt
        new = np.fromiter(map(self.add_text, prompt.new), "<i8", len(prompt.new)).tobytes()
        params = self.add_text(record.params)
        reply = None if record.reply is None else self.add_text(record.reply)
        self._insert(
            _INSERT_CALL,
            (
                call, record.unit, record.seq, record.attempt, record.turn, record.question, record.stage,
                record.background, record.kind, record.asked, record.model, record.provider,
                record.request_key, prompt.base, prompt.keep, new, params, reply, record.finish_reason,
                record.input_tokens, record.cached_tokens, record.cache_write_tokens, record.output_tokens,
                record.reasoning_tokens, record.embedding_tokens, record.usage_source,
                prompt.counted_tokens, prompt.prefix_tokens, prompt.prefix_turns_ago,
                record.started_at, record.latency_s, record.ttft_s, record.attempts,
                record.outcome, record.status, record.error, record.input_at_most, record.output_at_most,
            ),
        )  # fmt: skip
        return call

    def add_flight(self, flight: Flight) -> bool:
        """Enters a call that was under way when the process died, as interrupted; False where it is in already."""
        known = "SELECT count(*) FROM calls WHERE unit = ? AND attempt = ? AND seq = ?"
        if self._one(known, flight.unit, flight.attempt, flight.seq):
            return False
        self.add_call(
            CallRecord(
                unit=flight.unit, seq=flight.seq, attempt=flight.attempt, turn=flight.turn, question=None,
                stage=flight.stage, background=False, kind=flight.kind, asked=None, model=flight.model, provider=None,
                request_key=b"", prompt=PromptRecord(None, 0, (), 0, 0, None), params="{}", reply=None,
                finish_reason=None, input_tokens=None, cached_tokens=None, cache_write_tokens=None,
                output_tokens=None, reasoning_tokens=None, embedding_tokens=None, usage_source="upstream",
                started_at=0.0, latency_s=0.0, ttft_s=None, attempts=1, outcome="interrupted", status=None,
                error="the process died before the upstream answered",
                input_at_most=flight.input_at_most, output_at_most=flight.output_at_most,
            )
        )  # fmt: skip
        return True

    def recorded_calls(self, unit: int, *, judged: bool = False) -> list[RecordedCall]:
        """The unit's completed calls of every attempt, in the order they were made; a judge's apart from its own."""
        rows = self._db.execute(
            "SELECT call, request_key, kind, model, provider, body, finish_reason, attempts, outcome FROM calls"
            " JOIN texts ON text = reply WHERE unit = ? AND outcome = 'ok' AND (attempt = 0) = ? ORDER BY attempt, seq",
            (unit, judged),
        )
        return [RecordedCall(*row) for row in rows]

    def last_seq(self, unit: int, attempt: int) -> int:
        """The highest place that a call of this attempt has; 0 where there is none."""
        return int(self._one("SELECT max(seq) FROM calls WHERE unit = ? AND attempt = ?", unit, attempt) or 0)

    def claim_call(self, call: int, seq: int) -> None:
        """Notes that the running attempt was served from ``call`` as its ``seq``-th request."""
        self._insert("UPDATE calls SET claimed = 1, replays = replays + 1, seq = ? WHERE call = ?", (seq, call))

    def usage(self, unit: int) -> tuple[int, int, int, int, int]:
        """A unit's chat calls, and the sums of its input, repeated prefix, output and embedding tokens.

        Unknown figures are left out.
        """
        columns = (
            "sum(kind = 'chat')",
            "sum(coalesce(input_tokens, 0) + coalesce(cached_tokens, 0) + coalesce(cache_write_tokens, 0))",
            "sum(prefix_tokens)",
            "sum(coalesce(output_tokens, 0) + coalesce(reasoning_tokens, 0))",
            "sum(coalesce(embedding_tokens, 0))",
        )
        row = self._db.execute(f"SELECT {', '.join(columns)} FROM calls WHERE unit = ?", (unit,)).fetchone()
        calls, read, repeated, written, embedded = (int(figure or 0) for figure in row)
        return calls, read, repeated, written, embedded

    # Everything else

    def add_step(self, record: StepRecord) -> None:
        """Enters a step of the protocol."""
        self._insert("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _STEP(record))

    def add_state(self, unit: int, turn: int, state: str) -> None:
        """Enters what drives a memory's cost after a turn, as a JSON object."""
        self._insert("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", (unit, turn, state))

    def add_fault(self, record: FaultRecord) -> None:
        """Enters what went wrong inside a memory, with the reply that it could not use."""
        reply = None if record.reply is None else self.add_text(record.reply)
        self._insert(
            "INSERT INTO faults VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*_FAULT(record)[:-2], reply, record.lost_turns)
        )

    def add_answer(self, record: AnswerRecord) -> None:
        """Enters an answer."""
        recalled = None if record.recalled is None else self.add_text(record.recalled)
        self._insert(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*_ANSWER(record)[:-2], recalled, record.context_tokens),
        )

    def add_verdict(self, record: VerdictRecord) -> None:
        """Enters a verdict; an earlier one of the same answer, rubric and repeat is replaced."""
        self._insert("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", _VERDICT(record))

    def add_scores(self, rows: Iterable[tuple[int, int, str, float | None]]) -> None:
        """Enters scores: unit, ordinal of the answer, metric, value; a score that is there is replaced."""
        self._begin()
        with self._sound():
            self._db.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)", rows)

    def add_text(self, body: str) -> int:
        """Enters a text once, by content; returns its id."""
        try:
            identity = text_id(body)
        except UnicodeEncodeError:
            body = body.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            identity = text_id(body)
        if identity not in self._known_texts:
            if len(self._known_texts) > _REMEMBERED_TEXTS:
                self._known_texts.clear()  # costs a look-up in the file for each that comes again
            self._insert("INSERT OR IGNORE INTO texts VALUES (?, ?)", (identity, body))
            self._known_texts.add(identity)
        return identity

    def text(self, identity: int) -> str:
        """The body of a text."""
        return str(self._one("SELECT body FROM texts WHERE text = ?", identity))

    def add_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Enters one embedding per text."""
        for text, vector in zip(texts, vectors, strict=True):
            row = (self.add_text(text), model, vector.astype("<f4").tobytes())
            self._insert("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", row)

    def vectors(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The recorded embeddings of ``texts``, shape (texts, dimensions)."""
        query = "SELECT body FROM vectors WHERE text = ? AND model = ?"
        found = (self._db.execute(query, (text_id(text), model)).fetchone()[0] for text in texts)
        return np.stack([np.frombuffer(body, "<f4") for body in found])

    async def committed(self) -> None:
        """Returns when everything inserted so far is on disk."""
        if self._commit is None:
            loop = asyncio.get_running_loop()
            self._commit = loop.create_future()
            loop.call_soon(self._flush)
        await asyncio.shield(self._commit)

    def commit(self) -> None:
        """Puts everything inserted so far on disk, now."""
        with self._sound():
            if self._db.in_transaction:
                self._db.execute("COMMIT")

    def close(self) -> None:
        """Commits and closes."""
        if self._fault is None:
            self.commit()
        self._db.close()  # rolls back what was not committed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _flush(self) -> None:
        waiting, self._commit = self._commit, None
        assert waiting is not None
        try:
            self.commit()
        except LedgerError as fault:
            waiting.set_exception(fault)
            waiting.exception()  # a waiter may be gone; the fault is not lost: the next write meets it
        else:
            waiting.set_result(None)

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN")

    def _insert(self, statement: str, values: Sequence[Any]) -> None:
        with self._sound():
            self._begin()
            self._db.execute(statement, values)

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Writes nothing after a write that failed: SQLite may have taken back more than that one."""
        if self._fault is not None:
            raise self._fault
        try:
            with plain_faults(self.path):
                yield
        except LedgerError as fault:
            self._fault = fault
            raise

    def _one(self, query: str, *values: Any) -> Any:
        row = self._db.execute(query, values).fetchone()
        return row[0] if row else None


def _connect(path: Path, fsync: bool) -> sqlite3.Connection:
    with plain_faults(path):
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA wal_autocheckpoint = 16000")  # pages: a checkpoint holds a call up, so rarely
    return connection


# dataclasses.astuple copies deeply, which takes longer than the insert.
_UNIT, _STEP, _ANSWER, _VERDICT, _FAULT = (
    attrgetter(*(field.name for field in fields(kind)))
    for kind in (UnitRecord, StepRecord, AnswerRecord, VerdictRecord, FaultRecord)
)
_CALL_COLUMNS = (
    "call", "unit", "seq", "attempt", "turn", "question", "stage", "background", "kind", "asked", "model",
    "provider", "request_key", "prompt_base", "prompt_keep", "prompt_new", "params", "reply", "finish_reason",
    "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "embedding_tokens", "usage_source", "counted_tokens", "prefix_tokens", "prefix_turns_ago", "started_at",
    "latency_s", "ttft_s", "attempts", "outcome", "status", "error", "input_at_most", "output_at_most",
)  # fmt: skip
_INSERT_CALL = f"INSERT INTO calls ({', '.join(_CALL_COLUMNS)}) VALUES ({', '.join('?' * len(_CALL_COLUMNS))})"

__all__ = ["FILE_NAME", "Ledger", "LedgerError", "PromptRecord", "check_version", "text_id"]
