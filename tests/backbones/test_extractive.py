"""The extractive backbone answers from its context by rule, and says so when the context does not tell."""

import json
from pathlib import Path
from typing import Any

import bpe_openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgauge import tokens
from memgauge.backbones.base import ChatRequest, Message, Usage
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import ABSTENTION
from memgauge.protocols import prompts

DIALOGUE = (
    "[8 May 2023, 13:56] Ann: I adopted a dog called Rex yesterday!\n",
    "[8 May 2023, 13:57] Bob: Lovely. My sister Carla has three cats and works as a nurse in Lisbon.\n",
    "[9 May 2023, 10:00] Ann: I've been playing the violin for two years. My favourite colour is blue.\n",
    "[12 May 2023, 18:30] Bob: I quit smoking because my doctor was worried about my lungs.\n",
    "[12 May 2023, 18:31] Ann: What did you eat for lunch, Bob?\n",
    "[12 May 2023, 18:32] Bob: Grilled salmon.\n",
    "[20 May 2023, 9:00] Ann: I went to the Blue Note with Eva last Saturday. I don't drink coffee.\n",
)


async def ask(question: str, context: tuple[str, ...] = DIALOGUE, **params: Any) -> str:
    request = ChatRequest.of("Answer the question.", "Conversation:\n", *context, f"Question: {question}", **params)
    return (await Extractive().chat(request)).text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Ann adopt a dog?", "7 May 2023"),
        ("What day did Ann go to the Blue Note?", "Saturday, 13 May 2023"),  # the Saturday before the 20th is the 13th
        ("In which year did Ann start playing the violin?", "2021"),
        ("How many cats does Carla have?", "three cats"),
        ("How long has Ann been playing the violin?", "two years"),
        ("Where does Carla work as a nurse?", "Lisbon"),
        ("Who went to the Blue Note with Ann?", "Eva"),
        ("Does Ann drink coffee?", "No"),
        ("Did Bob quit smoking?", "Yes"),
        ("Did Ann adopt a cat or a dog?", "a dog"),
    ],
)
async def test_the_answer_is_of_the_kind_that_was_asked_for(question: str, expected: str) -> None:
    assert await ask(question) == expected


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("What is the name of Ann's dog?", "Rex"),
        ("Why did Bob quit smoking?", "doctor"),
        ("What did Bob eat for lunch?", "salmon"),
    ],  # the line before asks
)
async def test_the_words_that_fit_best_are_picked(question: str, held: str) -> None:
    answer = await ask(question)
    assert held in answer
    assert len(answer.split()) <= 9


@pytest.mark.parametrize(
    "question",
    [
        "What instrument does Zoe repair on Sundays?",  # nothing of it is told
        "When did Bob adopt a dog?",  # it was Ann
        "Where does Ann go skiing?",
    ],
)
async def test_what_the_conversation_does_not_tell_is_not_answered(question: str) -> None:
    assert await ask(question) == ABSTENTION


async def test_nothing_remembered_is_no_information() -> None:
    messages = prompts.answer_messages((), "When did Ann adopt a dog?")
    assert (await Extractive().chat(ChatRequest(messages))).text == ABSTENTION


async def test_of_two_statements_the_later_wins() -> None:
    later = "[30 May 2023, 12:00] Ann: My favourite colour is green.\n"
    assert "blue" in await ask("What is Ann's favourite colour?")
    assert "green" in await ask("What is Ann's favourite colour?", (*DIALOGUE, later))


async def test_the_answer_is_the_same_where_a_product_sends_one_text() -> None:
    text = "Memories:\n" + "".join(DIALOGUE) + "\nQuestion: When did Ann adopt a dog?\nAnswer:"
    request = ChatRequest((Message.from_wire({"role": "user", "content": text}),))
    assert (await Extractive().chat(request)).text == "7 May 2023"


async def test_earlier_messages_are_context_too() -> None:
    said = (
        Message("user", (DIALOGUE[0],)),
        Message("assistant", ("Nice!",)),
        Message("user", ("When did Ann adopt a dog?",)),
    )
    assert (await Extractive().chat(ChatRequest(said))).text == "7 May 2023"


async def test_a_turn_that_asks_nothing_is_acknowledged_in_few_words() -> None:
    turn = "[8 May 2023, 13:56] Ann: I painted the garden fence with Carla.\n"
    reply = await Extractive().chat(ChatRequest(prompts.reply_messages(DIALOGUE, turn)))
    assert reply.text == "I see: painted, garden, fence, Carla."


async def test_a_turn_that_asks_is_answered() -> None:
    turn = "[8 May 2023, 13:56] Bob: Nice weather. When did you adopt your dog, Ann?\n"
    reply = await Extractive().chat(ChatRequest(prompts.reply_messages(DIALOGUE, turn)))
    assert reply.text == "7 May 2023"


async def test_usage_equals_an_independent_count() -> None:
    encoding = bpe_openai.get_encoding("o200k_base")
    reply = await Extractive().chat(ChatRequest.of("Answer.", *DIALOGUE, "When did Ann adopt a dog?"))
    prompt = len(encoding.encode("Answer.")) + len(encoding.encode("".join(DIALOGUE) + "When did Ann adopt a dog?"))
    assert reply.usage == Usage(
        input=prompt + 2 * 3 + 3, cached=0, output=len(encoding.encode("7 May 2023")), reasoning=0, source="tokenizer"
    )


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
async def test_the_token_limit_cuts_the_reply(limit: str) -> None:
    request = ChatRequest.of("Answer.", *DIALOGUE, "When did Ann adopt a dog?", **{limit: 2})
    reply = await Extractive().chat(request)
    assert (reply.text, reply.usage.output, reply.finish_reason) == ("7 May", 2, "length")


async def test_a_reply_within_the_limit_is_whole() -> None:
    reply = await Extractive().chat(ChatRequest.of("A", *DIALOGUE, "When did Ann adopt a dog?", max_tokens=100))
    assert (reply.text, reply.finish_reason) == ("7 May 2023", "stop")


@pytest.mark.parametrize("stop", [" May", ["zzz", " May"]])
async def test_stop_ends_the_reply(stop: str | list[str]) -> None:
    assert await ask("When did Ann adopt a dog?", stop=stop) == "7"


async def test_the_stream_adds_up_to_the_reply() -> None:
    chunks: list[Any] = []

    async def emit(chunk: Any) -> None:
        chunks.append(chunk)

    reply = await Extractive().chat(ChatRequest.of("A", *DIALOGUE, "When did Ann adopt a dog?"), emit)
    said = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert said == reply.text == "7 May 2023"
    assert chunks[-1]["usage"] == reply.raw["usage"]


async def test_what_was_read_before_changes_no_reply() -> None:
    request = ChatRequest.of("A", *DIALOGUE, "When did Ann adopt a dog?")
    used, fresh = Extractive(), Extractive()
    await used.chat(ChatRequest.of("A", "Ann: I adopted a dog in 2010.\n", *DIALOGUE[::-1], "Who is Eva?"))
    assert await used.chat(request) == await fresh.chat(request)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)
said = st.one_of(
    st.text(max_size=90), st.sampled_from([*DIALOGUE, "Question: who?", "When?", "\n", "Answer:", '{"a":'])
)
messages = st.lists(
    st.builds(
        lambda role, parts: Message(role, tuple(parts)),
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(said, max_size=4),
    ),
    max_size=4,
)
params = st.fixed_dictionaries(
    {},
    optional={
        "response_format": st.one_of(values, st.just({"type": "json_object"})),
        "tool_choice": st.one_of(values, st.just("required")),
        "tools": st.one_of(st.none(), st.lists(values, max_size=2)),
        "stop": st.one_of(st.none(), st.text(max_size=3), st.lists(values, max_size=2)),
        "max_tokens": values,
    },
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=messages, params=params)
async def test_no_request_is_too_odd(messages: list[Message], params: dict[str, Any]) -> None:
    reply = await Extractive().chat(ChatRequest(tuple(messages), params))
    again = await Extractive().chat(ChatRequest(tuple(messages), params))
    assert reply == again
    json.dumps(reply.raw).encode()
    calls = reply.raw["choices"][0]["message"].get("tool_calls", ())
    written = reply.text + "".join(call["function"]["name"] + call["function"]["arguments"] for call in calls)
    assert bool(written) <= bool(reply.usage.output)


async def test_on_real_dialogues_it_finds_a_fair_share_of_answers_in_the_evidence() -> None:
    """A floor under the rules: measured 0.38 token F1 on categories 1 to 4, and 0.62 abstentions on 5."""
    from memgauge.metrics.answers import token_f1
    from memgauge.workloads.locomo import LoCoMo

    path = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip(f"no LoCoMo at {path}")
    backbone = Extractive()
    scores: dict[bool, list[float]] = {True: [], False: []}
    workload = LoCoMo(path=str(path))
    for conversation in map(workload.conversation, workload.items()):
        lines = {turn.id: turn.line() for turn in conversation.turns}
        for question in conversation.questions:
            evidence = tuple(lines[turn] for turn in question.evidence)
            if evidence:
                request = ChatRequest(prompts.answer_messages(evidence, question.text))
                score = token_f1((await backbone.chat(request)).text, question.answers, question.unanswerable)
                scores[question.unanswerable].append(score or 0.0)
    assert sum(scores[False]) / len(scores[False]) > 0.35
    assert sum(scores[True]) / len(scores[True]) > 0.55


def test_tokens_of_the_abstention_are_few() -> None:
    assert tokens.count(ABSTENTION) == 4
