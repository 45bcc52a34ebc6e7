"""LoCoMo is read whole: every flaw of the source is mended or left out by a rule, and counted."""

import json
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from memgauge.conversation import Conversation, Question
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import fetch
from memgauge.workloads.locomo import LoCoMo
from spoilt import spoilt, unless_refused

REAL = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"
needs_the_real_file = pytest.mark.skipif(not REAL.is_file(), reason="LoCoMo's own file is not at hand")


def turn(dia_id: str, text: str = "Hello.", speaker: str = "Ann", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}


def asked(category: int = 4, evidence: tuple[str, ...] = ("D1:1",), **more: Any) -> dict[str, Any]:
    answer = {} if "answer" in more or "adversarial_answer" in more else {"answer": "Ghent"}
    return {"question": "Where?", "category": category, "evidence": list(evidence), **answer, **more}


def dialogue(*questions: dict[str, Any], name: str = "conv-1", **conversation: Any) -> dict[str, Any]:
    """Two sittings of two turns, with parts replaced by ``conversation``."""
    whole = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1": [turn("D1:1"), turn("D1:2", speaker="Bo")],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [turn("D2:1"), turn("D2:2", speaker="Bo")],
        "session_2_date_time": "12:05 am on 31 December, 2023",
    }
    return {"sample_id": name, "conversation": {**whole, **conversation}, "qa": list(questions)}


def load(tmp_path: Path, *dialogues: dict[str, Any], **options: Any) -> LoCoMo:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(dialogues), encoding="utf-8")
    return LoCoMo(path=str(file), **options)


def one(tmp_path: Path, source: dict[str, Any], **options: Any) -> Conversation:
    return load(tmp_path, source, **options).conversation("conv-1")


def question(tmp_path: Path, **raw: Any) -> tuple[Question, Counter[str]]:
    conversation = one(tmp_path, dialogue(asked(**raw)))
    (found,) = conversation.questions
    return found, Counter(conversation.anomalies) - Counter({"other release": 1})


def test_turns_carry_their_sessions_time_in_any_locale(tmp_path: Path) -> None:
    turns = one(tmp_path, dialogue()).turns
    assert [(t.id, t.speaker, t.session) for t in turns] == [
        ("D1:1", "Ann", "session_1"), ("D1:2", "Bo", "session_1"),
        ("D2:1", "Ann", "session_2"), ("D2:2", "Bo", "session_2"),
    ]  # fmt: skip
    assert [t.time for t in turns[1:3]] == [datetime(2023, 5, 8, 13, 56), datetime(2023, 12, 31, 0, 5)]


@pytest.mark.parametrize(
    ("date", "time"),
    [("12:00 pm on 1 January, 2023", datetime(2023, 1, 1, 12)), ("9:05 am on 29 February, 2023", None), (None, None)],
)
def test_noon_is_twelve_and_a_date_that_is_none_is_counted(
    tmp_path: Path, date: str | None, time: datetime | None
) -> None:
    conversation = one(tmp_path, dialogue(session_1_date_time=date))
    assert conversation.turns[0].time == time
    assert conversation.anomalies.get("session without a readable date", 0) == (time is None)


def test_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    source = dialogue(session_10=[turn("D10:1")], session_10_date_time="1:00 pm on 1 June, 2024")
    assert [t.id for t in one(tmp_path, source).turns][-2:] == ["D2:2", "D10:1"]


def test_a_date_without_turns_makes_no_session(tmp_path: Path) -> None:
    conversation = one(tmp_path, dialogue(session_3_date_time="1:00 pm on 1 June, 2024"))
    assert len(conversation.turns) == 4
    assert conversation.anomalies["date of a session without turns"] == 1


@pytest.mark.parametrize(("captions", "text"), [(True, "Look! (shares a photo: a red kite)"), (False, "Look!")])
def test_a_photo_is_told_by_its_caption_and_never_by_the_annotators_search(
    tmp_path: Path, captions: bool, text: str
) -> None:
    photo = turn("D1:1", "Look! ", blip_caption="a red kite", query="red kite Milvus", img_url=["https://x"])
    conversation = one(tmp_path, dialogue(session_1=[photo, turn("D1:2", blip_caption="a hat")]), captions=captions)
    assert conversation.turns[0].text == text
    assert conversation.anomalies["photo known by its caption only"] == 2
    assert conversation.anomalies["caption without a photo's address"] == 1
    assert conversation.anomalies["space around a text, stripped"] == 1


def test_a_turn_without_words_is_left_out_unless_it_shows_a_photo(tmp_path: Path) -> None:
    session = [turn("D1:1", " "), turn("D1:2", "", blip_caption="a hat")]
    conversation = one(tmp_path, dialogue(session_1=session))
    assert [t.text for t in conversation.turns][:1] == ["(shares a photo: a hat)"]
    assert conversation.anomalies["turn without text, left out"] == 1


def test_a_turn_id_used_twice_is_renamed(tmp_path: Path) -> None:
    conversation = one(tmp_path, dialogue(session_1=[turn("D1:1"), turn("D1:1")]))
    assert [t.id for t in conversation.turns][:2] == ["D1:1", "D1:1#2"]
    assert conversation.anomalies["turn id used twice, renamed"] == 1


def test_a_question_is_called_after_its_place(tmp_path: Path) -> None:
    questions = one(tmp_path, dialogue(asked(), asked(question="Who? "))).questions
    assert questions[1] == Question("conv-1/q1", "Who?", ("Ghent",), "4", ("D1:1",))


def test_an_answer_that_is_a_number_becomes_text(tmp_path: Path) -> None:
    found, anomalies = question(tmp_path, category=2, answer=2022)
    assert found.answers == ("2022",)
    assert anomalies == {"answer that is a number, made text": 1}


def test_a_missing_answer_is_counted(tmp_path: Path) -> None:
    found, anomalies = question(tmp_path, answer=None)
    assert found.answers == ()
    assert anomalies == {"question without an answer": 1}


def test_category_five_asks_for_what_was_not_said(tmp_path: Path) -> None:
    found, anomalies = question(tmp_path, category=5, adversarial_answer="a trophy")
    assert found.unanswerable
    assert (found.answers, found.trap) == (("No information available.",), "a trophy")
    assert anomalies == {}


def test_an_unanswerable_question_keeps_a_gold_of_its_own_beside(tmp_path: Path) -> None:
    found, anomalies = question(tmp_path, category=5, answer="No", adversarial_answer="Yes")
    assert (found.answers, found.trap) == (("No information available.", "No"), "Yes")
    assert anomalies == {"unanswerable question with a gold of its own": 1}


@pytest.mark.parametrize(
    ("evidence", "found", "anomaly"),
    [
        (["D1:1; D2:2"], ("D1:1", "D2:2"), "several turn ids in one text, split"),
        (["D1:1 D1:2 D2:1"], ("D1:1", "D1:2", "D2:1"), "several turn ids in one text, split"),
        (["D:2:1"], ("D2:1",), "misspelt turn id, mended"),
        (["D2:01"], ("D2:1",), "misspelt turn id, mended"),
        (["D1:1", "D"], ("D1:1",), "evidence that names no id, dropped"),
        (["D1:1", "D9:9"], ("D1:1",), "evidence that names no turn, dropped"),
        (["D1:1", "D1:1"], ("D1:1",), "turn id named twice as evidence"),
        ([], (), "question without evidence"),
    ],
)
def test_evidence_is_mended_or_dropped_and_counted(
    tmp_path: Path, evidence: list[str], found: tuple[str, ...], anomaly: str
) -> None:
    read, anomalies = question(tmp_path, evidence=tuple(evidence))
    assert read.evidence == found
    assert anomalies == {anomaly: 1}


def test_questions_asked_twice_are_kept_and_counted(tmp_path: Path) -> None:
    conversation = one(tmp_path, dialogue(asked(), asked(), asked(category=5, adversarial_answer="Ghent")))
    assert len(conversation.questions) == 3
    assert conversation.anomalies["question asked twice, kept"] == 1
    assert conversation.anomalies["question both answerable and not, kept"] == 1


def test_options_choose_dialogues_and_categories(tmp_path: Path) -> None:
    questions = [asked(category=1 + index % 4, question=f"Question {index}?") for index in range(12)]
    workload = load(tmp_path, dialogue(), dialogue(*questions, name="conv-2"), dialogues=["conv-2"], categories=[1, 2])
    assert workload.items() == ("conv-2",)
    ids = [question.id.removeprefix("conv-2/q") for question in workload.conversation("conv-2").questions]
    assert ids == ["0", "1", "4", "5", "8", "9"]
    with pytest.raises(UnknownNameError):
        workload.conversation("conv-1")


def test_flaws_are_counted_in_the_whole_source_whatever_is_chosen(tmp_path: Path) -> None:
    conversation = one(tmp_path, dialogue(asked(answer=3), asked(evidence=())), categories=[5])
    assert conversation.questions == ()
    assert conversation.anomalies["answer that is a number, made text"] == 1
    assert conversation.anomalies["question without evidence"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialogues": ["conv-2"]}, "unknown LoCoMo dialogue 'conv-2'; did you mean 'conv-1'"),
        ({"categories": [6]}, "no category 6; known: 1, 2, 3, 4, 5"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(tmp_path, dialogue(), **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected LoCoMo's list of dialogues with sample_id, conversation and qa"),
        ("[]", "it is empty"),
        ('{"a": 1}', "Expected `array`, got `object`"),
        ('[{"sample_id": "conv-1"}]', "missing required field `conversation`"),
        (json.dumps([dialogue(session_1="x")]), "conv-1: session_1: Expected `array`, got `str`"),
        (json.dumps([{**dialogue(), "conversation": {}}]), "conv-1: expected session_1, session_2, … with turns"),
        (json.dumps([{**dialogue(), "qa": [{"question": 7}]}]), r"Expected `str`, got `int` - at `\$\[0\].qa\[0\]"),
        (json.dumps([dialogue(), dialogue()]), "conv-1 occurs twice"),
        ("[" * 100_000, "expected LoCoMo's list of dialogues"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message) as caught:
        LoCoMo(path=str(file))
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"data/locomo/locomo10\.json: not there yet; run: memgauge data fetch locomo"):
        LoCoMo()
    with pytest.raises(UserError, match=r"elsewhere\.json: no such file"):
        LoCoMo(path=str(tmp_path / "elsewhere.json"))


# From here on the figures were counted in the source itself, apart from the loader.


@cache
def real() -> dict[str, Conversation]:
    workload = LoCoMo(path=str(REAL))
    return {item: workload.conversation(item) for item in workload.items()}


@needs_the_real_file
def test_the_real_file_has_ten_dialogues_of_known_size() -> None:
    # id: sessions, turns, questions of categories 1 to 5
    expected = {
        "conv-26": (19, 419, (32, 37, 13, 70, 47)),
        "conv-30": (19, 369, (11, 26, 0, 44, 24)),
        "conv-41": (32, 663, (31, 27, 8, 86, 41)),
        "conv-42": (29, 629, (37, 40, 11, 111, 61)),
        "conv-43": (29, 680, (31, 26, 14, 107, 64)),
        "conv-44": (28, 675, (30, 24, 7, 62, 35)),
        "conv-47": (31, 689, (20, 34, 13, 83, 40)),
        "conv-48": (30, 681, (21, 42, 10, 118, 48)),
        "conv-49": (25, 509, (37, 33, 13, 73, 40)),
        "conv-50": (30, 568, (32, 32, 7, 87, 46)),
    }
    found = {}
    for item, conversation in real().items():
        of = Counter(question.category for question in conversation.questions)
        sessions = {turn.session for turn in conversation.turns}
        found[item] = (len(sessions), len(conversation.turns), tuple(of[str(number)] for number in range(1, 6)))
    assert found == expected


@needs_the_real_file
def test_the_real_file_has_these_flaws_and_no_other() -> None:
    assert sum((Counter(conversation.anomalies) for conversation in real().values()), Counter()) == {
        "photo known by its caption only": 1226,
        "caption without a photo's address": 316,
        "space around a text, stripped": 211,  # 209 turns, one question, one answer
        "date of a session without turns": 16,
        "question asked twice, kept": 11,
        "answer that is a number, made text": 6,
        "several turn ids in one text, split": 4,
        "question without evidence": 4,
        "misspelt turn id, mended": 2,
        "unanswerable question with a gold of its own": 2,
        "evidence that names no turn, dropped": 2,
        "evidence that names no id, dropped": 1,
        "turn id named twice as evidence": 1,
        "question both answerable and not, kept": 1,
    }


@needs_the_real_file
@pytest.mark.parametrize(
    ("question_id", "evidence"),
    [
        ("conv-26/q37", ("D8:6", "D9:17")),
        ("conv-43/q18", ("D1:14", "D2:7", "D4:7", "D5:15", "D11:26", "D20:21", "D26:36")),
        ("conv-49/q31", ("D9:1", "D4:4", "D4:6")),
        ("conv-49/q38", ("D22:1", "D22:2", "D9:10", "D9:11")),
        ("conv-49/q46", ("D21:18", "D21:22", "D11:15", "D11:19")),
        ("conv-26/q30", ()),
        ("conv-50/q42", ()),
    ],
)
def test_evidence_of_the_real_file_is_read(question_id: str, evidence: tuple[str, ...]) -> None:
    item = question_id.split("/")[0]
    (question,) = [question for question in real()[item].questions if question.id == question_id]
    assert question.evidence == evidence


@needs_the_real_file
def test_every_turn_of_the_real_file_has_a_time_and_none_is_out_of_order() -> None:
    for conversation in real().values():
        times = [turn.time for turn in conversation.turns if turn.time]
        assert len(times) == len(conversation.turns)
        assert times == sorted(times)


@needs_the_real_file
def test_in_the_real_file_category_five_alone_is_unanswerable() -> None:
    questions = [question for conversation in real().values() for question in conversation.questions]
    assert len(questions) == 1986
    assert {q.category for q in questions if q.unanswerable} == {"5"}
    assert sum(q.unanswerable for q in questions) == 446
    assert all(q.trap for q in questions if q.unanswerable)
    assert all(q.answers for q in questions)


AUDIT = REAL.with_name("locomo_audit_errors.json")
needs_the_real_audit = pytest.mark.skipif(
    not (REAL.is_file() and AUDIT.is_file()), reason="LoCoMo's own file or its audit is not at hand"
)


def audited(tmp_path: Path, *entries: tuple[str, str, str]) -> str:
    """An audit with entries of question id, question and kind of error."""
    file = tmp_path / "errors.json"
    keys = ("question_id", "question", "error_type")
    file.write_text(json.dumps([dict(zip(keys, entry, strict=True)) for entry in entries]), encoding="utf-8")
    return str(file)


def test_a_gold_that_the_audit_calls_wrong_is_left_out_and_a_wrong_citation_is_not(tmp_path: Path) -> None:
    questions = [asked(question=f"Question {index}?") for index in range(4)]
    audit = audited(
        tmp_path,
        ("locomo_1_qa1", "Question 1?", "HALLUCINATION"),
        ("locomo_1_qa2", "Question 2?", "WRONG_CITATION"),
        ("locomo_0_qa3", "Question 3?", "AMBIGUOUS"),  # of the dialogue before
    )
    workload = load(tmp_path, dialogue(asked()), dialogue(*questions, name="conv-2"), audit=audit)
    conversation = workload.conversation("conv-2")
    assert [question.id for question in conversation.questions] == ["conv-2/q0", "conv-2/q2", "conv-2/q3"]
    assert conversation.anomalies["gold audited as HALLUCINATION, question left out"] == 1
    assert conversation.anomalies["gold audited as WRONG_CITATION, question kept"] == 1
    assert len(workload.conversation("conv-1").questions) == 1


def test_an_audit_entry_about_another_text_does_not_apply(tmp_path: Path) -> None:
    audit = audited(tmp_path, ("locomo_0_qa0", "Who?", "HALLUCINATION"), ("locomo_0_qa1", "Where? ", "HALLUCINATION"))
    conversation = one(tmp_path, dialogue(asked(), asked()), audit=audit)
    assert [question.id for question in conversation.questions] == ["conv-1/q0"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"question_id": "locomo_0_qa0", "question": "Who?", "error_type": "X"}]', "no entry names a question"),
        ('[{"question_id": "locomo_0_qa0"}]', "record 1: expected the audit's list"),
        ('{"conv-26": []}', "record 1: expected the audit's list of question_id, question and error_type"),
        ('[{"question_id": "a", "question": "b"', "the file breaks off"),
    ],
)
def test_another_file_is_no_audit(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "errors.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message) as caught:
        one(tmp_path, dialogue(asked()), audit=str(file))
    assert str(file) in str(caught.value)


def test_an_audit_that_is_not_there_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"run: memgauge data fetch locomo locomo_audit_errors\.json"):
        one(tmp_path, dialogue(asked()), audit=True)
    assert len(one(tmp_path, dialogue(asked()), audit=False).questions) == 1


def test_a_subset_is_named_or_computed(tmp_path: Path) -> None:
    # Together categories 1 and 4 are asked alike, as in conv-2 alone.
    whole = [
        dialogue(asked(category=1), name="conv-1"),
        dialogue(asked(category=1), asked(category=4), name="conv-2"),
        dialogue(asked(category=4), name="conv-3"),
    ]
    assert load(tmp_path, *whole, subset=1).items() == ("conv-2",)
    assert load(tmp_path, *whole, subset=2, categories=[4]).items() == ("conv-1", "conv-3")
    with pytest.raises(UnknownNameError, match="unknown LoCoMo subset 'total-recal'; did you mean 'total-recall'"):
        load(tmp_path, *whole, subset="total-recal")
    with pytest.raises(UnknownNameError, match="unknown LoCoMo dialogue 'conv-26'"):
        load(tmp_path, *whole, subset="total-recall")
    with pytest.raises(UserError, match="dialogues and subset both choose"):
        load(tmp_path, *whole, subset=1, dialogues=["conv-1"])


def test_answers_that_are_lists_are_golds_each(tmp_path: Path) -> None:
    found, anomalies = question(tmp_path, answer=["Ghent", "Bruges"])
    assert found.answers == ("Ghent", "Bruges")
    assert anomalies == {"answer that is a list, each part a gold": 1}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=spoilt([dialogue(asked(), asked(category=5, adversarial_answer="Ghent"))]))
def test_a_bad_file_loads_or_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "locomo.json"
    file.write_bytes(content)
    workload = unless_refused(lambda: LoCoMo(path=str(file)))
    for item in workload.items() if workload else ():
        conversation = workload.conversation(item)
        ids = {turn.id for turn in conversation.turns}
        assert all(set(question.evidence) <= ids for question in conversation.questions)


@needs_the_real_audit
def test_the_real_audit_takes_99_questions_out_of_categories_1_to_4() -> None:
    workload = LoCoMo(path=str(REAL), audit=str(AUDIT), categories=[1, 2, 3, 4])
    conversations = [workload.conversation(item) for item in workload.items()]
    left = Counter(question.category for conversation in conversations for question in conversation.questions)
    # Of 282, 321, 96 and 841 the audit calls 28, 26, 9 and 36 wrong.
    assert left == {"1": 254, "2": 295, "3": 87, "4": 805}
    found = sum((Counter(conversation.anomalies) for conversation in conversations), Counter())
    assert {kind: number for kind, number in found.items() if "audited" in kind} == {
        "gold audited as HALLUCINATION, question left out": 33,
        "gold audited as TEMPORAL_ERROR, question left out": 26,
        "gold audited as ATTRIBUTION_ERROR, question left out": 24,
        "gold audited as AMBIGUOUS, question left out": 13,
        "gold audited as INCOMPLETE, question left out": 3,
        "gold audited as WRONG_CITATION, question kept": 57,
    }


@needs_the_real_audit
def test_the_audit_is_pinned_to_the_file_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMGAUGE_CACHE", str(tmp_path))
    fetched = fetch.fetch(LoCoMo.card, REAL.parent)
    assert [path.name for path in fetched] == ["locomo10.json", "locomo_audit_errors.json"]
    assert len(LoCoMo(audit=True, dialogues=["conv-30"]).conversation("conv-30").questions) < 105
