"""Every data set is listed with its origin, licence and state."""

from pathlib import Path

import pytest

from memgauge import catalogue


def test_data_sets_are_listed_with_origin_licence_and_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    listed = catalogue.datasets()
    assert {entry.workload for entry in listed} == {"locomo", "longmemeval", "memoryagentbench", "multiwoz"}
    assert all(entry.licence and entry.source and entry.revision and entry.citation for entry in listed)
    assert {entry.file for entry in listed if entry.optional} == {
        "locomo_audit_errors.json",
        "longmemeval_m_cleaned.json",
        "longmemeval_oracle.json",
    }
    assert {entry.workload: entry.state for entry in listed} == {
        "locomo": "missing",
        "longmemeval": "missing",
        "memoryagentbench": "missing",
        "multiwoz": "by hand",
    }
