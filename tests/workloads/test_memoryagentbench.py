"""MemoryAgentBench: a context becomes chunks, its questions follow, and evidence is found again where it can be."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from memgauge import tokens
from memgauge.conversation import Conversation
from memgauge.errors import UserError
from memgauge.workloads.memoryagentbench import MemoryAgentBench
from spoilt import spoilt, unless_refused

DATA = Path(__file__).parents[3] / "shared" / "data" / "memoryagentbench"
CONFLICTS = DATA / "Conflict_Resolution.json"
BANKING = DATA / "icl_banking77_5900shot_balance_rebuilt.json"
KNOWN = DATA / "mab_known_questions.jsonl"
needs_conflicts = pytest.mark.skipif(not CONFLICTS.is_file(), reason="the Conflict_Resolution rows are not at hand")
needs_banking = pytest.mark.skipif(not BANKING.is_file(), reason="the rebuilt banking77 row is not at hand")

FACTS = "Here is a list of facts:\n" + "".join(
    f"{n}. The capital of country {chr(65 + n)}land is Town {n % 7}.\n" for n in range(26)
)


def row(source: str = "factconsolidation_sh_6k", **parts: Any) -> dict[str, Any]:
    """A context of 26 facts with two questions, with parts replaced."""
    metadata = {"source": source, "qa_pair_ids": ["no0", "no1"], "haystack_sessions": None, **parts.pop("metadata", {})}
    return {
        "context": FACTS,
        "questions": ["What is the capital of Aland?", "What is the capital of Zland?"],
        "answers": [["Town 0"], ["Town 4"]],
        "metadata": metadata,
        **parts,
    }


def load(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> MemoryAgentBench:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return MemoryAgentBench(path=str(file), **options)


def one(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> Conversation:
    workload = load(tmp_path, *rows, **options)
    return workload.conversation(workload.items()[0])


def test_a_context_is_taken_in_by_chunks_and_asked_about_afterwards(tmp_path: Path) -> None:
    conversation = one(tmp_path, row(), chunk_tokens=64)
    assert [turn.id for turn in conversation.turns] == [f"c{n:04}" for n in range(1, len(conversation.turns) + 1)]
    assert len(conversation.turns) > 4
    assert {turn.speaker for turn in conversation.turns} == {"User"}
    assert all(tokens.count(turn.text) <= 64 for turn in conversation.turns)
    assert "\n".join(turn.text for turn in conversation.turns) == FACTS.strip()
    assert [(q.id, q.answers, q.category) for q in conversation.questions] == [
        ("no0", ("Town 0",), "factconsolidation_sh_6k"),
        ("no1", ("Town 4",), "factconsolidation_sh_6k"),
    ]
    assert conversation.anomalies == {}


def test_the_evidence_of_a_single_fact_is_the_chunk_with_its_line(tmp_path: Path) -> None:
    conversation = one(tmp_path, row(), chunk_tokens=64)
    text = {turn.id: turn.text for turn in conversation.turns}
    first, last = conversation.questions
    assert first.evidence == ("c0001",)
    assert last.evidence == (conversation.turns[-1].id,)
    assert "Zland is Town 4" in text[last.evidence[0]]


def test_a_multi_hop_question_has_no_evidence(tmp_path: Path) -> None:
    conversation = one(tmp_path, row("factconsolidation_mh_6k"))
    assert [question.evidence for question in conversation.questions] == [(), ()]
    assert conversation.anomalies == {}


def test_a_gold_that_no_line_says_is_counted(tmp_path: Path) -> None:
    conversation = one(tmp_path, row(answers=[["Town 0"], ["Nowhere"]]))
    assert conversation.questions[1].evidence == ()
    assert conversation.anomalies == {"fact that says the gold, not found": 1}


def test_a_marked_turn_is_found_again_in_the_printed_context(tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"It's turn {n}.\nNew line, so it is escaped. {'x ' * 30}"} for n in range(9)]
    marked = [
        [[{**said[0], "has_answer": False}, {**said[7], "has_answer": True}]],
        [[{**said[1], "content": "gone", "has_answer": True}]],
    ]
    source = row(
        "longmemeval_s*",
        context=str(["Chat Time: 2022/11/17 (Thu) 12:04", said]),
        questions=["Current Date: 2023/05/26 (Fri) 16:53,\n\n Now Answer the Question: Which turn?", "Which?"],
        answers=[[7], "none"],
        metadata={"qa_pair_ids": ["6a27", "6a28_abs"], "haystack_sessions": marked},
    )  # fmt: skip
    conversation = one(tmp_path, source, chunk_tokens=64)
    text = {turn.id: turn.text for turn in conversation.turns}
    first, second = conversation.questions
    assert first.evidence
    assert any("It's turn 7." in text[turn_id] for turn_id in first.evidence)
    assert not any("turn 5" in text[turn_id] for turn_id in first.evidence)
    assert (first.text, first.time, first.answers) == ("Which turn?", datetime(2023, 5, 26, 16, 53), ("7",))
    assert second.unanswerable
    assert second.answers == ("No information available.", "none")
    assert conversation.anomalies == {
        "answer that is a number, made text": 1,
        "marked turn that is not in the context": 1,
    }


def test_several_golds_are_golds_each(tmp_path: Path) -> None:
    conversation = one(tmp_path, row("ruler_qa1_197K", answers=[["a", "b"], "c"]))
    assert [question.answers for question in conversation.questions] == [("a", "b"), ("c",)]


@pytest.mark.parametrize(
    ("parts", "anomaly"),
    [
        ({"questions": ["Where?", "Where?"]}, "question asked twice, kept"),
        ({"questions": ["Where?", " "]}, "question without text, left out"),
        ({"answers": [["x"], []]}, "question without an answer"),
        ({"answers": [["x"], [""]]}, "question without an answer"),
        ({"metadata": {"qa_pair_ids": ["no0"]}}, "question without an id, named by its place"),
        ({"metadata": {"qa_pair_ids": ["no0", "no0"]}}, "question id used twice, renamed"),
    ],
)
def test_a_flaw_of_a_question_is_counted(tmp_path: Path, parts: dict[str, Any], anomaly: str) -> None:
    conversation = one(tmp_path, row("ruler_qa1_197K", **parts))
    assert conversation.anomalies[anomaly] == 1
    ids = [question.id for question in conversation.questions]
    assert len(ids) == len(set(ids)) == (1 if "left out" in anomaly else 2)


def test_a_question_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    conversation = one(tmp_path, row("ruler_qa1_197K", metadata={"qa_pair_ids": None}))
    assert [question.id for question in conversation.questions] == ["ruler_qa1_197K/q0", "ruler_qa1_197K/q1"]


def test_sizes_of_one_source_come_in_rising_order(tmp_path: Path) -> None:
    names = ["factconsolidation_mh_262k", "factconsolidation_sh_32k", "detective_qa", "factconsolidation_sh_6k",
             "factconsolidation_mh_6k", "eventqa_full", "eventqa_131072", "eventqa_65536"]  # fmt: skip
    assert load(tmp_path, *map(row, names)).items() == (
        "factconsolidation_mh_6k", "factconsolidation_mh_262k", "factconsolidation_sh_6k", "factconsolidation_sh_32k",
        "detective_qa", "eventqa_full", "eventqa_65536", "eventqa_131072",
    )  # fmt: skip


def test_contexts_of_one_source_are_numbered(tmp_path: Path) -> None:
    rows = [row("detective_qa"), row("detective_qa", context="Another story."), row("eventqa_full")]
    workload = load(tmp_path, *rows)
    assert workload.items() == ("detective_qa#1", "detective_qa#2", "eventqa_full")
    assert workload.conversation("detective_qa#2").turns[0].text == "Another story."


def test_options_choose_sources_and_questions(tmp_path: Path) -> None:
    rows = [row("factconsolidation_sh_6k"), row("factconsolidation_mh_6k"), row("longmemeval_s*"), row("detective_qa")]
    assert load(tmp_path, *rows, sources=["factconsolidation_*"]).items() == (
        "factconsolidation_sh_6k", "factconsolidation_mh_6k",
    )  # fmt: skip
    assert load(tmp_path, *rows, sources=["longmemeval_s*"]).items() == ("longmemeval_s*",)
    assert load(tmp_path, *rows, split="LRU").items() == ("detective_qa",)
    assert [q.id for q in one(tmp_path, *rows, max_questions=1).questions] == ["no0"]


def test_what_no_rule_scores_is_left_aside(tmp_path: Path) -> None:
    rows = [row("recsys_redial_full"), row("infbench_sum_eng_shots2"), row("detective_qa"), row("brand_new")]
    assert load(tmp_path, *rows).items() == ("detective_qa",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sources": ["factconsolidation_sh_7k"]}, "did you mean 'factconsolidation_sh_6k'"),
        ({"sources": ["recsys_redial_full"]}, "'recsys_redial_full' needs a scorer of its own"),
        ({"split": "AR"}, "no source of split AR among: factconsolidation_sh_6k"),
        ({"chunk_tokens": 8}, "chunk_tokens is 8; expected at least 16"),
        ({"max_questions": 0}, "max_questions is 0; expected at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(tmp_path, row(), **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps([{"context": "x"}]), "record 1: expected MemoryAgentBench's rows with context, questions"),
        (json.dumps([row(metadata={"source": "brand_new"})]), "no source that is known among: brand_new"),
        (json.dumps([row()])[:-9], "the file breaks off"),
        ("", "it is empty"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "rows.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        MemoryAgentBench(path=str(file))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"questions": ["Where?"]}, "factconsolidation_sh_6k: 1 questions and 2 answers; expected as many"),
        ({"context": " \n"}, "factconsolidation_sh_6k: the context is empty"),
        ({"context": 3}, "record 1: .*Expected str, got int"),
        ({"answers": [{"a": 1}, "b"]}, "got object"),
    ],
)
def test_a_malformed_row_is_named_when_it_is_played(tmp_path: Path, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        one(tmp_path, row(**parts))


def test_parquet_as_published_reads_as_its_json_mirror(tmp_path: Path) -> None:
    rows = [row(), row("longmemeval_s*", metadata={
        "haystack_sessions": [[[{"content": "country Cland", "has_answer": True, "role": "user"}]], []]})]  # fmt: skip
    pl.DataFrame(rows, schema_overrides={"answers": pl.List(pl.List(pl.String))}).write_parquet(tmp_path / "a.parquet")
    mirror, published = load(tmp_path, *rows), MemoryAgentBench(path=str(tmp_path / "a.parquet"))
    assert published.items() == mirror.items() == ("factconsolidation_sh_6k", "longmemeval_s*")
    for item in mirror.items():
        assert published.conversation(item) == mirror.conversation(item)
    assert published.conversation("longmemeval_s*").questions[0].evidence == ("c0001",)


def test_a_folder_is_read_as_its_parquet_files(tmp_path: Path) -> None:
    pl.DataFrame([row()]).write_parquet(tmp_path / "b.parquet")
    pl.DataFrame([row("detective_qa")]).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "notes.json").write_text("not rows")
    assert MemoryAgentBench(path=str(tmp_path)).items() == ("detective_qa", "factconsolidation_sh_6k")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"no \.parquet, \.json or \.jsonl file in this folder"):
        MemoryAgentBench(path=str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[: len(content) // 2], "expected MemoryAgentBench's rows"),
        (lambda content: b"<html>not found</html>", "expected MemoryAgentBench's rows"),
        (lambda content: b"", "expected MemoryAgentBench's rows"),
    ],
)
def test_a_parquet_file_that_is_none_is_refused_in_one_line(tmp_path: Path, change: Any, message: str) -> None:
    file = tmp_path / "a.parquet"
    pl.DataFrame([row()]).write_parquet(file)
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(UserError, match=message) as caught:
        MemoryAgentBench(path=str(file))
    assert "\n" not in str(caught.value)


def test_parquet_of_another_shape_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pl.DataFrame({"text": ["x"]}).write_parquet(file)
    with pytest.raises(UserError, match=r"a\.parquet: expected MemoryAgentBench's rows"):
        MemoryAgentBench(path=str(file))
    pl.DataFrame([row(answers=[[1.5], [2.5]], questions=None)]).write_parquet(file)
    workload = MemoryAgentBench(path=str(file))
    with pytest.raises(UserError, match=r"a\.parquet: row 1: expected MemoryAgentBench's rows"):
        workload.conversation(workload.items()[0])


def test_a_missing_file_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"run: memgauge data fetch memoryagentbench Conflict_Resolution-00000-of-"):
        MemoryAgentBench(split="CR")
    with pytest.raises(UserError, match=r"nowhere\.parquet: no such file"):
        MemoryAgentBench(path="nowhere.parquet")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=spoilt([row(), row("longmemeval_s*", metadata={"haystack_sessions": [[[{"content": "Town 3"}]], []]})]))
def test_a_bad_file_loads_or_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "rows.json"
    file.write_bytes(content)
    workload = unless_refused(lambda: MemoryAgentBench(path=str(file), chunk_tokens=64))
    for item in workload.items() if workload else ():
        conversation = unless_refused(lambda: workload.conversation(item))  # noqa: B023
        if conversation:
            ids = {turn.id for turn in conversation.turns}
            assert all(set(question.evidence) <= ids for question in conversation.questions)


# From here on the figures were counted in the source itself, apart from the loader.


@cache
def conflicts() -> dict[str, Conversation]:
    workload = MemoryAgentBench(path=str(CONFLICTS))
    return {item: workload.conversation(item) for item in workload.items()}


@needs_conflicts
def test_every_size_of_the_conflicts_loads() -> None:
    sizes = ("6k", "32k", "64k", "262k")
    assert tuple(conflicts()) == tuple(f"factconsolidation_{hops}_{size}" for hops in ("mh", "sh") for size in sizes)
    facts = {"6k": 455, "32k": 2310, "64k": 4580, "262k": 18332}
    for item, conversation in conflicts().items():
        lines = [line for turn in conversation.turns for line in turn.text.split("\n")]
        assert len(lines) == facts[item.rsplit("_", 1)[1]] + 1  # the heading
        assert [line.split(".")[0] for line in lines[1:]] == [str(n) for n in range(len(lines) - 1)]
        assert len(conversation.questions) == 100
        assert {len(question.answers) for question in conversation.questions} == {1}
        assert max(tokens.count(turn.text) for turn in conversation.turns) <= 4096
        assert conversation.anomalies == {}


@needs_conflicts
@pytest.mark.parametrize(
    ("item", "question", "number"),
    [
        ("factconsolidation_sh_32k", 8, 707),
        ("factconsolidation_sh_32k", 9, 1291),
        ("factconsolidation_sh_64k", 18, 7),
        ("factconsolidation_sh_64k", 20, 2374),
        ("factconsolidation_sh_262k", 8, 8530),
        ("factconsolidation_sh_262k", 80, 5988),
    ],
)
def test_evidence_is_the_chunk_with_the_gold_also_where_a_later_fact_contradicts_it(
    item: str, question: int, number: int
) -> None:
    # Found by eye: these golds are not the latest fact.
    conversation = conflicts()[item]
    (evidence,) = conversation.questions[question].evidence
    text = {turn.id: turn.text for turn in conversation.turns}[evidence]
    assert any(line.startswith(f"{number}. ") for line in text.split("\n"))


@needs_conflicts
def test_every_single_hop_gold_stands_in_its_evidence() -> None:
    for item, conversation in conflicts().items():
        text = {turn.id: turn.text for turn in conversation.turns}
        for question in conversation.questions:
            assert len(question.evidence) == ("_sh_" in item)
            assert all(question.answers[0] in text[turn_id] for turn_id in question.evidence)


@needs_banking
def test_the_rebuilt_examples_load_with_their_labels() -> None:
    conversation = MemoryAgentBench(path=str(BANKING)).conversation("icl_banking77_5900shot_balance")
    assert sum(turn.text.count("\nlabel: ") for turn in conversation.turns) == 5900
    assert len(conversation.questions) == 100
    assert all(question.answers[0].isdigit() for question in conversation.questions)


@pytest.mark.skipif(not KNOWN.is_file(), reason="known questions of MemoryAgentBench are not at hand")
def test_questions_without_contexts_are_nothing_to_remember() -> None:
    with pytest.raises(UserError, match="expected MemoryAgentBench's rows with context"):
        MemoryAgentBench(path=str(KNOWN))
