import numpy as np
import polars as pl

from ledger_fixtures import call_record, unit_record
from memgauge.analysis.turn_costs import input_by_turn, turn_costs
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger


def _costs(directory, *calls):
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve")])
        for call in calls:
            ledger.add_call(call)
    return turn_costs(Frames(directory).calls())


def test_cached_input_counts_as_input(tmp_path):
    call = call_record(1, 1, 3, "answer", input_tokens=10, cached_tokens=90, cache_write_tokens=5, output_tokens=7)
    row = _costs(tmp_path, call).row(0, named=True)
    assert (row["turn"], row["stage"], row["input_tokens"], row["output_tokens"]) == (3, "answer", 105, 7)
    assert row["reasoning_tokens"] is None


def test_calls_of_a_stage_add_up_and_stages_stay_apart(tmp_path):
    found = _costs(
        tmp_path,
        call_record(1, 1, 1, "write", input_tokens=10, latency_s=0.5),
        call_record(1, 2, 1, "write", input_tokens=20, latency_s=0.25, reasoning_tokens=4),
        call_record(1, 3, 1, "answer", input_tokens=5),
    )
    write = found.filter(pl.col("stage") == "write").row(0, named=True)
    assert (write["input_tokens"], write["calls"], write["latency_s"], write["reasoning_tokens"]) == (30, 2, 0.75, 4)
    assert found.filter(pl.col("stage") == "answer")["input_tokens"].item() == 5


def test_embedding_tokens_are_no_input(tmp_path):
    usage = {"kind": "embed", "input_tokens": None, "output_tokens": None, "embedding_tokens": 33}
    row = _costs(tmp_path, call_record(1, 1, 1, "read", **usage)).row(0, named=True)
    assert (row["input_tokens"], row["output_tokens"], row["embedding_tokens"]) == (0, 0, 33)


def test_questions_after_the_dialogue_belong_to_no_turn(tmp_path):
    assert _costs(tmp_path, call_record(1, 1, 9, "answer", question="q1")).is_empty()


def test_an_unknown_input_is_unknown_and_a_refused_call_costs_nothing(tmp_path):
    silent = {"input_tokens": None, "output_tokens": None}
    found = _costs(
        tmp_path,
        call_record(1, 1, 1, "answer", input_tokens=10),
        call_record(1, 2, 1, "answer", outcome="http", status=503, **silent),
        call_record(1, 3, 2, "answer", input_tokens=10),
        call_record(1, 4, 2, "answer", outcome="timeout", status=504, **silent),
    )
    assert found.sort("turn")["input_tokens"].to_list() == [10, None]
    series = input_by_turn(found, 3)
    assert series[0] == 10
    assert np.isnan(series[1])
    assert series[2] == 0


def test_what_is_billed_before_the_first_turn_is_billed_with_it(tmp_path):
    found = _costs(tmp_path, call_record(1, 1, 0, "manage", input_tokens=4), call_record(1, 2, 1, "answer"))
    assert input_by_turn(found, 2).tolist() == [5, 0]
