from memgauge.metrics.judge import decided, judged, main_rubrics
from recalled_ledgers import Asked, Said, recalled_ledger


def _decided(directory, *votes):
    frames = recalled_ledger(directory, Asked([Said("Pepper", verdicts={"standard-1": each}) for each in votes]))
    return decided(frames.table("verdicts")).sort("ordinal")["value"].to_list()


def test_most_repeats_decide(tmp_path):
    assert _decided(tmp_path, "C", "CCW", "WCW", "W") == [1, 1, 0, 0]


def test_a_repeat_that_is_an_error_has_no_vote(tmp_path):
    assert _decided(tmp_path, "ECE", "EWCW") == [1, 0]


def test_equal_votes_and_errors_alone_decide_nothing(tmp_path):
    assert _decided(tmp_path, "CW", "EE", "ECWE") == [None, None, None]


def _mains(directory, *answers, workload="locomo"):
    frames = recalled_ledger(directory, Asked(answers, workload=workload))
    return main_rubrics(decided(frames.table("verdicts")), frames.units())


def test_the_rubric_that_judged_the_most_answers_counts(tmp_path):
    both, one = {"standard-1": "C", "strict-1": "W"}, {"strict-1": "W"}
    assert _mains(tmp_path, Said("a", verdicts=both), Said("b", verdicts=one)) == {"locomo": "strict-1"}


def test_among_equals_the_workloads_own_rubric_counts_then_the_standard(tmp_path):
    every = {"generous-2": "C", "longmemeval-1": "C", "mine-0a1b2c3d": "C", "standard-1": "W", "strict-1": "W"}
    assert _mains(tmp_path / "a", Said("a", verdicts=every)) == {"locomo": "standard-1"}
    assert _mains(tmp_path / "b", Said("a", verdicts=every), workload="longmemeval") == {"longmemeval": "longmemeval-1"}


def test_each_workload_has_its_own_main_rubric_and_only_its_verdicts_count(tmp_path):
    frames = recalled_ledger(
        tmp_path,
        Asked([Said("a", verdicts={"standard-1": "C", "longmemeval-1": "W"})], workload="locomo"),
        Asked([Said("a", verdicts={"standard-1": "C", "longmemeval-1": "W"})], workload="longmemeval"),
    )
    assert judged(frames.table("verdicts"), frames.units()).rows() == [(1, 1, 1.0), (2, 1, 0.0)]
