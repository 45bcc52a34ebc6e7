"""Paper 2's tables on the page."""

import json
import re
from pathlib import Path

from ledger_fixtures import call_record, unit_record
from memgauge.analysis.harness import Harness, harness
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.report.columns import badge
from memgauge.report.harness import harness_section
from recalled_ledgers import Asked, Said, recalled_ledger

STYLES = {"dense": "c0", "graph": "c1", "oracle": "control k0"}


def _found(directory: Path, workload: str = "sample") -> Harness:
    said = [Said("Pepper", lines=["Ann: his dog is Pepper"]), Said("no", recalled=())]
    units = (
        Asked(said, "oracle", workload=workload, unit={"control": True}),
        Asked(said, "graph", workload=workload),
        Asked(said, "dense", workload=workload, store=(600, 100), written=100),
    )
    frames = recalled_ledger(directory, *units)
    with Ledger.open(frames.path) as ledger:
        ledger.set_meta("paper_ids", json.dumps({"dense": "M1", "graph": "M5"}))
    return harness(frames)


def _rows(html: str) -> list[list[str]]:
    cells = (
        re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL)
    )
    return [[re.sub(r"<[^>]+>", "", cell) for cell in row] for row in cells]


def test_memories_stand_by_family_with_what_they_spent_and_knew(tmp_path: Path) -> None:
    html = str(harness_section(_found(tmp_path), STYLES, {}))
    heads, dense, graph, oracle, *more = _rows(html)
    assert heads[:3] == ["Memory", "Family", "E1 store"]
    assert "P5 compression" in heads
    assert (dense[:3], graph[:2], oracle[:2]) == (
        ["dense", "M1 flat", "600 B"], ["graph", "M5 structural"], ["oraclecontrol", "–"],
    )  # fmt: skip
    assert dense[heads.index("E8 read tokens, all")] == "121"
    assert dense[heads.index("E8 read tokens, aux")] == "0"
    assert more[0][:4] == ["Memory", "Family", "P1 exact match", "P2 token F1"]
    assert more[1][2].startswith("0.50")


def test_the_headings_say_what_is_our_reading(tmp_path: Path) -> None:
    html = str(harness_section(_found(tmp_path), STYLES, {}))
    assert html.count("our reading: the paper uses this figure and does not define it") == 4  # E12 to E15


def test_what_a_memory_lost_stands_behind_its_name(tmp_path: Path) -> None:
    html = str(harness_section(_found(tmp_path), STYLES, {"graph": badge("lost 3 turns", "why", "warn")}))
    assert [row[0] for row in _rows(html)][2] == "graphlost 3 turns"


def test_the_paper_s_figures_stand_beside_ours_where_the_workload_is_the_paper_s(tmp_path: Path) -> None:
    assert "Beside the paper" not in str(harness_section(_found(tmp_path / "own"), STYLES, {}))
    html = str(harness_section(_found(tmp_path / "theirs", "locomo"), STYLES, {}))
    found = {(row[0], row[2]): row for row in _rows(html) if len(row) == 8}
    compression = found["M1 dense", "P5 compression"]
    assert compression[3:6] == ["1.00", "1.00", "0.00"]
    assert compression[7] == "✓ inside"
    assert found["M5 graph", "E12 total tokens"][4] == "51.0M"
    assert "not in this ledger: of" in re.sub(r"<[^>]+>", "", html)


def test_seconds_that_are_not_whole_are_said_to_be_so(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "dense", "recall", questions=1)])
        ledger.start_unit(1, 0.0)
        call = ledger.add_call(call_record(1, 1, 1, "answer", question="q1"))
        ledger.start_unit(1, 1.0)
        ledger.claim_call(call, 1)
        ledger.end_unit(1, "done", now=2.0, wall_s=1.0)
    html = str(harness_section(harness(Frames(tmp_path)), STYLES, {}))
    assert "Of dense some calls came from the record of an earlier attempt" in html


def test_a_run_that_asked_nothing_has_no_such_section() -> None:
    assert harness_section(Harness((), ()), STYLES, {}) is None
