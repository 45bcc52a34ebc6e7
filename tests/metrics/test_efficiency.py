import pytest

from ledger_fixtures import call_record, sample_ledger, unit_record
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import StepRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.metrics.efficiency import FIGURES, efficiency


def _small(directory, *, replayed=False):
    """One finished unit of two questions: writes 100 tokens in one call, reads by embedding, answers twice."""
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall", questions=2)])
        ledger.start_unit(1, 0.0)
        ledger.add_call(
            call_record(1, 1, 1, "write", input_tokens=60, cached_tokens=30, output_tokens=8, reasoning_tokens=2)
        )
        embed = {"kind": "embed", "input_tokens": None, "output_tokens": None, "embedding_tokens": 12}
        ledger.add_call(call_record(1, 2, 1, "read", question="q1", **embed))
        first = ledger.add_call(call_record(1, 3, 1, "answer", question="q1", input_tokens=40, output_tokens=5))
        ledger.add_call(call_record(1, 4, 1, "answer", question="q2", input_tokens=50, output_tokens=5))
        if replayed:
            ledger.start_unit(1, 1.0)
            for seq, call in enumerate(range(1, 5), 1):
                if call in (1, first):
                    ledger.claim_call(call, seq)
        steps = [("write", None, 0.4, 20), ("read", "q1", 0.1, 30), ("answer", "q1", 0.9, None),
                 ("read", "q2", 0.3, 0), ("answer", "q2", 1.7, None)]  # fmt: skip
        for place, (stage, question, seconds, tokens) in enumerate(steps, 1):
            ledger.add_step(StepRecord(1, place, 1, question, stage, 1, tokens, seconds))
        ledger.end_unit(1, "done", now=9.0, wall_s=8.0, store=(500, 20))
    return efficiency(Frames(directory)).row(0, named=True)


def test_tokens_and_calls_by_stage(tmp_path):
    found = _small(tmp_path)
    assert (found["write_tokens"], found["write_calls"]) == (100, 1)  # 60 + 30 cached + 8 out + 2 reasoning
    assert (found["read_tokens"], found["read_calls"]) == (0, 0)  # an embedding is no model call
    assert (found["read_answer_tokens"], found["read_answer_calls"]) == (100, 2)  # 40 + 5 + 50 + 5
    assert (found["manage_tokens"], found["manage_calls"]) == (0, 0)
    assert (found["total_tokens"], found["auxiliary_calls"], found["embedding_tokens"]) == (200, 1, 12)


def test_seconds(tmp_path):
    found = _small(tmp_path)
    # questions took 0.1 + 0.9 = 1.0 and 0.3 + 1.7 = 2.0
    assert found["question_s"] == pytest.approx(1.5)
    assert found["question_s_p90"] == pytest.approx(1.9)
    assert found["write_s"] == pytest.approx(0.4)
    assert found["read_s"] == pytest.approx(0.1)  # the read that gave nothing is no retrieval
    assert (found["wall_s"], found["wall_s_per_question"], found["store_bytes"]) == (8, 4, 500)
    assert (found["context_tokens"], found["context_total"]) == (15, 30)


def test_a_step_served_from_the_record_has_no_latency(tmp_path):
    found = _small(tmp_path, replayed=True)
    assert found["write_s"] is None
    assert found["question_s"] == pytest.approx(2.0)  # only q2 was really waited for


def test_an_unknown_count_makes_its_sum_unknown(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall")])
        ledger.start_unit(1, 0.0)
        ledger.add_call(call_record(1, 1, 1, "answer", input_tokens=None))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    found = efficiency(Frames(tmp_path)).row(0, named=True)
    assert found["total_tokens"] is None
    assert found["write_tokens"] == 0


def test_there_is_a_row_for_each_memory_and_protocol_and_unfinished_units_do_not_count(tmp_path):
    found = efficiency(Frames(sample_ledger(tmp_path)))
    assert found.height == 12
    assert set(FIGURES) <= set(found.columns)
    none = found.filter((found["memory"] == "none") & (found["protocol"] == "serve"))
    assert none["read_answer_calls"].item() == 24  # the failed unit's call is not among them


def test_compression_is_what_was_written_over_what_the_stores_hold(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        # 100 + 200 tokens written, 20 + 40 held: 300 / 60; the unit that does not know its store is left out
        for unit, written, store in ((1, 100, (9, 20)), (2, 200, (9, 40)), (3, 500, None)):
            ledger.add_units([unit_record(unit, "mem", "recall", seed=unit)])
            ledger.start_unit(unit, 0.0)
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0, store=store, written_tokens=written)
        ledger.add_units([unit_record(4, "empty", "recall")])
        ledger.start_unit(4, 0.0)
        ledger.end_unit(4, "done", now=1.0, wall_s=1.0, store=(0, 0), written_tokens=100)
    found = dict(efficiency(Frames(tmp_path)).select("memory", "compression").iter_rows())
    assert found == {"mem": 5.0, "empty": None}


def test_a_batch_counts_as_so_many_writes_and_work_put_off_until_then_as_none(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall")])
        ledger.start_unit(1, 0.0)
        # Ten turns in 2 s and five in 1 s; a detour of 3 s within a read belongs to writing and wrote no turn.
        for place, (turns, seconds) in enumerate(((10, 2.0), (5, 1.0), (0, 3.0)), 1):
            ledger.add_step(StepRecord(1, place, 1, None, "write", turns, 10, seconds))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    assert efficiency(Frames(tmp_path))["write_s"].item() == pytest.approx(0.2)


def test_stored_tokens_are_summed_over_the_units(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        for unit, store in ((1, (9, 20)), (2, (9, 40))):
            ledger.add_units([unit_record(unit, "mem", "recall", seed=unit)])
            ledger.start_unit(unit, 0.0)
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0, store=store, written_tokens=100)
    assert efficiency(Frames(tmp_path))["store_tokens"].item() == 60
