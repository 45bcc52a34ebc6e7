"""Verification finds whatever is done to a ledger behind its back, and nothing where nothing was done."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memgauge.errors import UserError
from memgauge.ledger.flights import FILE_NAME, Flight, Flights
from memgauge.ledger.verify import verify
from memgauge.runner.audit import audit, same_model
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, Setting, WorkloadUse


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The ledger of a run of two memories, served and asked."""
    import asyncio

    directory = tmp_path_factory.mktemp("finished")
    experiment = Experiment(
        name="test", memories=(MemoryUse(name="full-history"), MemoryUse(name="dense")),
        settings={"rules": Setting(backbone="extractive", embedder="hashing")},
        workloads=(WorkloadUse(name="sample", protocols=("serve", "recall")),),
    )  # fmt: skip
    asyncio.run(run(experiment, directory))
    with closing(sqlite3.connect(directory / "ledger.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (directory / "ledger.sqlite").read_bytes()


def wrong(directory: Path) -> list[str]:
    return [finding.what for finding in audit(directory).findings if finding.wrong]


def test_a_ledger_that_nobody_touched_is_sound(tmp_path: Path, finished: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(finished)
    found = audit(tmp_path)
    assert found.sound
    assert (found.units, found.calls > 50, found.texts > 50) == (4, True, True)


DAMAGE = {
    "UPDATE texts SET body = body || '!' WHERE text = (SELECT reply FROM calls LIMIT 1)": "not what their ids",
    "DELETE FROM texts WHERE text = (SELECT reply FROM calls WHERE kind = 'chat' LIMIT 1)": "without their reply",
    "DELETE FROM texts WHERE text = (SELECT params FROM calls LIMIT 1)": "without their parameters",
    "DELETE FROM texts WHERE text = (SELECT recalled FROM answers LIMIT 1)": "without what was recalled",
    "DELETE FROM texts WHERE text = (SELECT text FROM vectors LIMIT 1)": "vectors without their text",
    "DELETE FROM units WHERE unit = 1": "calls without a unit",
    "INSERT INTO steps VALUES (9, 1, 1, NULL, 'read', 0, 0, 0)": "steps without a unit: unit 9",
    "INSERT INTO scores VALUES (3, 99, 'em', 1)": "scores without an answer: unit 3 answer 99",
    "DELETE FROM calls WHERE call = 7": "with calls missing",
    "UPDATE calls SET claimed = 0 WHERE call = 7": "with calls missing",
    "UPDATE calls SET prompt_base = 99999 WHERE prompt_base IS NOT NULL AND call = 9": "cannot be put together: 9",
    "UPDATE calls SET prompt_base = call WHERE call = 9": "cannot be put together",
    "UPDATE calls SET prompt_keep = 4000 WHERE call = 9": "cannot be put together",
    "UPDATE calls SET prompt_new = x'00' WHERE call = 9": "cannot be put together",
    "UPDATE calls SET prompt_base = 9, prompt_keep = 1, prompt_new = x'' WHERE call ="
    " (SELECT max(call) FROM calls)": "builds on another unit's",
    "UPDATE calls SET counted_tokens = counted_tokens + 1 WHERE call = 9": "another number of tokens than entered: 9",
    "UPDATE calls SET input_tokens = input_tokens - 1 WHERE call = 9": "other tokens than their reply says: 9",
    "UPDATE calls SET output_tokens = -1 WHERE call = 9": "less than no tokens: 9",
    "UPDATE calls SET reply = NULL WHERE call = 9": "completed calls without a reply: 9",
    "UPDATE calls SET outcome = 'http' WHERE call = 9": "failed calls without an error: 9",
    "UPDATE calls SET attempt = 5 WHERE call = 9": "an attempt that their unit never had: 9",
    "UPDATE calls SET turn = 5000 WHERE call = 9": "beyond their unit's last turn: 9",
    "DELETE FROM answers WHERE unit = 3 AND ordinal = 2": "unit 3 is done with 9 of 10 answers",
    "DELETE FROM steps WHERE unit = 1 AND step = 4": "unit 1 is done with",
    "UPDATE answers SET answer = NULL WHERE unit = 3 AND ordinal = 2": "neither given nor an error: unit 3 answer 2",
    "UPDATE vectors SET body = x'00000000' WHERE text = (SELECT text FROM vectors LIMIT 1)": "differ in length: ha",
    "UPDATE units SET status = 'perhaps' WHERE unit = 2": "no known status: 2 perhaps",
    "UPDATE meta SET value = '{}' WHERE key = 'spec'": "the spec is not the one",
    "DROP INDEX calls_of_unit; UPDATE calls SET seq = 3 WHERE call IN (4, 5)": "calls counted twice: unit 1 seq 3",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_damage_is_found_and_named(tmp_path: Path, finished: bytes, statement: str) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(finished)
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        connection.executescript(statement)
        connection.commit()
    assert any(DAMAGE[statement] in what for what in wrong(tmp_path)), wrong(tmp_path)


def test_pages_that_are_lost_are_found(tmp_path: Path, finished: bytes) -> None:
    # Pages 3 to 7, behind the schema: roots of tables.
    (tmp_path / "ledger.sqlite").write_bytes(finished[: 2 * 4096] + bytes(5 * 4096) + finished[7 * 4096 :])
    assert wrong(tmp_path)


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no ledger at"):
        verify(tmp_path)


def test_calls_that_died_with_their_process_are_worth_a_note(tmp_path: Path, finished: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(finished)
    Flights(tmp_path / FILE_NAME).sent(Flight(1, 1, 1, 1, 1, 1, "read", "chat", "m"))
    notes = [finding.what for finding in verify(tmp_path) if not finding.wrong]
    assert notes == ["1 calls are under way, or were when their process died: the same run again enters them"]


def test_calls_without_usage_and_by_another_model_are_worth_a_note(tmp_path: Path, finished: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(finished)
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        connection.execute("UPDATE calls SET model = 'cheaper-0', input_at_most = 10 WHERE call IN (9, 11)")
        connection.commit()
    found = audit(tmp_path)
    assert found.sound
    notes = "\n".join(finding.what for finding in found.findings)
    assert "2 calls to 'extractive-1' were answered by 'cheaper-0'" in notes
    assert "may have been charged for though no usage came back (tokens at most): 2 calls, 20 in, 0 out" in notes


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("openai/gpt-oss-20b:nitro", "openai/gpt-oss-20b", True),
        ("gpt-oss-20b", "openai/gpt-oss-20b/fp8", True),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct", True),
        ("gpt-4o", "claude-3-haiku", False),
        ("llama3:latest", "llama3", True),
        ("qwen2.5-7b", "qwen2.5-14b", False),
    ],
)
def test_one_model_has_many_names(asked: str, served: str, same: bool) -> None:
    assert same_model(asked, served) is same
