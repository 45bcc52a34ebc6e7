"""`memgauge verify` says what is wrong with a ledger, one line each, and exits 1 where something is."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from memgauge.backbones.base import ChatRequest
from memgauge.cli import cli
from support import Scripted, new_ledger, open_unit


@pytest.fixture
async def run(tmp_path: Path) -> Path:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted()).chat(ChatRequest.of("s", "u"))
    return tmp_path


def test_a_sound_ledger_is_called_sound(run: Path) -> None:
    told = CliRunner().invoke(cli, ["verify", str(run)])
    assert told.exit_code == 0
    assert told.output.splitlines()[-1] == "sound: 1 units, 1 calls, 6 texts"
    assert "note: units that are not done: 1 running" in told.output


def test_damage_is_a_line_and_exit_code_one(run: Path) -> None:
    with closing(sqlite3.connect(run / "ledger.sqlite")) as connection:
        connection.execute("UPDATE calls SET unit = 7")
        connection.commit()
    told = CliRunner().invoke(cli, ["verify", str(run)])
    assert told.exit_code == 1
    assert "wrong: calls without a unit: 1\n" in told.output
    assert told.output.splitlines()[-1].startswith("NOT sound")

    told = CliRunner().invoke(cli, ["verify", str(run), "--json"])
    assert told.exit_code == 1
    assert {"wrong": True, "what": "calls without a unit: 1"} in json.loads(told.stdout)["findings"]
