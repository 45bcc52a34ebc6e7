import json

import pytest

from ledger_fixtures import answer_record, sample_ledger, unit_record
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.metrics.score import METRICS, score, score_run, scores_frame
from recalled_ledgers import Asked, Said, recalled_ledger

# 5 of an answer's text and 4 of what was recalled: what every workload is scored by
EVERYWHERE = {name for name, metric in METRICS.items() if metric.workload is None and name != "judge"}


def _ledger(directory, *answers, workload="sample"):
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "bm25", "recall", workload=workload)])
        for answer in answers:
            ledger.add_answer(answer)
    return Frames(directory)


def _scored(frames):
    return {metric: value for _, _, metric, value in score(frames)}


def test_every_answer_is_scored_by_every_metric_that_all_workloads_share(tmp_path):
    recalled = json.dumps([["t1"], ["t2"]])
    frames = _ledger(tmp_path, answer_record(1, 1, ["Pepper"], "Pepper!", evidence='["t2", "t7"]', recalled=recalled))
    found = _scored(frames)
    assert found.keys() == EVERYWHERE
    assert (found["exact_match"], found["token_f1"], found["sub_em"], found["bleu1"], found["rouge_l"]) == (1,) * 5
    assert (found["evidence_recall"], found["evidence_recall@5"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("workload", "category", "own"),
    [
        ("locomo", "4", {"locomo_f1": 1.0}),
        ("memoryagentbench", "factconsolidation_sh_6k", {"mab_official": 1.0, "mab_corrected": 1.0}),
        ("memoryagentbench", "longmemeval_s*", {"mab_official": None, "mab_corrected": None}),
    ],
)
def test_a_workload_is_scored_by_its_own_metrics_too(tmp_path, workload, category, own):
    found = _scored(_ledger(tmp_path, answer_record(1, 1, ["Pepper"], "Pepper", category=category), workload=workload))
    assert {name: value for name, value in found.items() if name not in EVERYWHERE} == own


def test_longmemeval_is_scored_by_session_and_by_turn(tmp_path):
    answer = answer_record(1, 1, ["Pepper"], "Pepper", evidence='["s1/t2"]', recalled='[["s1/t1"], ["s1/t2"]]')
    found = _scored(_ledger(tmp_path, answer, workload="longmemeval"))
    own = {name for name in found if name not in EVERYWHERE}
    assert own == {name for name, metric in METRICS.items() if metric.workload == "longmemeval"}
    assert (found["session_recall_all@5"], found["turn_ndcg@5"]) == (1, 1)


def test_an_error_is_not_scored_but_what_was_recalled_before_it_is(tmp_path):
    failed = answer_record(1, 1, ["Pepper"], None, evidence='["t1"]', recalled='[["t1"]]')
    found = _scored(_ledger(tmp_path, failed))
    assert {value for name, value in found.items() if "evidence" not in name} == {None}
    assert found["evidence_recall"] == 1


def test_an_answer_without_a_recorded_ranking_has_no_recall(tmp_path):
    frames = _ledger(tmp_path, answer_record(1, 1, ["Pepper"], "Pepper", evidence='["t1"]'))
    assert {row["value"] for row in scores_frame(frames).iter_rows(named=True) if "evidence" in row["metric"]} == {None}


def test_scores_are_written_into_the_ledger_and_writing_them_again_changes_nothing(tmp_path):
    path = sample_ledger(tmp_path)
    # 6 memories x 10 questions x 9 metrics
    assert score_run(path) == score_run(tmp_path) == 540
    written = Frames(path).scores().sort("unit", "ordinal", "metric")
    assert written.equals(scores_frame(Frames(path)).sort("unit", "ordinal", "metric"))


def test_what_the_judge_said_is_a_score_and_its_error_is_none(tmp_path):
    judged = [
        Said("Pepper", verdicts={"standard-1": "C"}),
        Said("Ginger", verdicts={"standard-1": "W"}),
        Said("It was Pepper", verdicts={"standard-1": "E"}),
        Said("unjudged"),
    ]
    found = [row for row in score(recalled_ledger(tmp_path, Asked(judged))) if row[2] == "judge"]
    assert found == [(1, 1, "judge", 1.0), (1, 2, "judge", 0.0), (1, 3, "judge", None)]


@pytest.mark.parametrize(
    "answer", ["x" * 100_000, "word " * 20_000, "y" * 100_000, "a, " * 30_000, '{"answer": "' * 9000]
)
def test_an_answer_of_a_hundred_kilobytes_is_scored(tmp_path, answer):
    for workload, category in (("locomo", "1"), ("memoryagentbench", "detective_qa")):
        path = tmp_path / workload
        path.mkdir()
        frames = _ledger(path, answer_record(1, 1, ["Pepper"], answer, category=category), workload=workload)
        assert {value for name, value in _scored(frames).items() if "evidence" not in name} == {0.0}
