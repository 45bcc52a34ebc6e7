"""A transcript of the user's is read in the forms people have, and refused with a line that says where and why."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.conversation import Conversation, Question, Turn
from memgauge.errors import UserError
from memgauge.workloads.transcript import Transcript, conversations


def read(text: str, name: str = "chat") -> dict[str, Conversation]:
    return conversations(text.encode(), "chat.jsonl", name)


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def fault(text: str | bytes) -> str:
    """The one line that ``text`` is refused with."""
    with pytest.raises(UserError) as caught:
        conversations(text if isinstance(text, bytes) else text.encode(), "chat.jsonl", "chat")
    assert "\n" not in str(caught.value)
    return str(caught.value)


ANN = {"speaker": "Ann", "text": "I moved to Ghent."}
BO = {"speaker": "Bo", "text": "Lucky you."}


def test_lines_of_turns_and_questions_are_one_conversation() -> None:
    text = lines(
        {**ANN, "id": "a", "time": "2025-03-04T18:30", "session": 1},
        {"question": "Where does Ann live?", "answer": "Ghent", "evidence": "a", "category": "single-hop"},
        {**BO, "time": "2025-03-04T18:31"},
    )
    assert read(text) == {
        "chat": Conversation(
            "chat",
            (
                Turn("a", "Ann", "I moved to Ghent.", datetime(2025, 3, 4, 18, 30), "1"),
                Turn("t2", "Bo", "Lucky you.", datetime(2025, 3, 4, 18, 31)),
            ),
            (Question("chat/q0", "Where does Ann live?", ("Ghent",), "single-hop", ("a",)),),
        )
    }


def test_openai_messages_are_a_conversation_without_what_nobody_said() -> None:
    document = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Book a table for two."},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "assistant", "content": [{"type": "text", "text": "Booked."}, {"type": "image_url"}]},
        ]
    }
    conversation = read(json.dumps(document, indent=2))["chat"]
    assert [(turn.id, turn.speaker, turn.text) for turn in conversation.turns] == [
        ("t1", "user", "Book a table for two."), ("t2", "tool", "done"), ("t3", "assistant", "Booked."),
    ]  # fmt: skip
    assert conversation.anomalies == {
        "system message, left out": 1,
        "message without text, left out": 1,
        "part of a message without text, left out": 1,
    }


def test_lines_of_openai_conversations_are_numbered_unless_they_have_ids() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    assert list(read(lines({"messages": messages}, {"messages": messages, "id": 7}))) == ["chat-1", "7"]


@pytest.mark.parametrize("as_list", [False, True])
def test_sharegpt_is_read_as_lines_and_as_a_list(as_list: bool) -> None:
    share = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}],
             "questions": [{"question": "Who says hello?", "answers": ["gpt", "the assistant"]}]}  # fmt: skip
    found = read(json.dumps([share, share]) if as_list else lines(share, share))
    assert list(found) == ["chat-1", "chat-2"]
    assert [turn.speaker for turn in found["chat-2"].turns] == ["human", "gpt"]
    assert found["chat-2"].questions == (Question("chat-2/q0", "Who says hello?", ("gpt", "the assistant")),)


def test_a_list_of_messages_is_one_conversation() -> None:
    assert len(read(json.dumps([{"role": "user", "content": "Hi"}] * 3))["chat"].turns) == 3


def test_an_unanswerable_question_needs_no_answer() -> None:
    text = lines(ANN, {"question": "What is Ann's car?", "unanswerable": True, "trap": "a van"})
    (question,) = read(text)["chat"].questions
    assert question.unanswerable
    assert (question.answers, question.trap) == (("No information available.",), "a van")


def test_numbers_are_texts_where_texts_are_meant() -> None:
    text = lines({**ANN, "id": 1}, {"question": "When?", "answer": 2022, "evidence": [1, "1"], "category": 2})
    (question,) = read(text)["chat"].questions
    assert (question.answers, question.evidence, question.category) == (("2022",), ("1",), "2")


def test_times_may_have_a_zone() -> None:
    (turn,) = read(lines({**ANN, "time": "2025-03-04T18:30:00Z"}))["chat"].turns
    assert turn.time == datetime(2025, 3, 4, 18, 30, tzinfo=UTC)


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_do_no_harm() -> None:
    text = "\ufeff" + json.dumps(ANN) + "\r\n\r\n" + json.dumps(BO) + "\r\n"
    assert len(read(text)["chat"].turns) == 2


def test_a_line_separator_inside_a_text_does_not_cut_the_line() -> None:
    text = json.dumps({"speaker": "Ann", "text": "one\u2028two"}, ensure_ascii=False) + "\n" + json.dumps(BO)
    assert read(text)["chat"].turns[0].text == "one\u2028two"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "chat.jsonl: the file is empty; expected turns as JSON or JSONL"),
        ("\n \n", "chat.jsonl: the file is empty"),
        ("[]", "chat.jsonl: no turns; expected turns"),
        ('{"messages": []}', "chat.jsonl: no turns; expected turns"),
        (lines({"question": "Who?", "answer": "Ann"}), "chat.jsonl: no turns"),
        (lines(ANN, BO) + '{"speaker": "Ann", ', "chat.jsonl:3: malformed JSON: input data was truncated"),
        ("hello\nworld\n", "chat.jsonl:1: malformed JSON: "),
        ('{\n "messages": [\n  {"role": "user", "content": "Hi",}\n ]\n}', "chat.jsonl:3: malformed JSON: "),
        ("[" * 100_000, "chat.jsonl:1: malformed JSON: nested too deep"),
        (lines(ANN, 7), "chat.jsonl:2: expected an object, got a number"),
        ('[["a"]]', "chat.jsonl: [0]: expected an object, got a list"),
        ("null", "chat.jsonl: expected an object, got null"),
        (lines(ANN, {"hello": 1}), 'chat.jsonl:2: expected turns {"speaker", "text"}'),
        (lines(ANN, {"speaker": "Bo", "text": "  "}), "chat.jsonl:2: text is empty; expected text"),
        (lines(ANN, {"speaker": "Bo"}), "chat.jsonl:2: text: expected text, got nothing"),
        (lines({"speaker": "", "text": "Hi"}), "chat.jsonl: speaker is empty"),
        (lines(ANN, {"speaker": "Bo", "text": 5}), "chat.jsonl:2: text: expected text, got a number"),
        (lines({"role": "user", "content": ""}), "chat.jsonl: content is empty"),
        (lines({**ANN, "id": "a"}, {**BO, "id": "a"}), "chat.jsonl:2: turn id 'a' occurs twice"),
        (lines({**ANN, "id": "t2"}, BO), "chat.jsonl:2: turn id 't2' occurs twice"),
        (lines({**ANN, "id": True}, BO), "chat.jsonl:1: id: expected text or a number, got true or false"),
        (
            lines({**ANN, "time": "2025-03-04"}, {**BO, "time": "2025-03-03"}),
            "chat.jsonl:2: time 2025-03-03T00:00:00 is before the turn above; expected turns in order",
        ),
        (
            lines({**ANN, "time": "2025-03-04"}, BO, {**BO, "time": "2025-03-03"}),
            "chat.jsonl:3: time 2025-03-03T00:00:00 is before",
        ),
        (
            lines({**ANN, "time": "2025-03-04"}, {**BO, "time": "2025-03-05T00:00Z"}),
            "chat.jsonl:2: a time with a zone beside times without",
        ),
        (lines({**ANN, "time": "yesterday"}), "chat.jsonl: time 'yesterday': expected ISO 8601"),
        (lines({**ANN, "time": 1714}), "chat.jsonl: time: expected ISO 8601"),
        (
            lines(ANN, {"question": "Who?", "answer": "Ann", "evidence": ["t9"]}),
            "chat.jsonl:2: evidence names no turn: 't9'; expected turn ids such as 't1'",
        ),
        (lines(ANN, {"question": "Who?"}), 'chat.jsonl:2: expected "answer" or "answers" beside "question"'),
        (lines(ANN, {"question": " ", "answer": 1}), "chat.jsonl:2: question is empty"),
        (lines(ANN, {"question": "Who?", "answers": [None]}), "chat.jsonl:2: answers[0]: expected text or a number"),
        (lines(ANN, {"question": "Who?", "unanswerable": "yes"}), "chat.jsonl:2: unanswerable: expected true or"),
        (
            lines(ANN, *[{"question": "Who?", "answer": "Ann", "id": "q"}] * 2),
            "chat.jsonl:3: question id 'q' occurs twice",
        ),
        (lines({"messages": 5}), "chat.jsonl: messages: expected a list, got a number"),
        (
            lines({"messages": [{"role": "user", "content": "Hi"}]}, {"messages": [{"role": "user"}]}),
            "chat.jsonl:2: messages[0]: content: expected text, got nothing",
        ),
        (
            lines(*[{"id": "c", "messages": [{"role": "user", "content": "Hi"}]}] * 2),
            "chat.jsonl:2: conversation id 'c' occurs twice",
        ),
        (lines({"messages": [{"role": "user", "content": "Hi"}]}, ANN), "chat.jsonl:2: a lone turn or question"),
        (b'{"speaker": "Ann", "text": "Hi"}\n{"speaker": "\xff"}\n', "chat.jsonl:2: not UTF-8 text"),
        (json.dumps(ANN).encode("utf-16"), "chat.jsonl:1: not UTF-8 text"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(text: str | bytes, message: str) -> None:
    assert fault(text).startswith(message)


@pytest.mark.parametrize("place", ["missing.jsonl", ".", "x" * 5000])
def test_a_path_that_is_no_file_is_named(tmp_path: Path, place: str) -> None:
    with pytest.raises(UserError, match=place[:50]):
        Transcript(str(tmp_path / place))


def test_a_file_is_called_after_its_name(tmp_path: Path) -> None:
    file = tmp_path / "my chat.jsonl"
    file.write_text(lines(ANN, BO), encoding="utf-8")
    workload = Transcript(str(file))
    assert workload.items() == ("my chat",)
    assert len(workload.conversation("my chat").turns) == 2
    with pytest.raises(UserError, match="unknown conversation 'other'"):
        workload.conversation("other")


def a_conversation_or_one_line(content: bytes) -> None:
    try:
        found = conversations(content, "chat.jsonl", "chat")
    except UserError:
        return
    assert found
    assert all(conversation.turns for conversation in found.values())


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_are_beyond_it(content: bytes) -> None:
    a_conversation_or_one_line(content)


KEYS = st.sampled_from(
    ["speaker", "text", "role", "content", "from", "value", "messages", "conversations", "turns", "questions",
     "question", "answer", "answers", "evidence", "id", "time", "session", "category", "tool_calls",
     "unanswerable", "trap"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["Ann", "", "t1", "2025-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00", "system", "Hi"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)
TURNS = st.fixed_dictionaries({"speaker": WORDS, "text": WORDS}, optional={"id": VALUES, "time": WORDS})
QUESTIONS = st.fixed_dictionaries({"question": WORDS, "answer": VALUES}, optional={"evidence": VALUES})


@settings(max_examples=400, deadline=None)
@given(st.lists(TURNS | QUESTIONS | VALUES, max_size=5), st.booleans())
def test_no_json_is_beyond_it(values: list[Any], as_lines: bool) -> None:
    text = "\n".join(map(json.dumps, values)) if as_lines else json.dumps(values)
    a_conversation_or_one_line(text.encode())
