"""The commands about what is installed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memgauge.cli import cli
from memgauge.errors import UnknownNameError, UserError
from memgauge.products.environment import Environment, Product


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is installed."""
    monkeypatch.setenv("MEMGAUGE_DATA", str(tmp_path))
    return tmp_path


def test_a_product_is_installed_by_its_name_and_all_by_one_flag(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    monkeypatch.setattr(Environment, "install", lambda self, prove, progress: built.append(self.product.name))
    assert CliRunner().invoke(cli, ["install", "mem0-v1"]).exit_code == 0
    assert built == ["mem0-v1"]
    built.clear()
    assert CliRunner().invoke(cli, ["install", "--all"]).exit_code == 0
    assert {"mem0", "mem0-v1"} <= set(built)


def test_an_unknown_name_is_told_with_the_nearest_one(empty: Path) -> None:
    fault = CliRunner().invoke(cli, ["install", "memo"]).exception
    assert isinstance(fault, UnknownNameError)
    assert "did you mean 'mem0'?" in str(fault)


def test_naming_nothing_says_what_there_is(empty: Path) -> None:
    fault = CliRunner().invoke(cli, ["install"]).exception
    assert isinstance(fault, UserError)
    assert "embedded, " in str(fault)
    assert "mem0-v1" in str(fault)


def test_the_doctor_tells_people_and_programs_the_same(empty: Path) -> None:
    told = CliRunner().invoke(cli, ["doctor", "--json"])
    assert told.exit_code == 0
    mem0 = next(finding for finding in json.loads(told.stdout) if finding["name"] == "mem0")
    assert (mem0["state"], mem0["version"], mem0["remedy"]) == ("missing", "2.2.1", "memgauge install mem0")
    shown = CliRunner().invoke(cli, ["doctor"]).stdout
    assert any(line.split()[:3] == ["mem0", "2.2.1", "missing"] for line in shown.splitlines())


def test_something_damaged_is_an_exit_code(empty: Path) -> None:
    from memgauge.products.mem0.memory import MEM0

    product: Product = MEM0
    broken = Environment(product)
    broken.path.mkdir(parents=True)
    (broken.path / "memgauge.json").write_text("{")
    told = CliRunner().invoke(cli, ["doctor"])
    assert told.exit_code == 1
    assert "memgauge.json is damaged; run: memgauge install mem0" in told.stdout
