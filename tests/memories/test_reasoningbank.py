"""ReasoningBank: what a session or a task teaches, how it is found again, and what a bad reply leaves of it."""

import asyncio
import json
import pickle
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Usage
from memgauge.conversation import Turn
from memgauge.memories.base import Item, Recalled
from memgauge.memories.reasoningbank import ReasoningBank
from memgauge.memories.trajectories import Trajectory
from memgauge.workloads.locomo import LoCoMo

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"
COLOURS = ("red", "green", "blue")


class Colours:
    """Embeds by the colours that a text names: similarity is chosen by the test."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        return np.array([[float(text.count(word)) for word in COLOURS] for text in texts], np.float32)


def lesson(name: str) -> dict[str, str]:
    return {"title": name, "description": f"{name} matters.", "content": f"Do {name}."}


def lessons(*names: str) -> str:
    return json.dumps({"lessons": [lesson(name) for name in names]})


def verdict(task: str, status: str = "done") -> str:
    return json.dumps({"task": task, "reason": "because", "status": status})


# Words by which an instruction is known.
KINDS = {
    "judge": "judge by the record", "extract": "at most three lessons", "contrast": "compare them",
    "re-examine": "once more", "merge": "two lists",
}  # fmt: skip


class Thinking:
    """Answers each kind of instruction from a list of its own, with its last reply over and over.

    Stands in for the handle of a unit as well, and keeps requests and faults.
    """

    def __init__(self, **replies: Sequence[str]) -> None:
        self.replies = {kind.replace("_", "-"): list(given) for kind, given in replies.items()}
        self.asked: list[tuple[str, str]] = []  # kind, user text
        self.instructions: list[str] = []
        self.faults: list[str] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        instruction = request.messages[0].text
        [kind] = [kind for kind, words in KINDS.items() if words in instruction.lower()]
        self.instructions.append(instruction)
        self.asked.append((kind, request.messages[1].text))
        given = self.replies[kind]
        return ChatReply(given.pop(0) if len(given) > 1 else given[0], Usage(), "m")

    def fault(self, what: str, reply: str | None = None) -> None:
        self.faults.append(what)


def bank(thinking: Thinking, embedder: Colours | None = None, **options: Any) -> ReasoningBank:
    return ReasoningBank(thinking, embedder or Colours(), **options)  # type: ignore[arg-type]


def turn(number: int, session: str, text: str = "hello") -> Turn:
    return Turn(f"{session}/t{number}", "Ann", text, session=session)


def session(name: str, count: int = 2) -> list[Turn]:
    return [turn(number, name, f"{name} {number}") for number in range(1, count + 1)]


def texts(recalled: Recalled) -> list[str]:
    return [item.text for item in recalled.items]


def attempt(name: str, task: str | None = "red lamp", succeeded: bool | None = None) -> Trajectory:
    return Trajectory((Item(f"{name} looks", (f"{name}1",)), Item(f"{name} takes", (f"{name}2",))), task, succeeded)


async def test_a_session_that_is_over_takes_a_judge_and_an_extraction() -> None:
    thinking = Thinking(judge=[verdict("red things")], extract=[lessons("A", "B")])
    embedder = Colours()
    memory = bank(thinking, embedder)
    await memory.write(session("s1"))
    assert thinking.asked == []
    await memory.write(session("s2", 1))
    assert thinking.asked == [
        ("judge", "Ann: s1 1\nAnn: s1 2\nThat is the end of the record.\n"),
        ("extract", "What was wanted: red things\nAnn: s1 1\nAnn: s1 2\nThat is the end of the record.\n"),
    ]
    assert embedder.calls == [["red things"]]
    recalled = await memory.read("red?")
    assert texts(recalled) == ["- A – A matters. – Do A.\n- B – B matters. – Do B.\n", "Ann: s2 1\n"]
    assert [item.turn_ids for item in recalled.items] == [("s1/t1", "s1/t2"), ("s2/t1",)]


async def test_the_outcome_chooses_the_instruction() -> None:
    thinking = Thinking(judge=[verdict("red"), verdict("blue", "failed")], extract=[lessons("A")])
    await bank(thinking).write([*session("s1"), *session("s2"), *session("s3")])
    assert [kind for kind, _ in thinking.asked] == ["judge", "judge", "extract", "extract"]
    assert "that succeeded" in thinking.instructions[2]
    assert "did not reach" in thinking.instructions[3]


async def test_all_lessons_of_the_record_with_the_nearest_task_are_recalled() -> None:
    judged = [verdict("red"), verdict("green green"), verdict("blue")]
    thinking = Thinking(judge=judged, extract=[lessons("A"), lessons("B", "C"), lessons("D")])
    turns = [*session("s1"), *session("s2"), *session("s3"), *session("s4", 1)]
    memory = bank(thinking)
    await memory.write(turns)
    recalled = await memory.read("green blue green")
    assert texts(recalled)[0] == "- B – B matters. – Do B.\n- C – C matters. – Do C.\n"
    assert recalled.ranked == (("s2/t1", "s2/t2"), ("s4/t1",))

    two = bank(Thinking(judge=judged, extract=[lessons("A"), lessons("B"), lessons("D")]), n=2)
    await two.write(turns)
    recalled = await two.read("red blue blue")
    # blue is nearer; in the prompt the records stand in the order in which they came
    assert [item.turn_ids for item in recalled.items] == [("s1/t1", "s1/t2"), ("s3/t1", "s3/t2"), ("s4/t1",)]
    assert recalled.ranked == (("s3/t1", "s3/t2"), ("s1/t1", "s1/t2"), ("s4/t1",))


async def test_paper_two_finds_single_lessons_by_their_own_text() -> None:
    thinking = Thinking(judge=[verdict("blue")], extract=[lessons("red", "green"), lessons("blue")])
    embedder = Colours()
    memory = bank(thinking, embedder, find_by="lesson")
    await memory.write([*session("s1"), *session("s2"), turn(1, "s3")])
    assert embedder.calls[0] == [f"- {name} – {name} matters. – Do {name}.\n" for name in ("red", "green", "blue")]
    recalled = await memory.read("green?")
    assert texts(recalled) == ["- green – green matters. – Do green.\n", "Ann: hello\n"]
    assert recalled.items[0].turn_ids == ("s1/t1", "s1/t2")
    # A session is held once, however many lessons came from it; a key is three float32.
    held = [*embedder.calls[0], *(f"Ann: {name} {place}\n" for name in ("s1", "s2") for place in (1, 2))]
    assert memory.footprint().bytes == sum(len(text.encode()) for text in [*held, "Ann: hello\n"]) + 3 * 3 * 4


async def test_no_more_than_three_lessons_are_taken_from_one_attempt() -> None:
    thinking = Thinking(judge=[verdict("red")], extract=[lessons("A", "B", "C", "D")])
    memory = bank(thinking)
    await memory.write([*session("s1"), *session("s2", 1)])
    assert memory.state() == {"records": 1, "lessons": 3, "pending_tokens": tokens.count("Ann: s2 1\n")}
    assert thinking.faults == ["extract from success: the reply gave 'lessons' in another form"]


async def test_locomo_takes_two_calls_a_session_less_the_last_of_each_dialogue() -> None:
    if not LOCOMO.is_file():
        pytest.skip(f"no LoCoMo at {LOCOMO}")
    asked: Counter[str] = Counter()
    workload = LoCoMo(path=str(LOCOMO))
    for conversation in map(workload.conversation, workload.items()):
        thinking = Thinking(judge=[verdict("red")], extract=[lessons("A")])
        memory = bank(thinking)
        for said in conversation.turns:
            await memory.write([said])
            await memory.manage()
        asked.update(kind for kind, _ in thinking.asked)
    # 272 sessions in 10 dialogues, of which the last one of each is not over.
    assert asked == {"judge": 262, "extract": 262}


async def test_sessions_that_end_in_one_write_are_worked_on_side_by_side() -> None:
    meeting = asyncio.Barrier(3)

    class Waiting(Thinking):
        async def chat(self, request: ChatRequest) -> ChatReply:
            async with asyncio.timeout(10):
                await meeting.wait()  # passes when three calls are under way
            return await super().chat(request)

    thinking = Waiting(judge=[verdict("red")], extract=[lessons("A")])
    memory = bank(thinking)
    await memory.write([*session("s1"), *session("s2"), *session("s3"), *session("s4", 1)])
    assert memory.state()["records"] == 3


@pytest.mark.parametrize("reply", ["It went well.", '{"task": ["red"], "status": "maybe"}', ""])
async def test_a_session_whose_task_was_not_named_is_found_by_any_of_its_turns(reply: str) -> None:
    thinking = Thinking(judge=[verdict("blue"), reply], extract=[lessons("A"), lessons("B")])
    memory = bank(thinking)
    await memory.write([*session("s1"), turn(1, "s2"), turn(2, "s2", "the green door"), turn(1, "s3")])
    assert texts(await memory.read("green?"))[0] == "- B – B matters. – Do B.\n"
    assert texts(await memory.read("blue?"))[0] == "- A – A matters. – Do A.\n"
    assert [fault.split(":")[0] for fault in thinking.faults] == ["judge"]
    assert "did not reach" in thinking.instructions[-1]  # nobody said that it succeeded


@pytest.mark.parametrize("reply", ["Be kind.", '{"lessons": "be kind"}', '{"lessons": [7]}', lessons(), ""])
async def test_where_no_lesson_was_drawn_the_session_is_recalled_as_it_was_said(reply: str) -> None:
    thinking = Thinking(judge=[verdict("red")], extract=[reply])
    memory = bank(thinking)
    await memory.write([*session("s1"), turn(1, "s2")])
    recalled = await memory.read("red?")
    assert texts(recalled) == ["Ann: s1 1\n", "Ann: s1 2\n", "Ann: hello\n"]
    assert [item.turn_ids for item in recalled.items] == [("s1/t1",), ("s1/t2",), ("s2/t1",)]
    assert bool(thinking.faults) == (reply != lessons())  # that there is nothing to learn is no fault


async def test_a_record_that_no_query_can_find_is_always_recalled() -> None:
    class Failing(Colours):
        async def embed(self, texts: Sequence[str]) -> Any:
            vectors = await super().embed(texts)
            return np.zeros_like(vectors) if texts == ["lost"] else vectors

    thinking = Thinking(judge=[verdict("lost"), verdict("red")], extract=[lessons("A"), lessons("B")])
    memory = bank(thinking, Failing())
    await memory.write([*session("s1"), *session("s2"), turn(1, "s3")])
    recalled = await memory.read("red?")
    assert [item.turn_ids for item in recalled.items] == [("s1/t1", "s1/t2"), ("s2/t1", "s2/t2"), ("s3/t1",)]
    assert recalled.ranked == (("s2/t1", "s2/t2"), ("s1/t1", "s1/t2"), ("s3/t1",))


async def test_where_the_window_is_full_the_oldest_pending_turns_are_dropped() -> None:
    memory = bank(Thinking(), context_tokens=2 * tokens.count("Ann: s1 1\n"))
    await memory.write(session("s1", 5))
    recalled = await memory.read("red?")
    assert texts(recalled) == ["Ann: s1 4\n", "Ann: s1 5\n"]
    assert recalled.dropped_turns == 3


async def test_a_task_with_a_known_outcome_is_not_judged() -> None:
    thinking = Thinking(judge=['{"reason": "it is lit", "status": "done"}'], extract=[lessons("A")])
    memory = bank(thinking)
    await memory.write_trajectories([attempt("x", succeeded=False), attempt("y")])
    assert [kind for kind, _ in thinking.asked] == ["judge", "extract", "extract"]
    told = "What was wanted: red lamp\ny looks\ny takes\nThat is the end of the record.\n"
    assert thinking.asked[0][1] == told
    assert "did not reach" in thinking.instructions[1]
    assert "that succeeded" in thinking.instructions[2]


async def test_several_attempts_at_one_task_are_contrasted_in_one_call() -> None:
    thinking = Thinking(
        judge=['{"reason": "lit", "status": "done"}', '{"reason": "dark", "status": "failed"}'],
        contrast=[lessons("A", "B", "C", "D", "E", "F")],
    )
    memory = bank(thinking)
    await memory.write_rollouts([attempt("x"), attempt("y")])
    assert [kind for kind, _ in thinking.asked] == ["judge", "judge", "contrast"]
    assert thinking.asked[2][1] == (
        "What was wanted: red lamp\nAttempt 1, done:\nx looks\nx takes\nAttempt 2, failed:\ny looks\ny takes\n"
        "That is the end of the record.\n"
    )
    assert memory.state() == {"records": 1, "lessons": 5, "pending_tokens": 0}
    [item] = (await memory.read("red?")).items
    assert item.turn_ids == ("x1", "x2", "y1", "y2")


async def test_an_attempt_that_was_gone_through_again_teaches_with_what_was_found() -> None:
    thinking = Thinking(
        re_examine=["Look under the table first.", "Look there twice."],
        judge=['{"reason": "lit", "status": "done"}'], extract=[lessons("A")],
    )  # fmt: skip
    memory = bank(thinking)
    better = await memory.re_examined(await memory.re_examined(attempt("x")))
    await memory.write_trajectories([better])
    assert [kind for kind, _ in thinking.asked] == ["re-examine", "re-examine", "judge", "extract"]
    again = "Re-examined:\nLook under the table first.\nRe-examined:\nLook there twice.\n"
    assert f"x takes\n{again}" in thinking.asked[3][1]


async def test_what_could_not_be_gone_through_again_stays_as_it_was() -> None:
    assert await bank(Thinking(re_examine=[" "])).re_examined(attempt("x")) == attempt("x")


async def test_records_of_tasks_that_are_alike_are_merged_in_manage() -> None:
    judged = [verdict("red"), verdict("blue"), verdict("red red green")]
    extracted = [lessons("A"), lessons("B"), lessons("C")]
    thinking = Thinking(judge=judged, extract=extracted, merge=[lessons("AC")])
    # cosine of (1, 0, 0) and (2, 1, 0) is 2/√5 = 0.89, of (0, 0, 1) and (2, 1, 0) it is 0
    memory = bank(thinking, merge_from=0.8)
    for said in [*session("s1"), *session("s2"), *session("s3"), turn(1, "s4")]:
        await memory.write([said])
        await memory.manage()
    kind, shown = thinking.asked[-1]
    assert (kind, shown) == ("merge", "Older:\n- A – A matters. – Do A.\nNewer:\n- C – C matters. – Do C.\n")
    assert [kind for kind, _ in thinking.asked].count("merge") == 1
    assert memory.state()["records"] == 2
    for query in ("red?", "green?"):  # the older one's task leads there too
        item = (await memory.read(query)).items[0]
        assert item.text == "- AC – AC matters. – Do AC.\n"
        assert item.turn_ids == ("s1/t1", "s1/t2", "s3/t1", "s3/t2")


@pytest.mark.parametrize(("least", "merges"), [(None, 0), (0.95, 0), (0.8, 1)])
async def test_what_is_not_near_enough_is_left_alone(least: float | None, merges: int) -> None:
    judged = [verdict("red"), verdict("red red green")]
    thinking = Thinking(judge=judged, extract=[lessons("A")], merge=["No."])
    memory = bank(thinking, merge_from=least)
    await memory.write([*session("s1"), *session("s2"), turn(1, "s3")])
    await memory.manage()
    await memory.manage()
    assert [kind for kind, _ in thinking.asked].count("merge") == merges
    assert memory.state()["records"] == 2  # the reply was of no use: both stay


async def test_what_the_footprint_counts_is_enough_to_answer_from() -> None:
    thinking = Thinking(judge=[verdict("red"), verdict("blue")], extract=[lessons("A"), ""])
    memory = bank(thinking)
    await memory.write([*session("s1"), *session("s2"), turn(1, "s3")])
    records, rows, owners, pending = pickle.loads(
        pickle.dumps((memory._records, memory._keys.vectors, memory._owners, memory._sessions.pending))
    )
    held = ["red", "- A – A matters. – Do A.\n", "Ann: s1 1\n", "Ann: s1 2\n", "blue", "Ann: s2 1\n", "Ann: s2 2\n"]
    held.append("Ann: hello\n")
    # two keys of three float32
    assert memory.footprint().bytes == sum(len(text.encode()) for text in held) + 2 * 3 * 4

    other = bank(Thinking())
    await other._keys.add(["red", "blue"])
    assert (other._keys.vectors == rows).all()
    other._records, other._owners, other._sessions.pending = records, owners, pending
    for query in ("red?", "blue?"):
        assert await other.read(query) == await memory.read(query)


@pytest.mark.parametrize("options", [{"n": 0}, {"session_tokens": 0}, {"merge_from": 0.0}, {"find_by": "x"}])
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|find_by"):
        bank(Thinking(), **options)
