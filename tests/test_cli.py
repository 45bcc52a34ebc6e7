"""The command line as its user meets it: one command to a page, and one line for every mistake."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RULES = ("--backbone", "extractive")


def memgauge(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from memgauge.cli import main; main()", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip


def test_one_command_ends_with_a_page(tmp_path: Path) -> None:
    done = memgauge("run", "quickstart", *RULES, "--out", "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("full-history", "rolling-window", "dense", "bm25", "oracle", "none"):
        assert name in done.stdout
    assert "page: demo/report.html" in done.stdout
    assert "<html" in (tmp_path / "demo" / "report.html").read_text()


def test_the_same_command_again_plays_nothing_anew(tmp_path: Path) -> None:
    memgauge("run", *RULES, "--memories", "bm25", "--out", "demo", cwd=tmp_path)
    again = memgauge("run", *RULES, "--memories", "bm25", "--out", "demo", cwd=tmp_path)
    assert again.returncode == 0
    assert "[1/" not in again.stderr


def test_json_is_for_scripts(tmp_path: Path) -> None:
    done = memgauge("run", *RULES, "--memories", "bm25,none", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert Path(tmp_path / answer["page"]).is_file()
    assert json.loads(memgauge("report", answer["run"], "--json", cwd=tmp_path).stdout)["summary"] == answer["summary"]


def test_a_transcript_of_ones_own(tmp_path: Path) -> None:
    lines = [{"speaker": "user" if i % 2 else "agent", "text": f"Fact number {i} is {i * 7}."} for i in range(12)]
    lines.append({"question": "What is fact number 3?", "answer": "21", "evidence": []})
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = memgauge("run", *RULES, "--workload", "mine.jsonl", "--memories", "full-history,bm25", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 turns, 1 question" in done.stdout


def test_a_plan_spends_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    done = memgauge("plan", "quickstart", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "total" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_plan_foresees_what_a_run_then_uses(tmp_path: Path) -> None:
    plan = json.loads(memgauge("plan", *RULES, "--memories", "full-history", "--json", cwd=tmp_path).stdout)
    done = json.loads(memgauge("run", *RULES, "--memories", "full-history", "--json", cwd=tmp_path).stdout)
    foreseen = sum(line["estimate"]["input_tokens"] for line in plan["lines"])
    assert foreseen == done["summary"]["spend"]["fresh"]["input_tokens"]


def test_names_and_data_sets_are_listed(tmp_path: Path) -> None:
    listed = memgauge("list", cwd=tmp_path).stdout
    for name in ("rolling-window", "M2", "locomo", "extractive", "quickstart"):
        assert name in listed
    assert {entry["kind"] for entry in json.loads(memgauge("list", "presets", "--json", cwd=tmp_path).stdout)} == {
        "presets"
    }
    assert "CC BY-NC" in memgauge("data", "list", cwd=tmp_path, MEMGAUGE_CACHE=str(tmp_path)).stdout


def test_a_ledger_is_exported(tmp_path: Path) -> None:
    memgauge("run", *RULES, "--memories", "none", "--out", "demo", cwd=tmp_path)
    done = memgauge("export", "demo", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "demo" / "export" / "calls.csv").is_file()


SPEC = 'name = "x"\nmemories = ["bm25"]\n[settings.a]\nbackbone = "extractive"\n[[workloads]]\nname = "sample"\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "quickstrat"], "unknown preset 'quickstrat'; did you mean 'quickstart'?"),
        (["run", "locomo", "-W", "paths=x"], "workload 'locomo' has no option 'paths'"),
        (["run", *RULES, "--memories", "bm52"], "unknown memory 'bm52'; did you mean 'bm25'?"),
        (["run", "--backbone", "extractiv"], "unknown backbone 'extractiv'; did you mean 'extractive'?"),
        (["run", *RULES, "--workload", "locomoo"], "unknown workload 'locomoo'; did you mean 'locomo'?"),
        (["run", *RULES, "--embedder", "minilmm"], "unknown embedder 'minilmm'; did you mean 'minilm'?"),
        (["run", "broken.toml"], "broken.toml: malformed TOML"),
        (["run", "none.toml"], "none.toml: No such file"),
        (["run", "misspelt.toml"], "unknown field 'memorys' in the spec; did you mean 'memories'?"),
        (["run", *RULES, "--workload", "none.jsonl"], "none.jsonl"),
        (["run", *RULES, "--workload", "empty.jsonl"], "empty.jsonl"),
        (["run", *RULES, "--workload", "broken.jsonl"], "broken.jsonl:2"),
        (["run", *RULES, "--workload", "twice.jsonl"], "twice.jsonl:2"),
        (["run", *RULES, "--workload", "backwards.jsonl"], "backwards.jsonl:2"),
        (["run", "--backbone", "endpoint"], "needs base_url"),
        (["run", "--base-url", "http://127.0.0.1:9/v1"], "needs a model"),
        (["run", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"], "http://127.0.0.1:9/v1"),
        (["run", *RULES, "--api-key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY"),
        (["run", *RULES, "-W", "path"], "expected KEY=VALUE"),
        (["run", *RULES, "-W", "path=x"], "needs --workload"),
        (["run", *RULES, "--prices", "total-recal"], "did you mean 'total-recall'?"),
        (["run", *RULES, "--protocols", "serf"], "unknown protocol 'serf'; did you mean 'serve'?"),
        (["report", "nowhere"], "no ledger at nowhere"),
        (["export", "."], "no ledger at"),
        (["list", "memorys"], "did you mean 'memories'?"),
        (["data", "fetch", "locomoo"], "did you mean 'locomo'?"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_two(tmp_path: Path, arguments: list[str], message: str) -> None:
    files = {
        "broken.toml": "name = ", "misspelt.toml": SPEC.replace("memories", "memorys"), "empty.jsonl": "",
        "broken.jsonl": '{"speaker": "a", "text": "b"}\n{"speaker": ',
        "twice.jsonl": '{"id": "1", "speaker": "a", "text": "b"}\n{"id": "1", "speaker": "a", "text": "c"}',
        "backwards.jsonl": '{"speaker": "a", "text": "b", "time": "2024-05-02"}\n'
                           '{"speaker": "a", "text": "c", "time": "2024-05-01"}',
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = memgauge(*arguments, cwd=tmp_path, MEMGAUGE_CACHE=str(tmp_path / "cache"))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_directory_of_another_spec_is_refused(tmp_path: Path) -> None:
    memgauge("run", *RULES, "--memories", "none", "--out", "demo", cwd=tmp_path)
    done = memgauge("run", *RULES, "--memories", "bm25", "--out", "demo", cwd=tmp_path)
    assert done.returncode == 2
    assert "demo belongs to another spec" in done.stderr


def test_a_token_cap_ends_the_run_with_its_own_exit_code(tmp_path: Path) -> None:
    done = memgauge("run", *RULES, "--max-tokens", "3000", "--out", "demo", cwd=tmp_path)
    assert done.returncode == 3
    assert "budget spent" in done.stderr
    assert (tmp_path / "demo" / "report.html").is_file()
    assert memgauge("run", *RULES, "--out", "demo", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopping_a_run_loses_nothing(tmp_path: Path, how: signal.Signals) -> None:
    workload = ["--workload", "synthetic", "-W", "cells=[[400, 200]]", "-W", "seeds=4", "--protocols", "serve"]
    command = ["run", *RULES, *workload, "--memories", "full-history,bm25", "--out", "demo"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from memgauge.cli import main; main()", *command],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    ledger = tmp_path / "demo" / "ledger.sqlite"
    deadline = time.monotonic() + 60
    while not ledger.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from here" in errors
    assert memgauge(*command, cwd=tmp_path).returncode == 0
    shutil.rmtree(tmp_path / "demo")


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small cost grid with questions, played with rules."""
    directory = tmp_path_factory.mktemp("grid")
    cells = ["--workload", "synthetic", "-W", "cells=[[10, 20], [20, 40], [40, 20], [30, 60]]", "-W", "seeds=2"]
    done = memgauge(
        "run", *RULES, *cells, "--memories", "full-history,rolling-window,bm25", "--out", "g", cwd=directory
    )
    assert done.returncode == 0, done.stderr
    return directory


PRICED = ("--prices", "total-recall", "--price-as", "extractive-1=gpt-oss-20b", "--provider", "groq")


def test_a_grid_is_analysed_to_tables_a_page_and_figures(grid: Path) -> None:
    done = memgauge("analyze", "g", *PRICED, "--figures", "figs", "--format", "png", cwd=grid)
    assert done.returncode == 0, done.stderr
    for heading in ("What explains the cost", "When each memory pays", "Accuracy for its price", "Beside the paper"):
        assert heading in done.stdout
    assert "page: g/analysis.html" in done.stdout
    assert (grid / "g" / "analysis.html").is_file()
    assert len(list((grid / "figs").glob("*.png"))) >= 5

    figures = json.loads(memgauge("analyze", "g", "--json", cwd=grid).stdout)
    assert {"cost_model", "diagnostics", "break_even", "joint"} <= set(figures)
    assert {model["memory"] for model in figures["cost_model"]} == {"full-history", "rolling-window", "bm25"}


def test_a_ledger_is_priced_again_offline(grid: Path) -> None:
    done = memgauge("reprice", "g", *PRICED, "--cache", "policy", cwd=grid)
    assert done.returncode == 0, done.stderr
    assert "$" in done.stdout
    assert json.loads(memgauge("reprice", "g", *PRICED, "--json", cwd=grid).stdout)["after"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["analyze", "g", "--cell", "100"], "--cell 100: expected turns x tokens per turn"),
        (["analyze", "g", "--cell", "100x100"], "no finished run in cell"),
        (["analyze", "g", "--figures", "f", "--format", "pgn"], "did you mean 'png'?"),
        (["reprice", "g", "--prices", "total-recall", "--provider", "groq=much"], "the share must be a number"),
        (["reprice", "g", "--prices", "total-recall", "--provider", "groq=0.5"], "sum to 1"),
        (["reprice", "g", "--prices", "total-recall", "--price-as", "x"], "expected ONE=OTHER"),
        (["reprice", "g", "--prices", "bad.toml"], "bad.toml, line 6"),
    ],
)  # fmt: skip
def test_a_mistake_in_reading_is_one_line_too(grid: Path, arguments: list[str], message: str) -> None:
    good, bad = (f'[[price]]\nmodel = "{name}"\ninput = {usd}\noutput = 1\n' for name, usd in (("a", 1), ("b", -1)))
    (grid / "bad.toml").write_text(f"date = 2026-01-01\n{good}{bad}")
    done = memgauge(*arguments, cwd=grid)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
