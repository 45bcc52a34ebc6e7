"""Brings a ledger of an older version to this one's, in place, all of it or nothing; refuses any other version."""

import sqlite3
from pathlib import Path

from memgauge.ledger.faults import LedgerError
from memgauge.ledger.schema import VERSION

# Version -> what makes the next one of it.
_STEPS = {
    # Version 1 could not enter that an attempt was served in another order than the one before it, and did not
    # say what a call can have used whose usage never arrived: four bytes a token, and the longest reply there was.
    1: """
        ALTER TABLE calls ADD COLUMN input_at_most INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE calls ADD COLUMN output_at_most INTEGER NOT NULL DEFAULT 0;
        UPDATE calls SET input_at_most = 4 * counted_tokens, output_at_most = (kind = 'chat') * 32768
            WHERE outcome IN ('interrupted', 'timeout', 'malformed') AND input_tokens IS NULL
            AND output_tokens IS NULL AND embedding_tokens IS NULL;
        DROP INDEX calls_of_unit;
        CREATE UNIQUE INDEX calls_of_unit ON calls (unit, attempt = 0, seq) WHERE claimed = 1;
    """,
    # Version 2 told of a memory's losses in units.error alone.
    2: """
        CREATE TABLE faults (
            unit INTEGER NOT NULL REFERENCES units, fault INTEGER NOT NULL, turn INTEGER NOT NULL, question TEXT,
            stage TEXT NOT NULL, what TEXT NOT NULL, reply INTEGER, lost_turns INTEGER NOT NULL,
            PRIMARY KEY (unit, fault)
        ) WITHOUT ROWID;
    """,
}


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Sees to it that the ledger at ``path`` is of this version; raises LedgerError where that cannot be."""
    found = _version(connection, path)
    if found == str(VERSION):
        return
    if not (found.isdecimal() and int(found) in _STEPS):
        raise LedgerError(f"{path} has ledger version {found}, this memgauge reads {VERSION}; run it again")
    _migrate(path)


def _version(connection: sqlite3.Connection, path: Path) -> str:
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except sqlite3.DatabaseError as fault:
        raise LedgerError(f"{path} is not a ledger ({fault})") from None
    return str(row[0]) if row else "none"


def _migrate(path: Path) -> None:
    # A connection of its own: the one that asks may be a reader's, which must not write.
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        connection.execute("BEGIN IMMEDIATE")
        found = int(_version(connection, path))  # again: another process may have been faster
        for version in range(found, VERSION):
            for statement in filter(str.strip, _STEPS[version].split(";")):
                connection.execute(statement)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (str(VERSION),))
        connection.execute("COMMIT")
    except sqlite3.Error as fault:
        raise LedgerError(f"{path} is of an older version and cannot be brought to {VERSION}: {fault}") from None
    finally:
        connection.close()  # rolls back what was not committed
