"""Our figures beside those of paper 2: judged only where both mean the same."""

import json
from pathlib import Path
from typing import Any

from ledger_fixtures import answer_record, call_record, unit_record
from memgauge.analysis.harness import harness
from memgauge.analysis.side_by_side import SideBySide, Verdict
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import VerdictRecord
from memgauge.ledger.writer import FILE_NAME, Ledger


def _beside(
    directory: Path,
    memories: dict[str, str],
    *,
    model: str = "Qwen3-8B",
    conversations: int = 10,
    questions: int = 4,
    right: float = 1.0,
    judge: str | None = None,
    **fields: Any,
) -> list[SideBySide]:
    """Memories by paper id on LoCoMo; of each conversation's answers the first ``right`` are right."""
    with Ledger.create(directory / FILE_NAME, {"paper_ids": json.dumps({m: i for i, m in memories.items()})}) as ledger:
        unit = 0
        for memory in memories.values():
            for item in range(conversations):
                unit += 1
                changes = {"questions": questions, "model": model, "workload": "locomo", **fields}
                ledger.add_units([unit_record(unit, memory, "recall", f"conv-{item}", **changes)])
                ledger.start_unit(unit, 0.0)
                stage = "manage" if memory == "raptor" else "write"  # a tree is built in managing
                ledger.add_call(call_record(unit, 1, 1, stage, input_tokens=100, output_tokens=20))
                if judge:
                    ledger.add_call(call_record(unit, 2, 9, "judge", question="q1", model=judge))
                for ordinal in range(1, questions + 1):
                    good = ordinal <= right * questions
                    ledger.add_answer(answer_record(unit, ordinal, ["Pepper"], "Pepper" if good else "Rex"))
                    if judge:
                        verdict = VerdictRecord(
                            unit, ordinal, "standard-1", 1, "correct" if good else "wrong", "ok", ""
                        )
                        ledger.add_verdict(verdict)
                ledger.end_unit(unit, "done", now=1.0, wall_s=1.0, store=(100, 50), written_tokens=100)
    return list(harness(Frames(directory)).side_by_side)


def _one(rows: list[SideBySide], memory: str, figure: str) -> SideBySide:
    (found,) = [row for row in rows if row.memory == memory and row.figure == figure]
    return found


def test_what_the_mechanism_sets_is_judged_on_any_backbone(tmp_path: Path) -> None:
    rows = _beside(tmp_path, {"M2": "bm25"}, model="some-other-model")
    calls = _one(rows, "M2 bm25", "write_calls")
    assert (calls.verdict, calls.ours, calls.theirs) == (Verdict.OUTSIDE, 10, 0)  # this one writes by a call each
    assert _one(rows, "M2 bm25", "manage_calls").verdict is Verdict.INSIDE
    assert _one(rows, "M2 bm25", "compression").verdict is Verdict.OUTSIDE  # 100 tokens given, 50 held


def test_another_backbone_is_shown_and_not_judged(tmp_path: Path) -> None:
    found = _one(_beside(tmp_path, {"M6": "raptor"}, model="gemma"), "M6 raptor", "write_tokens")
    assert (found.verdict, found.why) == (Verdict.NOT_COMPARABLE, "run with gemma, the paper with qwen3-8b")
    assert found.ours == 1_200


def test_a_total_counts_only_over_the_whole_workload(tmp_path: Path) -> None:
    found = _one(_beside(tmp_path, {"M6": "raptor"}), "M6 raptor", "write_tokens")
    assert found.verdict is Verdict.NOT_COMPARABLE
    assert (
        found.why
        == "a total over 10 conversations and 40 questions, the paper's over 10 conversations and 1,986 questions"
    )


def test_the_judge_must_be_the_paper_s(tmp_path: Path) -> None:
    rows = _beside(tmp_path, {"M5": "lightrag"}, judge="other-judge", right=0.5)
    (found,) = [row for row in rows if row.memory == "M5 lightrag" and row.theirs == 0.648]
    assert (found.verdict, found.why) == (Verdict.NOT_COMPARABLE, "judged by other-judge, the paper by gpt-4o-mini")


def test_a_mean_is_judged_by_our_interval(tmp_path: Path) -> None:
    # All conversations alike, so that the interval over conversations is the mean itself: 0.5, not their 0.648.
    rows = _beside(tmp_path, {"M5": "lightrag"}, judge="openai/gpt-4o-mini", right=0.5)
    (found,) = [row for row in rows if row.memory == "M5 lightrag" and row.theirs == 0.648]
    assert (found.verdict, found.ours, found.bounds) == (Verdict.OUTSIDE, 0.5, (0.5, 0.5))
    assert found.difference is not None
    assert round(found.difference, 3) == -0.148


def test_a_lead_over_another_memory_is_ours_less_theirs(tmp_path: Path) -> None:
    rows = _beside(tmp_path, {"M5": "lightrag", "M1": "dense"}, judge="gpt-4o-mini", right=0.5)
    found = next(row for row in rows if row.memory == "M5 − M1 lightrag − dense")
    assert (found.verdict, found.ours, found.theirs) == (Verdict.NO_BOUNDS, 0.0, 0.11)


def test_seconds_are_of_another_machine(tmp_path: Path) -> None:
    found = _one(_beside(tmp_path, {"M2": "bm25"}), "M2 bm25", "wall_s_per_question")
    assert (found.verdict, found.why) == (Verdict.NOT_COMPARABLE, "seconds of another machine")


def test_a_bound_is_a_range_from_zero(tmp_path: Path) -> None:
    found = _one(_beside(tmp_path, {"M9": "lora"}, model="any", right=0.0), "M9 lora", "exact_match")
    assert (found.verdict, found.bounds) == (Verdict.INSIDE, (0.0, 0.025))


def test_what_was_not_run_is_named_and_other_workloads_are_left_out(tmp_path: Path) -> None:
    rows = _beside(tmp_path, {"M2": "bm25"})
    assert {row.table for row in rows} == {"locomo"}
    missing = _one(rows, "M4 A-MEM", "manage_tokens")
    assert (missing.verdict, missing.ours, missing.theirs) == (Verdict.NOT_RUN, None, 3_200_000)
