import json

from ledger_fixtures import answer_record, sample_ledger, unit_record
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.metrics.score import METRICS, score, score_run, scores_frame


def _ledger(directory, *answers):
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "bm25", "recall")])
        for answer in answers:
            ledger.add_answer(answer)
    return Frames(directory)


def test_every_answer_is_scored_by_every_metric(tmp_path):
    recalled = json.dumps([["t1"], ["t2"]])
    frames = _ledger(tmp_path, answer_record(1, 1, ["Pepper"], "Pepper!", evidence='["t2", "t7"]', recalled=recalled))
    found = {metric: value for _, _, metric, value in score(frames)}
    assert found.keys() == METRICS.keys()
    assert (found["exact_match"], found["token_f1"], found["sub_em"]) == (1, 1, 1)
    assert (found["evidence_recall"], found["evidence_recall@5"]) == (0.5, 0.5)


def test_an_error_is_not_scored_but_what_was_recalled_before_it_is(tmp_path):
    failed = answer_record(1, 1, ["Pepper"], None, evidence='["t1"]', recalled='[["t1"]]')
    found = {metric: value for _, _, metric, value in score(_ledger(tmp_path, failed))}
    assert found["token_f1"] is found["exact_match"] is found["sub_em"] is None
    assert found["evidence_recall"] == 1


def test_an_answer_without_a_recorded_ranking_has_no_recall(tmp_path):
    frames = _ledger(tmp_path, answer_record(1, 1, ["Pepper"], "Pepper", evidence='["t1"]'))
    assert {row["value"] for row in scores_frame(frames).iter_rows(named=True) if "evidence" in row["metric"]} == {None}


def test_scores_are_written_into_the_ledger_and_writing_them_again_changes_nothing(tmp_path):
    path = sample_ledger(tmp_path)
    # 6 memories x 10 questions x 7 metrics
    assert score_run(path) == score_run(tmp_path) == 420
    written = Frames(path).scores().sort("unit", "ordinal", "metric")
    assert written.equals(scores_frame(Frames(path)).sort("unit", "ordinal", "metric"))
