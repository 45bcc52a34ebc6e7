"""Controls: a perfect extractor scores 1 and an always-wrong generator 0 by every rule, on every workload."""

import json
from pathlib import Path

import pytest

from memgauge.conversation import ABSTENTION
from memgauge.metrics.locomo import locomo_f1
from memgauge.metrics.memory_agent_bench import corrected, official
from memgauge.metrics.score import METRICS, score
from recalled_ledgers import Asked, Said, recalled_ledger

WRONG = "qqqq zzzz"
SHARED = Path(__file__).parents[3] / "shared" / "data"

# For each workload: category, golds, evidence, the answer that its prompt asks for.
QUESTIONS = {
    "sample": [("single-hop", ("under the blue pot",), ("t2",), None), (None, ("180",), ("t1", "t7"), None)],
    "locomo": [
        ("1", ("painting, pottery, running",), ("D1:1", "D2:4"), None),
        ("2", ("7 May 2023",), ("D1:3",), None),
        ("3", ("Likely no, she likes reading more",), ("D7:5",), None),
        ("4", ("A Court of Thorns andRoses",), ("D3:3",), None),
        ("5", (ABSTENTION,), ("D3:3",), None),
    ],
    "longmemeval": [
        ("temporal-reasoning", ("7 days. 8 days (including the last day) is also acceptable.",), ("s1/t1",), None),
        ("multi-session", ("3",), ("s1/t2", "s4/t1"), None),
    ],
    "memoryagentbench": [
        ("factconsolidation_mh_6k", ("Washington, D.C..",), ("c1",), None),
        ("icl_banking77_5900shot_balance", ("43",), ("c1",), "label: 43"),
        ("detective_qa", ("B.Hila Weber",), ("c2",), '{"answer": "B. Hila Weber", "reasoning": "She was seen."}'),
        ("eventqa_full", ("He left the house.",), ("c2",), None),
    ],
}


def _ledger(directory, workload, answers, recalled):
    said = [
        Said(answer, golds, evidence, rank, category, golds == (ABSTENTION,))
        for (category, golds, evidence, _), answer, rank in zip(QUESTIONS[workload], answers, recalled, strict=True)
    ]
    return recalled_ledger(directory, Asked(said, "oracle", workload=workload))


def _values(frames):
    return [(metric, value) for _, _, metric, value in score(frames)]


@pytest.mark.parametrize("workload", QUESTIONS)
def test_oracle_with_a_perfect_extractor_scores_one_by_every_rule(tmp_path, workload):
    golds = [golds[0] for _, golds, _, _ in QUESTIONS[workload]]
    evidence = [[[turn] for turn in evidence] for _, _, evidence, _ in QUESTIONS[workload]]
    values = _values(_ledger(tmp_path, workload, golds, evidence))
    own = {name for name, metric in METRICS.items() if metric.workload in (None, workload)} - {"judge"}
    assert {name for name, _ in values} == own
    assert {value for _, value in values} == {1.0}


def test_what_memoryagentbench_prompts_ask_for_is_right_by_the_corrected_rule(tmp_path):
    asked = [answer or golds[0] for _, golds, _, answer in QUESTIONS["memoryagentbench"]]
    found = _values(_ledger(tmp_path, "memoryagentbench", asked, [[]] * 4))
    assert [value for name, value in found if name == "mab_corrected"] == [1, 1, 1, 1]
    assert [value for name, value in found if name == "mab_official"] == [1, 0, 0, 1]


@pytest.mark.parametrize("workload", QUESTIONS)
def test_an_always_wrong_generator_on_an_empty_memory_scores_nothing_by_every_rule(tmp_path, workload):
    questions = QUESTIONS[workload]
    values = _values(_ledger(tmp_path, workload, [WRONG] * len(questions), [[]] * len(questions)))
    assert {value for _, value in values} == {0.0}


def _shared(name):
    if not (SHARED / name).is_file():
        pytest.skip(f"the real data set is not here: {name}")
    return json.loads((SHARED / name).read_text(encoding="utf-8"))


def test_every_gold_of_the_real_locomo_is_worth_one_and_a_wrong_answer_nothing():
    asked = [qa for dialogue in _shared("locomo/locomo10.json") for qa in dialogue["qa"] if qa["category"] != 5]
    assert len(asked) == 1540
    for qa in asked:
        gold, category = str(qa["answer"]), str(qa["category"])
        said = gold.split(";")[0] if category == "3" else gold
        assert locomo_f1(said, [gold], category) == pytest.approx(1), qa
        assert locomo_f1(WRONG, [gold], category) == 0


def test_every_gold_of_the_real_fact_contexts_is_right_by_both_rules_and_a_wrong_answer_by_none():
    rows = _shared("memoryagentbench/Conflict_Resolution.json")
    asked = [(golds, row["metadata"]["source"]) for row in rows for golds in row["answers"]]
    assert len(asked) == 800
    for golds, task in asked:
        for rule in (official, corrected):
            assert (rule(f"Answer: {golds[0]}", golds, task), rule(WRONG, golds, task)) == (1, 0)
