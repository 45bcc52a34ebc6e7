"""Each source belongs to a split, and its questions say what kind of answer is wanted."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from memgauge.errors import UserError
from memgauge.workloads import mab_tasks

KNOWN = Path(__file__).parents[3] / "shared" / "data" / "memoryagentbench" / "mab_known_questions.jsonl"


def asked(source: str, question: str) -> mab_tasks.Asked:
    task = mab_tasks.of(source)
    assert task is not None
    return task.ask(question)


@pytest.mark.parametrize(
    ("source", "split"),
    [
        ("longmemeval_s*", "AR"),
        ("eventqa_full", "AR"),
        ("ruler_qa1_197K", "AR"),
        ("icl_trec_fine_6400shot_balance", "TTL"),
        ("detective_qa", "LRU"),
        ("factconsolidation_mh_262k", "CR"),
    ],
)
def test_a_source_belongs_to_a_split(source: str, split: str) -> None:
    task = mab_tasks.of(source)
    assert task is not None
    assert task.split == split


def test_a_source_with_a_scorer_of_its_own_is_none_of_ours() -> None:
    assert mab_tasks.of("recsys_redial_full") is None
    assert mab_tasks.of("infbench_sum_eng_shots2") is None
    assert mab_tasks.of("something_new") is None
    with pytest.raises(UserError, match="'recsys_redial_full' needs a scorer of its own"):
        mab_tasks.check_scored("recsys_redial_full")
    mab_tasks.check_scored("detective_qa")


@pytest.mark.parametrize(
    ("source", "word"),
    [("icl_nlu_8296shot_balance", "number"), ("factconsolidation_sh_6k", "higher number"), ("eventqa_full", "next")],
)
def test_the_wanted_kind_of_answer_stands_behind_the_question(source: str, word: str) -> None:
    question, _, wanted = asked(source, " Where is it? ").text.partition("\n")
    assert question == "Where is it?"
    assert word in wanted


def test_a_question_about_documents_stands_alone() -> None:
    assert asked("ruler_qa2_421K", " Where is it? ") == mab_tasks.Asked("Where is it?")


def test_a_detective_question_is_freed_of_the_example_before_it() -> None:
    source = """
        For example: [story] Question: Who? A. Ann B. Bo Output: {"answer": "A. Ann"}
     Now Answer the Question:  Who did it?
    A. Cy
    B. Di
     Output:"""
    text = asked("detective_qa", source).text
    assert text.startswith("Who did it?\n    A. Cy\n    B. Di\n")
    assert "Ann" not in text
    assert "Output" not in text
    assert "option" in text.splitlines()[-1]


def test_a_dated_question_has_its_date_as_time() -> None:
    found = asked("longmemeval_s*", "Current Date: 2023/05/26 (Fri) 16:53,\n\n Now Answer the Question: How many?")
    assert found == mab_tasks.Asked("How many?", datetime(2023, 5, 26, 16, 53))


@pytest.mark.parametrize("date", ["2023/13/26 (Fri) 16:53", "yesterday"])
def test_a_date_that_is_none_stays_in_the_question(date: str) -> None:
    question = f"Current Date: {date},\n\n Now Answer the Question: How many?"
    assert asked("longmemeval_s*", question) == mab_tasks.Asked(question)


@pytest.mark.skipif(not KNOWN.is_file(), reason="known questions of MemoryAgentBench are not at hand")
def test_every_known_question_is_read_as_its_task_has_it() -> None:
    known = [json.loads(line) for line in KNOWN.read_text(encoding="utf-8").splitlines()]
    assert Counter(entry["source"] for entry in known) == {
        "detective_qa": 68, "longmemeval_s*": 60, "icl_banking77_5900shot_balance": 40,
    }  # fmt: skip
    for entry in known:
        found = asked(entry["source"], entry["question"])
        assert found.text
        if entry["source"] == "longmemeval_s*":
            assert found.time is not None
            assert "Current Date" not in found.text
        if entry["source"] == "detective_qa":
            letter = entry["answers"][0][:2]
            assert any(line.strip().startswith(letter) for line in found.text.splitlines())
            assert "For example" not in found.text
