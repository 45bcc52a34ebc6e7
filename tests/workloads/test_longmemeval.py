"""LongMemEval is read record by record, without giving away which session holds the answer."""

import json
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from memgauge.conversation import Conversation, Question, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads.longmemeval import LongMemEval
from spoilt import spoilt, unless_refused

DATA = Path(__file__).parents[3] / "shared" / "data" / "longmemeval"
REAL_S = DATA / "longmemeval_s_single_lightmem.json"
ORACLE = DATA / "longmemeval_oracle_evidence_turns.json"
QUERIES = DATA / "longmemeval_s_queries_vectorize.json"
needs_s = pytest.mark.skipif(not REAL_S.is_file(), reason="the real record of LongMemEval's S is not at hand")
needs_oracle = pytest.mark.skipif(not ORACLE.is_file(), reason="the rebuilt oracle file is not at hand")
needs_queries = pytest.mark.skipif(not QUERIES.is_file(), reason="the questions of S without sessions are not at hand")


def user(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def assistant(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def record(**parts: Any) -> dict[str, Any]:
    """Two sessions, the answer in the second, with parts replaced."""
    return {
        "question_id": "e47",
        "question_type": "single-session-user",
        "question": "What did I study?",
        "answer": "Botany",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_session_ids": ["sharegpt_x_0", "answer_280"],
        "haystack_sessions": [
            [user("Hello"), assistant("Hi")],
            [user("I took botany.", has_answer=True), assistant("Nice", has_answer=False)],
        ],
        "answer_session_ids": ["answer_280"],
        **parts,
    }


def load(tmp_path: Path, *of: dict[str, Any], **options: Any) -> LongMemEval:
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps(of), encoding="utf-8")
    return LongMemEval(path=str(file), **options)


def one(tmp_path: Path, **parts: Any) -> tuple[Conversation, Counter[str]]:
    """The conversation of one record, and its anomalies but for that the file is none of the pinned ones."""
    workload = load(tmp_path, record(**parts))
    conversation = workload.conversation(workload.items()[0])
    return conversation, Counter(conversation.anomalies) - Counter({"other release": 1})


def test_a_record_is_a_conversation_with_one_question(tmp_path: Path) -> None:
    conversation, anomalies = one(tmp_path)
    assert conversation.id == "e47"
    assert conversation.turns[2] == Turn("s2/t1", "user", "I took botany.", datetime(2023, 5, 21, 10), "s2")
    assert [turn.id for turn in conversation.turns] == ["s1/t1", "s1/t2", "s2/t1", "s2/t2"]
    assert conversation.questions == (
        Question("e47", "What did I study?", ("Botany",), "single-session-user", ("s2/t1",),
                 datetime(2023, 5, 30, 23, 40)),
    )  # fmt: skip
    assert anomalies == {}


def test_nothing_that_a_memory_sees_tells_which_session_holds_the_answer(tmp_path: Path) -> None:
    conversation, _ = one(tmp_path)
    seen = " ".join(f"{turn.id} {turn.session} {turn.line()}" for turn in conversation.turns)
    assert "answer" not in seen
    assert "sharegpt" not in seen


def test_the_key_to_the_sessions_is_kept_apart(tmp_path: Path) -> None:
    haystack = load(tmp_path, record()).haystack("e47")
    assert haystack.sources == {"s1": "sharegpt_x_0", "s2": "answer_280"}
    assert haystack.answer_sessions == ("s2",)


def test_sessions_are_put_in_the_order_they_took_place(tmp_path: Path) -> None:
    dates = ["2023/05/22 (Mon) 09:00", "2023/05/21 (Sun) 10:00"]
    conversation, anomalies = one(tmp_path, haystack_dates=dates)
    assert [turn.text for turn in conversation.turns] == ["I took botany.", "Nice", "Hello", "Hi"]
    assert conversation.questions[0].evidence == ("s1/t1",)
    assert anomalies == {"session dated before the one above, moved": 1}


def test_sessions_without_a_date_stay_where_they_are(tmp_path: Path) -> None:
    conversation, anomalies = one(tmp_path, haystack_dates=["2023/05/22 (Mon) 09:00", "2023/13/21 (Sun) 10:00"])
    assert [turn.time for turn in conversation.turns][1:3] == [datetime(2023, 5, 22, 9), None]
    assert [turn.text for turn in conversation.turns][2] == "I took botany."
    assert anomalies == {"session without a readable date": 1}


def test_an_unanswerable_question_is_told_by_its_id_and_keeps_the_reason(tmp_path: Path) -> None:
    conversation, _ = one(tmp_path, question_id="e47_abs", answer="You never said what you studied.")
    (question,) = conversation.questions
    assert question.unanswerable
    assert question.answers == ("No information available.", "You never said what you studied.")
    assert question.category == "single-session-user"


@pytest.mark.parametrize(
    ("parts", "anomaly"),
    [
        ({"answer": 7}, "answer that is a number, made text"),
        ({"answer": ["Botany", "botany"]}, "answer that is a list, each part a gold"),
        ({"answer": ""}, "question without an answer"),
        ({"answer": None}, "question without an answer"),
        ({"question_date": None}, "question without a readable date"),
        ({"question_date": "30 May"}, "question without a readable date"),
        ({"question_date": "2023/05/21 (Sun) 09:00"}, "evidence dated after the question, kept"),
        ({"question": " What did I study?"}, "space around a text, stripped"),
        ({"answer_session_ids": ["answer_280", "answer_9"]}, "answer session that is not there"),
        ({"session_ids_inferred": True}, "record put together from logs, session ids inferred"),
    ],
)
def test_a_flaw_of_the_question_is_counted(tmp_path: Path, parts: dict[str, Any], anomaly: str) -> None:
    conversation, anomalies = one(tmp_path, **parts)
    assert anomalies == {anomaly: 1}
    assert len(conversation.turns) == 4


@pytest.mark.parametrize(
    ("second_session", "anomalies"),
    [
        (
            [assistant("Nice"), user("I took botany.", has_answer=True)],
            {"session that the assistant opens": 1},
        ),
        (
            [user("I took botany.", has_answer=True), user("Long ago."), assistant("Nice")],
            {"session of an odd number of turns": 1, "same speaker twice running": 1},
        ),
        (
            [user(" ", has_answer=True), assistant("I took botany.", has_answer=True)],
            {"space around a text, stripped": 1, "turn without text, left out": 1,
             "marked turn without text, left out": 1},
        ),
        (
            [user("I took botany."), assistant("Nice")],
            {"question without evidence": 1, "answer session without a marked turn": 1},
        ),
    ],
)  # fmt: skip
def test_a_flaw_of_a_session_is_counted(
    tmp_path: Path, second_session: list[dict[str, Any]], anomalies: dict[str, int]
) -> None:
    sessions = [[user("Hello"), assistant("Hi")], second_session]
    assert one(tmp_path, haystack_sessions=sessions)[1] == anomalies


def test_a_mark_outside_the_answer_sessions_still_is_evidence(tmp_path: Path) -> None:
    conversation, anomalies = one(tmp_path, answer_session_ids=["sharegpt_x_0"])
    assert conversation.questions[0].evidence == ("s2/t1",)
    assert anomalies == {
        "marked turn outside the answer sessions": 1,
        "answer session without a marked turn": 1,
    }


def test_a_record_without_sessions_is_kept_and_counted(tmp_path: Path) -> None:
    conversation, anomalies = one(
        tmp_path, haystack_dates=[], haystack_session_ids=[], haystack_sessions=[], answer_session_ids=[]
    )
    assert conversation.turns == ()
    assert anomalies == {"record without turns, kept": 1, "question without evidence": 1}


def test_types_choose_questions(tmp_path: Path) -> None:
    records = [record(), record(question_id="m1", question_type="multi-session")]
    workload = load(tmp_path, *records, types=["multi-session"])
    assert workload.items() == ("m1",)
    with pytest.raises(UnknownNameError, match="unknown LongMemEval question 'e47'; known: m1"):
        workload.conversation("e47")
    with pytest.raises(UserError, match="no question of the types knowledge-update in the file"):
        load(tmp_path, *records, types=["knowledge-update"])


def test_an_id_used_twice_is_renamed_and_counted(tmp_path: Path) -> None:
    workload = load(tmp_path, record(), record(answer="Law"))
    assert workload.items() == ("e47", "e47#2")
    assert workload.conversation("e47").questions[0].answers == ("Botany",)
    assert workload.conversation("e47#2").questions[0].answers == ("Law",)
    assert workload.conversation("e47#2").anomalies["question id used twice, renamed"] == 1
    assert "question id used twice, renamed" not in workload.conversation("e47").anomalies


def test_one_record_a_line_is_read_as_well(tmp_path: Path) -> None:
    file = tmp_path / "longmemeval.jsonl"
    file.write_text(f"{json.dumps(record())}\n{json.dumps(record(question_id='b'))}\n", encoding="utf-8")
    assert LongMemEval(path=str(file)).items() == ("e47", "b")


def test_the_same_conversation_is_given_at_every_call_however_many_are_held(tmp_path: Path) -> None:
    workload = load(tmp_path, *(record(question_id=f"q{n}", answer=n) for n in range(9)))
    first = workload.conversation("q0")
    assert [workload.conversation(item).questions[0].answers for item in workload.items()] == [
        (str(n),) for n in range(9)
    ]
    assert workload.conversation("q0") == first


def test_a_stated_variant_must_look_like_it(tmp_path: Path) -> None:
    assert load(tmp_path, record(), variant="oracle").items() == ("e47",)
    with pytest.raises(UserError, match="expected variant 'm', but its first record has 2 sessions, as 'oracle' has"):
        load(tmp_path, record(), variant="m")


def test_a_release_that_cannot_be_verified_is_taken_as_stated_and_counted(tmp_path: Path) -> None:
    assert load(tmp_path, record(), release="original").conversation("e47").anomalies == {
        "release as stated, not verified": 1
    }
    assert load(tmp_path, record()).conversation("e47").anomalies == {"other release": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps([record(question_type="geography")]), "record 1: .*Invalid enum value 'geography'"),
        (json.dumps({"questions": ["a"], "answers": ["b"]}), "record 1: .*missing required field question_id"),
        (json.dumps([{"id": "e47", "query": "What?", "gold_answers": []}]), "missing required field question_id"),
        (json.dumps([record()])[:-20], "the file breaks off; bring it again"),
        ("[]", "it is empty"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "longmemeval.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message) as caught:
        LongMemEval(path=str(file))
    assert str(caught.value).startswith(f"{file}: ")
    assert "expected LongMemEval's records" in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"haystack_sessions": "x"}, "record 1: .*Expected array, got str"),
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "as many haystack_dates and haystack_session_ids"),
        ({"answer": {"text": "Botany"}}, "record 1: .*got object - at .*answer"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, "missing required field content"),
    ],
)
def test_a_malformed_record_is_named_when_it_is_played(tmp_path: Path, parts: dict[str, Any], message: str) -> None:
    workload = load(tmp_path, record(**parts))
    with pytest.raises(UserError, match=message):
        workload.conversation("e47")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"longmemeval_s_cleaned\.json: not there yet; run: memgauge data fetch longmemeval \(or"),
        ({"variant": "m"}, r"not there yet; run: memgauge data fetch longmemeval longmemeval_m_cleaned\.json"),
        ({"variant": "oracle"}, r"run: memgauge data fetch longmemeval longmemeval_oracle\.json"),
        ({"path": "nowhere.json"}, r"nowhere\.json: no such file"),
    ],
)
def test_a_missing_file_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=message):
        LongMemEval(**options)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=spoilt([record(), record(question_id="b_abs", answer=3)]))
def test_a_bad_file_loads_or_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "longmemeval.json"
    file.write_bytes(content)
    workload = unless_refused(lambda: LongMemEval(path=str(file)))
    for item in workload.items() if workload else ():
        conversation = unless_refused(lambda: workload.conversation(item))  # noqa: B023
        if conversation:
            ids = [turn.id for turn in conversation.turns]
            assert len(set(ids)) == len(ids)
            assert set(conversation.questions[0].evidence) <= set(ids)


# From here on the figures were counted in the source itself, apart from the loader.


@needs_s
def test_a_real_record_of_s_loads_whole() -> None:
    workload = LongMemEval(path=str(REAL_S), variant="s")
    conversation = workload.conversation("e47becba")
    assert len(conversation.turns) == 550
    assert len({turn.session for turn in conversation.turns}) == 53
    (question,) = conversation.questions
    assert (question.answers, question.time) == (("Business Administration",), datetime(2023, 5, 30, 23, 40))
    (evidence,) = {turn_id.partition("/")[0] for turn_id in question.evidence}
    assert workload.haystack("e47becba").sources[evidence] == "answer_280352e9"
    assert conversation.anomalies == {
        "other release": 1,
        "session that the assistant opens": 4,
        "session of an odd number of turns": 4,
    }


@cache
def oracle() -> dict[str, Conversation]:
    workload = LongMemEval(path=str(ORACLE), variant="oracle")
    return {item: workload.conversation(item) for item in workload.items()}


@needs_oracle
def test_the_rebuilt_oracle_file_has_500_questions_of_known_types() -> None:
    questions = [conversation.questions[0] for conversation in oracle().values()]
    assert Counter(question.category for question in questions) == {
        "single-session-user": 70,
        "single-session-assistant": 56,
        "single-session-preference": 30,
        "multi-session": 133,
        "temporal-reasoning": 133,
        "knowledge-update": 78,
    }
    assert Counter(question.category for question in questions if question.unanswerable) == {
        "multi-session": 12,
        "temporal-reasoning": 6,
        "knowledge-update": 6,
        "single-session-user": 6,
    }


@needs_oracle
def test_the_flaws_of_the_rebuilt_oracle_file_are_counted() -> None:
    conversations = oracle().values()
    assert sum(len(conversation.turns) for conversation in conversations) == 896
    assert sum(len(conversation.questions[0].evidence) for conversation in conversations) == 896
    assert sum(turn.speaker == "assistant" for conversation in conversations for turn in conversation.turns) == 54
    found = sum((Counter(conversation.anomalies) for conversation in conversations), Counter())
    assert found["answer that is a number, made text"] == 32
    assert found["record without turns, kept"] == 21
    assert found["question without a readable date"] == 21
    assert found["record put together from logs, session ids inferred"] == 500
    late = [c for c in conversations if "evidence dated after the question, kept" in c.anomalies]
    assert len(late) == 42
    without = [c.questions[0] for c in conversations if not c.questions[0].evidence]
    assert len(without) == 21
    assert all(question.unanswerable for question in without)


@needs_oracle
@needs_queries
def test_golds_agree_with_another_projects_copy_of_the_questions() -> None:
    with pytest.raises(UserError, match="missing required field question_id"):
        LongMemEval(path=str(QUERIES))  # questions without sessions are nothing to remember
    theirs = {entry["id"]: entry for entry in json.loads(QUERIES.read_text(encoding="utf-8"))}
    for item, conversation in oracle().items():
        (question,) = conversation.questions
        assert question.text == theirs[item]["query"].strip()
        assert question.answers[-1] == str(theirs[item]["gold_answers"][0]).strip()
