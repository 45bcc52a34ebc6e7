"""A ledger that an older memgauge wrote is brought to this version, whole or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memgauge.backbones.base import ChatRequest
from memgauge.ledger.faults import LedgerError
from memgauge.ledger.frames import Frames
from memgauge.ledger.schema import VERSION
from memgauge.ledger.verify import verify
from memgauge.ledger.writer import Ledger
from support import Scripted, new_ledger, open_unit

# What version 1 had in place of what is there now.
BACK = """
DROP INDEX calls_of_unit;
DROP TABLE faults;
ALTER TABLE calls DROP COLUMN input_at_most;
ALTER TABLE calls DROP COLUMN output_at_most;
CREATE UNIQUE INDEX calls_of_unit ON calls (unit, attempt, seq);
UPDATE meta SET value = '1' WHERE key = 'schema_version';
"""


@pytest.fixture
async def old(tmp_path: Path) -> Path:
    """A ledger of version 1: a completed call, and one of 3 counted tokens that was interrupted."""
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        await unit.chat(ChatRequest.of("s", "u"))
        await unit.chat(ChatRequest.of("s", "w"))
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        connection.executescript(BACK)
        connection.execute(
            "UPDATE calls SET outcome = 'interrupted', error = 'stopped', input_tokens = NULL, output_tokens = NULL,"
            " counted_tokens = 3 WHERE call = 2"
        )
        connection.commit()
    return tmp_path


def version(path: Path) -> str:
    return Frames(path).meta()["schema_version"]


def test_reading_an_old_ledger_brings_it_up_to_date(old: Path) -> None:
    calls = Frames(old).calls()
    assert version(old) == str(VERSION)
    # Of the interrupted call: four bytes a token, and the longest reply that version 1 allowed for.
    assert calls["input_at_most"].to_list() == [0, 4 * 3]
    assert calls["output_at_most"].to_list() == [0, 32_768]


async def test_a_run_goes_on_from_an_old_ledger(old: Path) -> None:
    with Ledger.open(old / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted("fresh"))
        # In another order than before, which version 1 could not enter.
        assert (await unit.chat(ChatRequest.of("s", "w"))).text == "fresh"
        assert (await unit.chat(ChatRequest.of("s", "u"))).text == "ok"
    found = [finding.what for finding in verify(old) if finding.wrong]
    assert [what for what in found if not what.endswith(": 2")] == []  # call 2 is the fixture's doing


def test_a_migration_that_fails_leaves_the_old_ledger_as_it_was(old: Path) -> None:
    with closing(sqlite3.connect(old / "ledger.sqlite")) as connection:
        connection.execute("ALTER TABLE calls ADD COLUMN output_at_most INTEGER")  # in the way of the second step
        connection.commit()
    with pytest.raises(LedgerError, match="older version and cannot be brought to 3: duplicate column"):
        Frames(old)
    with closing(sqlite3.connect(old / "ledger.sqlite")) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() == ("1",)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(calls)")}
    assert "input_at_most" not in columns


@pytest.mark.parametrize("strange", ["4", "0", "two", ""])
def test_a_version_that_nobody_knows_is_refused_and_left_alone(old: Path, strange: str) -> None:
    with closing(sqlite3.connect(old / "ledger.sqlite")) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (strange,))
        connection.commit()
    before = (old / "ledger.sqlite").read_bytes()
    for opening in (Frames, lambda path: Ledger.open(path / "ledger.sqlite")):
        with pytest.raises(LedgerError, match=f"has ledger version {strange}, this memgauge reads 3"):
            opening(old)
    assert (old / "ledger.sqlite").read_bytes() == before
