"""What ``report`` and ``analyze`` print and write of what happened inside the memories."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ledger_fixtures import sample_ledger
from memgauge.cli import cli
from memgauge.ledger.records import FaultRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from tags import Tags


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample run, in which ``bm25`` had a fault."""
    directory: Path = tmp_path_factory.mktemp("run")
    sample_ledger(directory)
    with Ledger.open(directory / FILE_NAME) as ledger:
        ledger.set_meta("paper_ids", json.dumps({"bm25": "M2", "dense": "M1"}))
        ledger.set_meta("provenance.product.mem0", "mem0ai 2.2.1")
        ledger.add_fault(FaultRecord(6, 1, 3, None, "write", "the reply is no JSON", "Sure! <b>", 1))
        ledger.add_state(6, 1, '{"stored_turns": 1}')
    return directory


def _json(*arguments: str) -> Any:
    return json.loads(CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False).stdout)


def test_report_gives_paper_2_s_tables_and_the_faults_as_json(run: Path) -> None:
    summary = _json("report", str(run))["summary"]
    (table,) = summary["harness"]["tables"]
    assert [row["paper_id"] for row in table["rows"]][:2] == ["M1", "M2"]
    assert table["rows"][0]["figures"]["write_calls"] == 0
    assert [(entry["memory"], entry["faults"], entry["lost_turns"]) for entry in summary["losses"]] == [("bm25", 1, 1)]
    assert summary["ran"]["provenance"]["product.mem0"] == "mem0ai 2.2.1"


def test_the_page_shows_the_insides_and_marks_who_lost_something(run: Path) -> None:
    _json("report", str(run))
    html = (run / "report.html").read_text(encoding="utf-8")
    ids = {attributes.get("id") for _, attributes in Tags(html).found}
    assert {"harness", "losses", "calls"} <= ids
    assert "stored turns" in html
    assert "mem0ai 2.2.1" in html
    assert html.count(">lost 1 turn</span>") >= 4  # in the summary, the scores, and both tables by family
    assert "Sure! &lt;b&gt;" in html


def test_analyze_gives_the_same_tables_as_json(run: Path) -> None:
    assert _json("analyze", str(run))["harness"] == _json("report", str(run))["summary"]["harness"]
