"""Stopped or killed in the middle of a product's work: nothing of it lives on, and the same command ends the run."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.products import registry as products
from memgauge.runner.audit import audit

PRODUCTS = [product.memory for product in map(products.product, products.names())]
TURNS = 30
SPEC = """
name = "interrupted"
memories = ["{memory}"]

[settings.rules]
backbone = "extractive"
embedder = "hashing"

[[workloads]]
name = "synthetic"
protocols = ["serve"]
options = {{ cells = [[{turns}, 50]], seeds = 2 }}
"""


@pytest.fixture(params=PRODUCTS)
def memory(request: pytest.FixtureRequest) -> str:
    try:
        registry.check(request.param, {})
    except UserError as reason:
        pytest.skip(str(reason))
    return str(request.param)


def started(spec: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [
        sys.executable, "-c", "from memgauge.cli import main; main()", "run", str(spec), "--out", str(out),
        "--concurrency", "2", "--json",
    ]  # fmt: skip
    with out.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)


def wait_for_writes(out: Path, run: subprocess.Popen[bytes]) -> None:
    """Until both units have written something, so that both products are up and at work."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and run.poll() is None:
        try:
            with closing(sqlite3.connect(f"file:{out / 'ledger.sqlite'}?mode=ro", uri=True)) as ledger:
                if ledger.execute("SELECT count(DISTINCT unit) FROM steps WHERE stage = 'write'").fetchone() == (2,):
                    return
        except sqlite3.OperationalError:
            pass  # not there yet
        time.sleep(0.05)
    raise AssertionError(f"nothing was written: {out.with_suffix('.log').read_text()[-2000:]}")


def alive(out: Path) -> list[str]:
    """Commands of the processes that have anything to do with the run: by their directory, files or environment."""
    needle, found = str(out).encode(), []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            told += str((entry / "cwd").readlink()).encode()
            if needle in told and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def all_gone(out: Path, within_s: float) -> list[str]:
    deadline = time.monotonic() + within_s
    while (left := alive(out)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_nothing_lives_on_and_the_same_command_finishes(memory: str, sign: signal.Signals, tmp_path: Path) -> None:
    spec, out = tmp_path / "spec.toml", tmp_path / "run"
    spec.write_text(SPEC.format(memory=memory, turns=TURNS))
    run = started(spec, out)
    wait_for_writes(out, run)
    os.kill(run.pid, sign)
    code = run.wait(120)
    assert code == (130 if sign == signal.SIGINT else -signal.SIGKILL)
    # After Ctrl-C nothing is left when the command returns; what outlives SIGKILL is told to end by the kernel.
    assert all_gone(out, 1 if sign == signal.SIGINT else 30) == []

    again = started(spec, out)
    assert again.wait(300) == 0, out.with_suffix(".log").read_text()[-2000:]
    assert all_gone(out, 1) == []
    assert not list((out / "work").iterdir())
    frames = Frames(out)
    assert frames.units()["status"].to_list() == ["done", "done"]
    found = audit(out, None)
    assert found.sound, [finding.what for finding in found.findings if finding.wrong]
    assert json.loads(frames.table("states")["state"][-1])["lost_writes"] == 0
