"""Whether a ledger is whole: every text what its id says, every reference answered, every call counted once.

What needs prices or the wire's own words is checked in runner/audit.py.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memgauge import tokens
from memgauge.ledger.flights import FILE_NAME as FLIGHTS
from memgauge.ledger.flights import SLOT
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import text_id

_SAMPLES = 3  # how many offenders a finding names
_REMEMBERED_PROMPTS = 64


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. ``wrong``: the ledger cannot be trusted in this; else something worth knowing."""

    wrong: bool
    what: str


def verify(path: Path) -> list[Finding]:
    """Everything that is wrong with a ledger (or the ledger of a run directory), and what is worth knowing of it."""
    frames = Frames(path)
    with closing(sqlite3.connect(frames.path, timeout=30)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")  # one moment of a ledger that is being written
        try:
            return [*_all(connection), *_left_in_flight(frames.path.with_name(FLIGHTS))]
        except sqlite3.DatabaseError as fault:
            return [Finding(True, f"the file cannot be read to its end: {fault}")]


def _all(db: sqlite3.Connection) -> Iterator[Finding]:
    for (line,) in db.execute("PRAGMA integrity_check(5)"):
        if line != "ok":
            yield Finding(True, f"the database is damaged: {line}")
    yield from _spec(db)
    yield from _texts(db)
    for what, query in _ORPHANS.items():
        yield from _offenders(db, True, what, query)
    for what, query in _RULES.items():
        yield from _offenders(db, True, what, query)
    yield from _prompts(db)
    yield from _units(db)
    for what, query in _NOTES.items():
        yield from _offenders(db, False, what, query)


def _offenders(db: sqlite3.Connection, wrong: bool, what: str, query: str) -> Iterator[Finding]:
    rows = db.execute(query).fetchall()
    if rows:
        named = ", ".join(" ".join(map(str, row)) for row in rows[:_SAMPLES])
        more = f" and {len(rows) - _SAMPLES:,} more" if len(rows) > _SAMPLES else ""
        yield Finding(wrong, f"{what}: {named}{more}")


def _spec(db: sqlite3.Connection) -> Iterator[Finding]:
    meta = dict(db.execute("SELECT key, value FROM meta"))
    if "spec" in meta and sha256(meta["spec"].encode()).hexdigest() != meta.get("spec_hash"):
        yield Finding(True, "the spec is not the one that its hash is of")


def _texts(db: sqlite3.Connection) -> Iterator[Finding]:
    altered = [identity for identity, body in db.execute("SELECT text, body FROM texts") if text_id(body) != identity]
    if altered:
        yield Finding(True, f"texts that are not what their ids are hashes of: {_named(altered)}")


_Pieces = tuple[NDArray[np.int64], NDArray[np.int64]]  # text ids, and the running sum of their tokens


class _Prompts:
    """Puts prompts together, those of late kept at hand: most prompts build on one of them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._sizes = {text: tokens.count(body) for text, body in db.execute("SELECT text, body FROM texts")}
        self._known: OrderedDict[int, _Pieces] = OrderedDict()

    def whole(self, call: int, base: int | None, keep: int, new: bytes) -> _Pieces:
        """Raises LookupError where the prompt cannot be put together."""
        if len(new) % 8 or (base is None and keep):
            raise LookupError
        own = np.frombuffer(new, "<i8")
        sums = np.cumsum(np.fromiter((self._sizes[int(text)] for text in own), np.int64, len(own)))
        if base is not None:
            before, counted = self._known.get(base) or self._again(base, call)
            if keep > len(before):
                raise LookupError
            start = counted[keep - 1] if keep else 0
            own, sums = np.concatenate((before[:keep], own)), np.concatenate((counted[:keep], start + sums))
        self._known[call] = own, sums
        if len(self._known) > _REMEMBERED_PROMPTS:
            self._known.popitem(last=False)
        return own, sums

    def _again(self, base: int, call: int) -> _Pieces:
        query = "SELECT call, prompt_base, prompt_keep, prompt_new FROM calls WHERE call = ? AND call < ?"
        chain: list[tuple[int, int | None, int, bytes]] = []
        here: int | None = base
        while here is not None and here not in self._known:
            row = self._db.execute(query, (here, call)).fetchone()
            if row is None:
                raise LookupError
            chain.append(row)
            call, here = here, row[1]
        for row in reversed(chain):
            self.whole(*row)
        return self._known[base]


def _prompts(db: sqlite3.Connection) -> Iterator[Finding]:
    prompts = _Prompts(db)
    units = dict(db.execute("SELECT call, unit FROM calls"))
    broken, strangers, miscounted = [], [], []
    query = "SELECT call, prompt_base, prompt_keep, prompt_new, counted_tokens FROM calls ORDER BY call"
    for call, base, keep, new, counted in db.execute(query):
        try:
            _, sums = prompts.whole(call, base, keep, new)
        except LookupError:
            broken.append(call)
            continue
        if base is not None and units[base] != units[call]:
            strangers.append(call)
        if counted != (sums[-1] if len(sums) else 0):
            miscounted.append(call)
    for what, calls in (
        ("calls whose prompt cannot be put together", broken),
        ("calls whose prompt builds on another unit's", strangers),
        ("calls whose prompt has another number of tokens than entered", miscounted),
    ):
        if calls:
            yield Finding(True, f"{what}: {_named(calls)}")


def _units(db: sqlite3.Connection) -> Iterator[Finding]:
    """A unit that is done has all its steps and answers, and no call of it is missing."""
    for unit, protocol, turns, questions in db.execute(
        "SELECT unit, protocol, turns, questions FROM units WHERE status = 'done'"
    ).fetchall():
        steps = dict(db.execute("SELECT stage, count(*) FROM steps WHERE unit = ? GROUP BY stage", (unit,)))
        expected = {"read": turns, "answer": turns} if protocol == "serve" else {"read": questions}
        for stage, number in expected.items():
            if steps.get(stage, 0) != number:
                yield Finding(True, f"unit {unit} is done with {steps.get(stage, 0)} of {number} {stage} steps")
        (answers,) = db.execute("SELECT count(*) FROM answers WHERE unit = ?", (unit,)).fetchone()
        if answers != questions:
            yield Finding(True, f"unit {unit} is done with {answers} of {questions} answers")
        for table, column in (("steps", "step"), ("answers", "ordinal")):
            rows, last = db.execute(f"SELECT count(*), max({column}) FROM {table} WHERE unit = ?", (unit,)).fetchone()
            if rows and rows != last:
                yield Finding(True, f"unit {unit} is done with {table} missing: {rows} of {last}")
        calls, last = db.execute(
            "SELECT count(*), max(seq) FROM calls WHERE unit = ? AND claimed = 1 AND attempt > 0", (unit,)
        ).fetchone()
        if calls and calls != last:
            yield Finding(True, f"unit {unit} is done with calls missing: {calls} of {last}")


def _left_in_flight(path: Path) -> list[Finding]:
    try:
        content = path.read_bytes()
    except OSError:
        return []
    left = sum(any(content[start : start + SLOT]) for start in range(0, len(content), SLOT))
    if not left:
        return []
    what = f"{left} calls are under way, or were when their process died: the same run again enters them"
    return [Finding(False, what)]


def _named(values: list[int]) -> str:
    more = f" and {len(values) - _SAMPLES:,} more" if len(values) > _SAMPLES else ""
    return ", ".join(map(str, values[:_SAMPLES])) + more


_ORPHANS = {
    "calls without a unit": "SELECT call FROM calls WHERE unit NOT IN (SELECT unit FROM units)",
    **{
        f"{table} without a unit": f"SELECT DISTINCT 'unit', unit FROM {table}"
        " WHERE unit NOT IN (SELECT unit FROM units)"
        for table in ("steps", "states", "faults", "answers", "verdicts", "scores")
    },
    **{
        f"{table} without an answer": f"SELECT DISTINCT 'unit', unit, 'answer', ordinal FROM {table} t WHERE NOT EXISTS"
        " (SELECT 1 FROM answers a WHERE a.unit = t.unit AND a.ordinal = t.ordinal)"
        for table in ("verdicts", "scores")
    },
    "calls without their parameters": "SELECT call FROM calls WHERE params NOT IN (SELECT text FROM texts)",
    "calls without their reply": "SELECT call FROM calls WHERE reply NOT IN (SELECT text FROM texts)",
    "answers without what was recalled": "SELECT 'unit', unit, 'answer', ordinal FROM answers"
    " WHERE recalled NOT IN (SELECT text FROM texts)",
    "faults without their reply": "SELECT 'unit', unit, 'fault', fault FROM faults"
    " WHERE reply NOT IN (SELECT text FROM texts)",
    "vectors without their text": "SELECT text FROM vectors WHERE text NOT IN (SELECT text FROM texts)",
}  # fmt: skip

_FIGURES = (
    *(f"ifnull({name}_tokens, 0)" for name in ("input", "cached", "cache_write", "output", "reasoning", "embedding")),
    "counted_tokens", "prefix_tokens", "input_at_most", "output_at_most",
)  # fmt: skip
_RULES = {
    "calls counted twice": "SELECT 'unit', unit, 'seq', seq FROM calls WHERE claimed = 1"
    " GROUP BY unit, attempt = 0, seq HAVING count(*) > 1",
    "calls of an attempt that their unit never had": "SELECT call FROM calls JOIN units USING (unit)"
    " WHERE calls.attempt > units.attempt",
    "completed calls without a reply": "SELECT call FROM calls WHERE outcome = 'ok' AND reply IS NULL",
    "failed calls without an error": "SELECT call FROM calls WHERE outcome <> 'ok' AND error IS NULL",
    "calls with less than no tokens": f"SELECT call FROM calls WHERE min({', '.join(_FIGURES)}) < 0",
    "calls that share more than there is": "SELECT call FROM calls WHERE prefix_tokens > counted_tokens",
    "calls beyond their unit's last turn": "SELECT call FROM calls JOIN units USING (unit) WHERE turn > turns",
    "vectors of one model that differ in length": "SELECT model FROM vectors GROUP BY model"
    " HAVING count(DISTINCT length(body)) > 1",
    "units of no known status": "SELECT unit, status FROM units"
    " WHERE status NOT IN ('planned', 'running', 'done', 'failed', 'interrupted')",
    "answers that are neither given nor an error": "SELECT 'unit', unit, 'answer', ordinal FROM answers"
    " WHERE (outcome = 'ok') <> (answer IS NOT NULL AND error IS NULL)",
}  # fmt: skip

_NOTES = {
    "units that are not done": "SELECT unit, status FROM units WHERE status <> 'done'",
    "completed calls whose usage the upstream did not report": "SELECT call FROM calls WHERE outcome = 'ok'"
    " AND input_tokens IS NULL AND embedding_tokens IS NULL",
    "calls that may have been charged for though no usage came back (tokens at most)":
    "SELECT count(*) || ' calls,', sum(input_at_most), 'in,', sum(output_at_most), 'out' FROM calls"
    " WHERE input_at_most + output_at_most > 0 HAVING count(*) > 0",
    "calls paid by attempts that died, and not asked for again":
    "SELECT count(*) FROM calls WHERE claimed = 0 HAVING count(*) > 0",
}  # fmt: skip
