import msgspec
import pytest

from ledger_fixtures import sample_ledger
from memgauge.analysis.quality import quality
from memgauge.ledger.frames import Frames
from recalled_ledgers import Asked, Said, recalled_ledger


def _only(frames):
    (table,) = quality(frames).workloads
    return table


def test_a_workload_shows_its_own_metrics_the_leading_one_first(tmp_path):
    plain = recalled_ledger(tmp_path / "a", Asked([Said("Pepper", category="4")], workload="locomo"))
    assert _only(plain).metrics[:2] == ("locomo_f1", "token_f1")
    judged = [Said("Pepper", category="4", verdicts={"standard-1": "C"})]
    assert _only(recalled_ledger(tmp_path / "b", Asked(judged, workload="locomo"))).leading == "judge"
    facts = [Said("Iran", category="factconsolidation_sh_6k")]
    assert _only(recalled_ledger(tmp_path / "c", Asked(facts, workload="memoryagentbench"))).metrics[:2] == (
        "mab_corrected",
        "mab_official",
    )


def test_scores_by_category_with_counts(tmp_path):
    answers = [
        Said("Pepper", category="1"),
        Said("Ginger", category="1"),
        Said("Pepper", category="4"),
        Said(None, category="4"),
    ]
    (memory,) = _only(recalled_ledger(tmp_path, Asked(answers, workload="locomo"))).memories
    assert (memory.whole.asked, memory.whole.errors) == (4, 1)
    # the error is neither right nor wrong: 2 of 3
    assert memory.whole.scores["locomo_f1"].value == pytest.approx(2 / 3)
    assert {name: (scored.asked, scored.errors) for name, scored in memory.categories.items()} == {
        "1": (2, 0),
        "4": (2, 1),
    }
    assert [scored.scores["locomo_f1"].value for scored in memory.categories.values()] == [0.5, 1]


def test_task_averaged_accuracy_weighs_every_type_the_same(tmp_path):
    def judged(category, *votes, unanswerable=False):
        return [
            Said("x", category=category, unanswerable=unanswerable, verdicts={"longmemeval-1": vote}) for vote in votes
        ]

    asked = [
        *judged("multi-session", "C", "C", "C"),
        *judged("multi-session", "W", unanswerable=True),
        *judged("temporal-reasoning", "W", "W"),
        *judged("knowledge-update", "E"),
    ]
    units = [Asked([said], item=f"talk-{place}", workload="longmemeval") for place, said in enumerate(asked)]
    (memory,) = _only(recalled_ledger(tmp_path, *units)).memories
    # by question 3 of 6; by type (3/4 + 0/2) / 2, the type without any verdict left out
    assert memory.whole.scores["judge"].value == pytest.approx(3 / 6)
    averaged = memory.task_averaged["judge"]
    assert (averaged.value, averaged.n) == (pytest.approx(3 / 8), 6)
    assert 0 <= averaged.low <= averaged.value <= averaged.high <= 1
    assert averaged.method == "cluster bootstrap 95 % over 7 conversations, mean of 2 categories"
    assert (memory.whole.unjudged, memory.categories["knowledge-update"].scores.get("judge")) == (1, None)
    # the abstention question counts in its type, and apart
    assert (memory.unanswerable.asked, memory.unanswerable.scores["judge"].value) == (1, 0)


def test_questions_that_have_an_answer_are_told_apart_from_those_that_have_none(tmp_path):
    answers = [
        Said("Pepper", category="4"),
        Said("Ginger", category="1"),
        Said("Not mentioned.", category="5", golds=(), unanswerable=True),
    ]
    (memory,) = _only(recalled_ledger(tmp_path / "a", Asked(answers, workload="locomo"))).memories
    assert (memory.answerable.asked, memory.answerable.scores["locomo_f1"].value) == (2, 0.5)
    assert (memory.unanswerable.asked, memory.whole.scores["locomo_f1"].value) == (1, pytest.approx(2 / 3))
    (memory,) = _only(recalled_ledger(tmp_path / "b", Asked(answers[:2], workload="locomo"))).memories
    assert (memory.answerable, memory.unanswerable) == (None, None)


def test_the_rubric_that_the_scores_go_by_is_named(tmp_path):
    judged = [Said("Pepper", verdicts={"strict-1": "C", "standard-1": "W"})]
    assert _only(recalled_ledger(tmp_path / "a", Asked(judged))).rubric == "standard-1"
    assert _only(recalled_ledger(tmp_path / "b", Asked([Said("Pepper")]))).rubric is None


def test_a_share_has_wilsons_interval_beside_the_clustered_one(tmp_path):
    answers = [Said("Pepper" if place % 2 else "Ginger") for place in range(40)]
    (memory,) = _only(recalled_ledger(tmp_path, Asked(answers))).memories
    # Wilson for 20 of 40: 0.5 ± 0.1480
    assert memory.whole.scores["exact_match"].wilson == pytest.approx((0.3520, 0.6480), abs=5e-4)
    assert memory.whole.scores["token_f1"].wilson is None


def test_questions_that_a_failed_unit_never_came_to_are_errors(tmp_path):
    failed = Asked([Said("Pepper")], status="failed", unit={"questions": 5})
    (memory,) = _only(recalled_ledger(tmp_path, failed)).memories
    assert (memory.whole.asked, memory.whole.errors) == (5, 4)
    assert memory.unranked == "80 % ended without a score, more than 5 %"


def test_a_unit_that_failed_before_its_first_question_is_shown(tmp_path):
    failed = Asked([], status="failed", unit={"questions": 5})
    (memory,) = _only(recalled_ledger(tmp_path, failed)).memories
    assert (memory.whole.asked, memory.whole.errors, memory.whole.scores) == (5, 5, {})


def test_controls_are_marked_and_causes_are_counted(tmp_path):
    table = _only(Frames(sample_ledger(tmp_path)))
    assert [memory.memory for memory in table.memories if memory.control] == ["none", "oracle"]
    for memory in table.memories:
        found = memory.failures
        assert found.right + found.wrong + found.undecided + found.unscored == memory.whole.asked == 10
    assert all("control" in memory.unranked for memory in table.memories if memory.control)


def test_the_whole_can_be_sent_as_json(tmp_path):
    found = quality(Frames(sample_ledger(tmp_path)))
    told = msgspec.json.decode(msgspec.json.encode(found))
    assert told["workloads"][0]["memories"][0]["whole"]["scores"]["token_f1"]["n"] == 10
    assert told["judge"] == {"repeats": [], "prompts": []}
