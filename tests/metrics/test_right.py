from memgauge.metrics.right import right
from memgauge.metrics.score import scores_frame
from recalled_ledgers import Asked, Said, recalled_ledger


def _right(directory, *units, judge=True):
    frames = recalled_ledger(directory, *units)
    found = right(frames.answers(), frames.units(), scores_frame(frames), judge=judge)
    return found.select("right", "by").rows()


ANSWERS = [Said("It was Pepper."), Said("Ginger"), Said(None), Said("anything", golds=())]


def test_without_a_judge_an_answer_is_right_where_the_gold_stands_in_it(tmp_path):
    assert _right(tmp_path, Asked(ANSWERS)) == [(1, "rule"), (0, "rule"), (None, "rule"), (None, "rule")]


def test_on_an_unanswerable_question_abstaining_is_right(tmp_path):
    asked = Asked([Said("No information available.", unanswerable=True), Said("Pepper", unanswerable=True)])
    assert _right(tmp_path, asked) == [(1, "rule"), (0, "rule")]


def test_memoryagentbench_goes_by_its_corrected_rule(tmp_path):
    said = [Said("Tirana", golds=["Iran"], category=name) for name in ("factconsolidation_sh_6k", "longmemeval_s*")]
    assert _right(tmp_path, Asked(said, workload="memoryagentbench")) == [(0, "rule"), (1, "rule")]


def test_once_a_workload_was_judged_only_verdicts_decide_it(tmp_path):
    judged = [
        Said("the dog's name", verdicts={"standard-1": "C"}),
        Said("Pepper", verdicts={"standard-1": "E"}),
        Said("Pepper"),
    ]
    units = (Asked(judged, workload="locomo"), Asked([Said("Pepper")], workload="sample"))
    assert _right(tmp_path, *units) == [(1, "judge"), (None, "judge"), (None, "judge"), (1, "rule")]


def test_the_judge_can_be_left_out(tmp_path):
    asked = Asked([Said("Pepper", verdicts={"standard-1": "W"})])
    assert _right(tmp_path, asked, judge=False) == [(1, "rule")]
