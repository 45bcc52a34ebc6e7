import numpy as np
import pytest

from memgauge.analysis.agreement import judge_reliability, krippendorff_alpha, raw_agreement
from recalled_ledgers import Asked, Said, recalled_ledger


def _counts(*rows):
    return np.array(rows, dtype=np.float64)


def test_krippendorffs_alpha_of_his_own_example():
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", C: nominal data, four observers, twelve
    # units, missing values; printed there: 0.743. Columns: how often categories 1 to 5 were given to each unit.
    counts = _counts(
        (3, 0, 0, 0, 0), (0, 3, 1, 0, 0), (0, 0, 4, 0, 0), (0, 0, 4, 0, 0), (0, 4, 0, 0, 0), (1, 1, 1, 1, 0),
        (0, 0, 0, 4, 0), (3, 1, 0, 0, 0), (0, 4, 0, 0, 0), (0, 0, 0, 0, 3), (2, 0, 0, 0, 0), (0, 0, 1, 0, 0),
    )  # fmt: skip
    assert krippendorff_alpha(counts) == pytest.approx(0.743, abs=5e-4)


def test_alpha_by_hand():
    # Two repeats on four answers: CC, CC, WW, CW. Labels given: 5 C, 3 W, 8 in all.
    # Observed: one pair in conflict, both ways round, 2 / 8. By chance: 2 * 5 * 3 / (8 * 7) = 30/56.
    # alpha = 1 - (1/4) / (30/56) = 1 - 56/120 = 8/15
    assert krippendorff_alpha(_counts((2, 0), (2, 0), (0, 2), (1, 1))) == pytest.approx(8 / 15)


def test_what_was_rated_once_takes_no_part():
    assert krippendorff_alpha(_counts((2, 0), (0, 2), (0, 1))) == krippendorff_alpha(_counts((2, 0), (0, 2))) == 1


def test_alpha_of_one_label_alone_or_of_nothing_is_not_known():
    assert krippendorff_alpha(_counts((2, 0), (3, 0))) is None
    assert krippendorff_alpha(_counts((1, 0), (0, 1))) is None
    assert krippendorff_alpha(np.zeros((0, 2))) is None


def test_raw_agreement_counts_pairs():
    # three repeats CCW: 1 of 3 pairs agree; two repeats CC: 1 of 1
    assert raw_agreement(_counts((2, 1), (2, 0))) == pytest.approx(2 / 4)
    assert raw_agreement(_counts((1, 0))) is None


def test_repeats_of_one_rubric(tmp_path):
    votes = ("CC", "CC", "WW", "CW", "CE")
    judged = Asked([Said("Pepper", verdicts={"standard-1": each}) for each in votes])
    (found,) = judge_reliability(recalled_ledger(tmp_path, judged)).repeats
    assert (found.workload, found.rubric) == ("sample", "standard-1")
    # of ten verdicts one is an error; its answer has one verdict left and cannot agree with itself
    assert (found.answers, found.verdicts, found.errors, found.split) == (4, 9, 1, 1)
    assert found.agreement == pytest.approx(3 / 4)
    assert found.alpha == pytest.approx(8 / 15)


def test_without_repeats_and_with_one_rubric_there_is_nothing_to_tell(tmp_path):
    found = judge_reliability(recalled_ledger(tmp_path, Asked([Said("Pepper", verdicts={"standard-1": "C"})])))
    assert (found.repeats, found.prompts) == ((), ())


def _by_rubric(standard, generous, strict):
    return Said("Pepper", verdicts={"standard-1": standard, "generous-1": generous, "strict-1": strict})


def test_the_prompt_alone_moves_the_same_answers(tmp_path):
    bm25 = Asked([_by_rubric("C", "C", "W"), _by_rubric("C", "C", "W"), _by_rubric("W", "C", "W"), Said("x")], "bm25")
    dense = Asked([_by_rubric("C", "C", "C"), _by_rubric("W", "C", "W"), _by_rubric("C", "E", "C")], "dense")
    oracle = Asked([_by_rubric("C", "C", "C")], "oracle")
    (table,) = judge_reliability(recalled_ledger(tmp_path, bm25, dense, oracle)).prompts
    # seven answers were judged by all three; one of them the generous rubric could not decide
    assert (table.workload, table.setting, table.answers) == ("sample", "default", 7)
    standard, generous, strict = table.rows
    assert [row.rubric for row in table.rows] == ["standard-1", "generous-1", "strict-1"]
    assert [row.errors for row in table.rows] == [0, 1, 0]
    # of the other six: standard CCW CW C, generous all, strict WWW CW C
    assert [row.accuracy.value for row in table.rows] == pytest.approx([4 / 6, 1, 2 / 6])
    assert table.spread == pytest.approx(4 / 6)
    # bm25's first two and third, dense's second: some rubric says right and another wrong
    assert table.flips == 4
    assert standard.by_memory["bm25"].value == pytest.approx(2 / 3)
    assert standard.by_memory["dense"].value == pytest.approx(1 / 2)
    # the oracle competes with nobody
    assert (standard.best, generous.best, strict.best) == (("bm25",), ("bm25", "dense"), ("dense",))
    assert not table.same_best


def test_an_accuracy_has_both_intervals(tmp_path):
    answers = [_by_rubric("C", "C", "W") if place % 2 else _by_rubric("W", "C", "W") for place in range(40)]
    (table,) = judge_reliability(recalled_ledger(tmp_path, Asked(answers))).prompts
    # Wilson for 20 of 40: 0.5 ± 0.1480
    assert table.rows[0].accuracy.wilson == pytest.approx((0.3520, 0.6480), abs=5e-4)
    # forty coins: standard deviation 0.079
    assert table.rows[0].accuracy.low == pytest.approx(0.345, abs=0.03)
