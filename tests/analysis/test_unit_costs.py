import pytest

from ledger_fixtures import call_record, unit_record
from memgauge.analysis.unit_costs import CALL_COLUMNS, COSTS, unit_costs
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.prices import load_card


def _costs(directory, calls, *, card=None, store=(500, 20), **unit):
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", **{"protocol": "recall", **unit})])
        ledger.start_unit(1, 0.0)
        for seq, call in enumerate(calls, 1):
            ledger.add_call(call_record(1, seq, **{"turn": 1, **call}))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0, store=store)
    frames = Frames(directory)
    return unit_costs(frames.units(), frames.calls(CALL_COLUMNS), card).row(0, named=True)


def test_a_served_dialogue_costs_its_turns_and_a_questioned_one_its_questions(tmp_path):
    (tmp_path / "serve").mkdir()
    write, answer = (
        {"stage": "write", "input_tokens": 50},
        {"stage": "answer", "input_tokens": 100, "cached_tokens": 20},
    )
    served = _costs(tmp_path / "serve", [write, answer], protocol="serve", questions=0)
    # cached input counts: 50 + 120; read to answer took half a second, writing is not waited for
    assert (served["input_tokens_per_turn"], served["output_tokens_per_turn"], served["seconds_per_turn"]) == (
        170,
        2,
        0.5,
    )
    assert served["input_tokens_per_question"] is served["ingest_tokens_per_turn"] is None
    (tmp_path / "recall").mkdir()
    asked = {"question": "q1", "reasoning_tokens": 4}
    judged = {"stage": "judge", "question": "q1", "input_tokens": 9999}
    recalled = _costs(tmp_path / "recall", [write, {**answer, **asked}, judged])
    # the judge is no cost of the memory
    assert (recalled["input_tokens_per_question"], recalled["output_tokens_per_question"]) == (120, 5)
    assert (recalled["ingest_tokens_per_turn"], recalled["seconds_per_question"]) == (50, 0.5)
    assert recalled["input_tokens_per_turn"] is None
    assert (recalled["store_bytes"], recalled["usd_per_question"]) == (500, None)


def test_one_call_that_did_not_tell_makes_its_cost_unknown(tmp_path):
    calls = [{"stage": "answer", "question": "q1", "input_tokens": None}, {"stage": "write", "input_tokens": 7}]
    found = _costs(tmp_path, calls)
    assert (found["input_tokens_per_question"], found["ingest_tokens_per_turn"]) == (None, 7)


def test_dollars_by_a_card(tmp_path):
    served = {"model": "openai/gpt-oss-20b", "provider": "Groq", "question": "q1", "input_tokens": 1_000_000}
    embed = {"kind": "embed", "model": "all-MiniLM-L6-v2", "question": "q1", "input_tokens": None}
    calls = [{"stage": "answer", **served}, {"stage": "read", **embed}]
    found = _costs(tmp_path, calls, card=load_card("total-recall"), backbone="endpoint", embedder="minilm")
    # a million input tokens at 0.075 dollars, one output token at 0.30 per million; the local embedding is free
    assert found["usd_per_question"] == pytest.approx(0.075 + 0.3e-6)


def test_every_cost_has_a_column(tmp_path):
    assert set(_costs(tmp_path, [])) == {"unit", *COSTS}
