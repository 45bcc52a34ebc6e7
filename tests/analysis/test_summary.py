import json

import msgspec
import pytest

from ledger_fixtures import CONTROLS, MEMORIES, answer_record, call_record, sample_ledger, unit_record
from memgauge.analysis.memory_rows import STAGES
from memgauge.analysis.money import LOCAL
from memgauge.analysis.summary import summarize
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import StepRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from recalled_ledgers import Asked, Said, recalled_ledger


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarize(Frames(sample_ledger(tmp_path_factory.mktemp("run"))))


def _rows(found, group=0):
    return {row.memory: row for row in found.groups[group].rows}


def _run(directory, *units, meta=None):
    """A ledger of finished units; each is (record, calls, answers)."""
    with Ledger.create(directory / FILE_NAME, meta or {}) as ledger:
        for unit, calls, answers in units:
            ledger.add_units([unit])
            ledger.start_unit(unit.unit, 100.0)
            for call in calls:
                ledger.add_call(call)
            for answer in answers:
                ledger.add_answer(answer)
            ledger.end_unit(unit.unit, "done", now=101.0, wall_s=1.0)
    return summarize(Frames(directory))


def _served(unit, memory, /, *turns, **changes):
    """A finished serve unit whose calls at turn 1, 2, … sent so many tokens."""
    calls = [
        call_record(unit, turn, turn, "answer", input_tokens=tokens, **changes.get("call", {}))
        for turn, tokens in enumerate(turns, 1)
    ]
    record = unit_record(unit, memory, "serve", turns=len(turns), **changes.get("unit", {}))
    return record, calls, []


def _answered(unit, memory, *answers, **changes):
    """A finished recall unit: its answers to questions whose gold is "red car"."""
    calls = [call_record(unit, n, 1, "answer", question=f"q{n}", input_tokens=10) for n in range(1, len(answers) + 1)]
    given = [answer_record(unit, n, ["red car"], text) for n, text in enumerate(answers, 1)]
    return unit_record(unit, memory, "recall", questions=len(answers), **changes), calls, given


def test_what_was_run_is_told(summary):
    ran = summary.ran
    assert ran.name == "quickstart"
    assert ran.memories == MEMORIES
    assert (ran.items, ran.turns, ran.questions) == (1, 24, 10)
    assert ran.units == {"done": 12, "failed": 1}
    assert ran.protocols == ("serve", "recall")
    assert [setting.model for setting in ran.settings] == ["SmolLM2-135M-Instruct"]
    assert ran.started == "2026-09-21T14:13:23+00:00"
    assert ran.provenance["python_version"] == "3.11.7"


def test_a_failed_unit_is_told_with_its_reason(summary):
    (failed,) = summary.ran.failures
    assert (failed.memory, failed.protocol) == ("none", "serve")
    assert "120 s" in failed.error


def test_the_backbone_carries_its_caveat(summary):
    assert any(caveat.startswith("embedded: 135M model") for caveat in summary.caveats)


def test_it_can_be_written_as_json(summary):
    told = json.loads(msgspec.json.encode(summary))
    assert [row["memory"] for row in told["groups"][0]["rows"]] == list(MEMORIES)


def test_cost_per_turn_is_the_mean_over_turns_of_all_stages(tmp_path):
    record, calls, _ = _served(1, "mem", 10, 20)
    calls.append(call_record(1, 3, 2, "write", input_tokens=30, cached_tokens=40))
    (row,) = _run(tmp_path, (record, calls, [])).groups[0].rows
    assert row.cost == 50  # 10 + 20 + 70 over 2 turns
    assert row.serving.input_by_stage == {"answer": 15, "read": 0, "write": 35, "manage": 0}
    assert tuple(row.serving.input_by_stage) == STAGES
    assert row.serving.cumulative == (10, 100)
    assert row.serving.calls_per_turn == 1.5
    assert row.serving.complete


def test_break_even_against_full_history(tmp_path):
    found = _run(tmp_path, _served(1, "full-history", 10, 20, 30), _served(2, "mem", 15, 15, 15))
    rows = _rows(found)
    assert rows["mem"].break_even.turn == 3  # 15 30 45 against 10 30 60
    assert rows["mem"].break_even.ratio == 0.75
    assert rows["full-history"].break_even is None
    assert rows["full-history"].reference


def test_without_full_history_the_missing_reference_is_named(tmp_path):
    group = _run(tmp_path, _served(1, "mem", 15)).groups[0]
    assert group.rows[0].break_even is None
    assert "full-history" in group.break_even_note


def test_an_unknown_cost_is_marked_and_ends_the_cumulative_line(tmp_path):
    (row,) = _run(tmp_path, _served(1, "mem", 10, None, 10)).groups[0].rows
    assert not row.serving.complete
    assert row.serving.cumulative == (10,)


def test_cells_of_the_grid_and_settings_are_not_mixed(tmp_path):
    small = {"unit": {"cell_turns": 2, "cell_tokens": 10}}
    large = {"unit": {"cell_turns": 2, "cell_tokens": 50, "item": "other"}}
    found = _run(tmp_path, _served(1, "mem", 1, 1, **small), _served(2, "mem", 5, 5, **large))
    assert [(group.cell, group.rows[0].cost) for group in found.groups] == [((2, 10), 1), ((2, 50), 5)]


def test_accuracy_carries_its_interval_and_number(tmp_path):
    (row,) = _run(tmp_path, _answered(1, "mem", "red car", "blue car", "a red car!", "bike")).groups[0].rows
    assert row.accuracy.value == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert row.accuracy.n == 4
    assert row.accuracy.low < row.accuracy.value < row.accuracy.high
    exact = row.quality.scores["exact_match"]
    assert (exact.value, exact.method) == (0.5, "bootstrap 95 % over the questions of one conversation")


def test_where_nothing_was_served_the_cost_is_counted_per_question(tmp_path):
    group = _run(tmp_path, _answered(1, "mem", "red car", "bike")).groups[0]
    assert not group.per_turn
    assert group.rows[0].cost == 10
    assert "serve" in group.break_even_note


def test_where_turns_were_served_a_memory_that_was_not_has_no_cost(tmp_path):
    rows = _rows(_run(tmp_path, _served(1, "mem", 10), _answered(2, "oracle", "red car")))
    assert rows["oracle"].cost is None
    assert rows["oracle"].accuracy.value == 1


def test_an_error_is_neither_right_nor_wrong_nor_dropped(tmp_path):
    (row,) = _run(tmp_path, _answered(1, "mem", *["red car"] * 19, None)).groups[0].rows
    assert (row.quality.asked, row.quality.answered, row.quality.errors) == (20, 19, 1)
    assert row.accuracy.value == 1
    assert row.error_share == 0.05
    assert row.unranked is None  # not more than 5 %


def test_more_errors_than_five_per_cent_are_not_ranked(tmp_path):
    found = _run(tmp_path, _answered(1, "mem", *["red car"] * 9, None), _answered(2, "worse", *["car"] * 10))
    assert _rows(found)["mem"].unranked == "10 % ended in an error, more than 5 %"
    assert found.groups[0].choice.memory == "worse"


def test_the_questions_of_a_failed_unit_are_errors(tmp_path):
    path = tmp_path / FILE_NAME
    with Ledger.create(path, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall", questions=5)])
        ledger.start_unit(1, 0.0)
        ledger.add_answer(answer_record(1, 1, ["red car"], "red car"))
        ledger.end_unit(1, "failed", now=1.0, wall_s=1.0, error="out of memory")
    (row,) = summarize(Frames(path)).groups[0].rows
    assert row.quality.errors == 4
    assert row.error_share == 0.8


def test_controls_are_marked_and_not_ranked(summary):
    rows = _rows(summary)
    assert {name for name, row in rows.items() if row.control} == set(CONTROLS)
    assert all(rows[name].unranked for name in CONTROLS)
    assert summary.groups[0].choice.memory not in CONTROLS


def test_local_models_have_no_price_and_never_cost_nothing(summary):
    money = _rows(summary)["dense"].serving.money
    assert (money.usd, money.complete, money.note) == (None, True, LOCAL)
    assert summary.spend.fresh.money.usd is None


def test_a_priced_model_is_priced_and_a_missing_price_makes_it_incomplete(tmp_path):
    paid = {"call": {"model": "gpt-oss-20b", "provider": "groq", "output_tokens": 0},
            "unit": {"backbone": "endpoint"}}  # fmt: skip
    odd = {**paid, "call": {**paid["call"], "model": "nobody-knows-this"}}
    meta = {"spec": json.dumps({"prices": "total-recall"})}
    found = _run(tmp_path, _served(1, "mem", 1_000_000, 1_000_000, **paid), _served(2, "odd", 5, **odd), meta=meta)
    rows = _rows(found)
    assert rows["mem"].serving.money.usd == pytest.approx(0.075)  # $0.075 per million input tokens at Groq
    assert rows["mem"].serving.money.complete
    assert (rows["odd"].serving.money.usd, rows["odd"].serving.money.complete) == (None, False)


def test_fresh_reused_and_lost_spend_are_told_apart(tmp_path):
    path = tmp_path / FILE_NAME
    with Ledger.create(path, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve", turns=2)])
        ledger.start_unit(1, 0.0)
        first = ledger.add_call(call_record(1, 1, 1, "answer", input_tokens=100))
        ledger.add_call(call_record(1, 2, 2, "answer", input_tokens=7))
        ledger.start_unit(1, 1.0)
        ledger.claim_call(first, 1)
        ledger.add_call(call_record(1, 2, 2, "answer", attempt=2, input_tokens=30))
        ledger.end_unit(1, "done", now=2.0, wall_s=1.0)
    spend = summarize(Frames(path)).spend
    assert (spend.fresh.input_tokens, spend.replayed.input_tokens, spend.lost.input_tokens) == (30, 100, 7)


def test_latency_leaves_out_what_was_served_from_the_record(tmp_path):
    path = tmp_path / FILE_NAME
    with Ledger.create(path, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve", turns=2)])
        ledger.start_unit(1, 0.0)
        first = ledger.add_call(call_record(1, 1, 1, "answer", latency_s=90.0))
        ledger.start_unit(1, 1.0)
        ledger.claim_call(first, 1)
        ledger.add_call(call_record(1, 2, 2, "read", latency_s=0.25))
        ledger.add_call(call_record(1, 3, 2, "answer", latency_s=0.5))
        for step, (turn, stage, seconds) in enumerate(
            ((1, "read", 0), (1, "answer", 0), (2, "read", 1), (2, "answer", 2)), 1
        ):
            ledger.add_step(StepRecord(1, step, turn, None, stage, 0, None, float(seconds)))
        ledger.end_unit(1, "done", now=2.0, wall_s=1.0)
    (row,) = summarize(Frames(path)).groups[0].rows
    assert (row.latency.mean, row.latency.n) == (0.75, 1)
    assert row.serving.waited.mean == 3.0


def test_a_running_run_is_summed_up_so_far(tmp_path):
    path = tmp_path / FILE_NAME
    with Ledger.create(path, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "serve"), unit_record(2, "full-history", "serve")])
        ledger.start_unit(1, 0.0)
        ledger.add_call(call_record(1, 1, 1, "answer"))
    found = summarize(Frames(path))
    assert found.ran.units == {"running": 1, "planned": 1}
    assert found.groups[0].rows[0].serving is None
    assert any("1 running, 1 planned of 2 units" in caveat for caveat in found.caveats)


def test_accuracy_is_the_judges_where_all_that_compete_were_judged(tmp_path):
    judged, unseen = Said("Ginger", verdicts={"standard-1": "C"}), Said("Pepper")
    both = recalled_ledger(tmp_path / "a", Asked([judged], "bm25"), Asked([judged], "dense"))
    (group,) = summarize(both).groups
    assert (group.metric, {row.accuracy.value for row in group.rows}) == ("judge", {1.0})
    one = recalled_ledger(tmp_path / "b", Asked([judged], "bm25"), Asked([unseen], "dense"))
    (group,) = summarize(one).groups
    assert (group.metric, [row.accuracy.value for row in group.rows]) == ("token_f1", [0.0, 1.0])


def test_a_judge_that_cannot_judge_makes_it_a_trial_run(tmp_path):
    said = Said("Pepper", verdicts={"standard-1": "C"})
    recalled_ledger(tmp_path, Asked([said], unit={"backbone": "endpoint"}))
    with Ledger.open(tmp_path / FILE_NAME) as ledger:
        ledger.add_call(call_record(1, 1, 1, "judge", attempt=0, question="q1", model="extractive-1"))
    found = summarize(Frames(tmp_path))
    assert found.ran.judges == ("extractive-1",)
    assert found.caveats == ("judged by extractive: rules that fill in a form; its verdicts are no judgement",)
    assert found.groups[0].caveat == found.caveats[0]


def test_the_quality_tables_are_part_of_it(summary):
    (table,) = summary.quality.workloads
    assert (table.workload, table.leading) == ("sample", "token_f1")
