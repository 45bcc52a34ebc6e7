import numpy as np

from ledger_fixtures import call_record, unit_record
from memgauge.analysis.turn_costs import call_costs, series_by_turn
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger


def _costs(directory, *calls):
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve")])
        for call in calls:
            ledger.add_call(call)
    return call_costs(Frames(directory).calls())


def test_cached_input_counts_as_input(tmp_path):
    call = call_record(1, 1, 3, "answer", input_tokens=10, cached_tokens=90, cache_write_tokens=5, output_tokens=7)
    row = _costs(tmp_path, call).row(0, named=True)
    assert (row["turn"], row["stage"], row["input_tokens"], row["output_tokens"]) == (3, "answer", 105, 7)


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
    assert found["input_tokens"].to_list() == [10, 0, 10, None]
    series = series_by_turn(found.select("unit", "turn", value="input_tokens"), {1: 3})[1]
    assert series[0] == 10
    assert np.isnan(series[1])
    assert series[2] == 0


def test_what_is_billed_before_the_first_turn_is_billed_with_it(tmp_path):
    found = _costs(tmp_path, call_record(1, 1, 0, "manage", input_tokens=4), call_record(1, 2, 1, "answer"))
    costs = found.select("unit", "turn", value="input_tokens")
    assert series_by_turn(costs, {1: 2})[1].tolist() == [5, 0]
