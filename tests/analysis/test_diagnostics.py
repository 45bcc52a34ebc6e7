"""Token accounting, from calls whose sums are in the comments."""

from pathlib import Path
from typing import Any

import pytest

from ledger_fixtures import call_record, unit_record
from memgauge.analysis.diagnostics import Diagnostics, diagnostics
from memgauge.analysis.runs import CALL_COLUMNS, served, serving_calls
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger


def accounted(tmp_path: Path, *calls: tuple[str, dict[str, Any]]) -> Diagnostics:
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "m", "serve", turns=1)])
        ledger.start_unit(1, 0.0)
        for seq, (stage, fields) in enumerate(calls, 1):
            ledger.add_call(call_record(1, seq, 1, stage, **fields))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    frames = Frames(tmp_path)
    read = frames.calls(CALL_COLUMNS)
    runs = served(frames.units(), read).runs
    (found,) = diagnostics(runs, serving_calls(read, runs))
    return found


def test_gamma_is_billed_output_over_input_and_zeta_reasoning_over_visible_output(tmp_path: Path) -> None:
    found = accounted(
        tmp_path,
        ("answer", {"input_tokens": 100, "cached_tokens": 300, "output_tokens": 10, "reasoning_tokens": 15}),
        ("write", {"input_tokens": 500, "output_tokens": 40, "reasoning_tokens": 20}),
        ("manage", {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 5}),
    )
    # Input 100 + 300 + 500 + 100 = 1,000; visible 60, reasoning 40.
    assert found.gamma == pytest.approx(0.100)
    assert found.gamma_visible == pytest.approx(0.060)
    assert found.zeta_answer == pytest.approx(1.5)  # above 1 is legal
    assert found.zeta_ingest == pytest.approx(25 / 50)
    assert {stage.stage: stage.input_share for stage in found.stages} == pytest.approx(
        {"answer": 0.4, "write": 0.5, "manage": 0.1}
    )


def test_a_memory_without_model_call_in_ingest_has_no_ingest_ratio(tmp_path: Path) -> None:
    found = accounted(
        tmp_path,
        ("answer", {"input_tokens": 10, "output_tokens": 5, "reasoning_tokens": 0}),
        ("write", {"kind": "embed", "input_tokens": None, "output_tokens": None, "embedding_tokens": 70}),
    )
    assert found.zeta_ingest is None
    assert found.zeta_answer == 0.0
    assert [(stage.stage, stage.embedding_tokens) for stage in found.stages] == [("write", 70), ("answer", 0)]


def test_reasoning_that_nobody_reported_is_unknown_and_not_zero(tmp_path: Path) -> None:
    assert accounted(tmp_path, ("answer", {"input_tokens": 10, "output_tokens": 5})).zeta_answer is None


def test_calls_without_usage_are_counted(tmp_path: Path) -> None:
    found = accounted(
        tmp_path,
        ("answer", {"input_tokens": 10, "output_tokens": 5}),
        ("answer", {"input_tokens": None, "output_tokens": None}),
    )
    assert [(stage.calls, stage.unknown_calls) for stage in found.stages] == [(2, 1)]
