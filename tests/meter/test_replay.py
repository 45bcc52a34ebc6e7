"""What an attempt that died had completed is handed out again, whatever the order in which it is asked for."""

import random
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.backbones.base import ChatReply, ChatRequest, Message, Usage
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.ledger.verify import verify
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import Scripted, new_ledger, open_unit


def ask(number: int) -> ChatRequest:
    return ChatRequest.of("Be brief.", f"Question {number}?\n")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.randoms())
async def test_any_order_is_served_and_entered(tmp_path_factory, asked: list[int], chance: random.Random) -> None:  # type: ignore[no-untyped-def]
    directory = tmp_path_factory.mktemp("replay")
    with new_ledger(directory / "ledger.sqlite") as ledger:
        first = open_unit(ledger, Scripted(*[f"answer {place}" for place in range(len(asked))]))
        told: dict[int, list[str]] = {}
        for number in asked:
            told.setdefault(number, []).append((await first.chat(ask(number))).text)
        for _ in range(3):
            chance.shuffle(asked)
            backbone = Scripted()
            unit = open_unit(ledger, backbone)
            again: dict[int, list[str]] = {}
            for number in asked:
                again.setdefault(number, []).append((await unit.chat(ask(number))).text)
            assert backbone.requests == []
            assert {number: sorted(texts) for number, texts in again.items()} == {
                number: sorted(texts) for number, texts in told.items()
            }
    calls = Frames(directory).calls()
    assert calls["seq"].to_list() == list(range(1, len(asked) + 1))
    assert set(calls["replays"]) == {3}
    assert not [finding for finding in verify(directory) if finding.wrong]


async def test_a_reply_whose_text_is_in_parts_reads_the_same_on_replay(tmp_path: Path) -> None:
    class Parts(Scripted):
        async def chat(self, request, emit=None):  # type: ignore[no-untyped-def]
            content = [{"type": "text", "text": "Two "}, {"type": "text", "text": "parts"}]
            choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
            return ChatReply("Two parts", Usage(input=1, output=2), "m", raw={"choices": [choice]})

    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        texts = [(await open_unit(ledger, Parts()).chat(ask(1))).text for _ in range(2)]
    assert texts == ["Two parts", "Two parts"]


async def test_requests_that_are_alike_are_replayed_for_each_other_and_sent_as_they_are(tmp_path: Path) -> None:
    def alike(request: ChatRequest) -> ChatRequest:
        """Without the first line, which holds the clock."""
        return ChatRequest(tuple(Message(m.role, m.parts[1:], m.extra) for m in request.messages), request.params)

    def at(clock: str, text: str) -> ChatRequest:
        return ChatRequest((Message("user", (f"It is {clock}.\n", text)),))

    def opened(backbone: Scripted):  # type: ignore[no-untyped-def]
        meter = Meter(ledger, Setting(), backbone, Hashing())
        return meter.open(1, attempt=ledger.start_unit(1, 0.0), alike=alike)

    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        first = Scripted("one", "two")
        unit = opened(first)
        await unit.chat(at("10:00", "What now?"))
        await unit.chat(at("10:01", "What then?"))
        second = Scripted()
        unit = opened(second)
        texts = [(await unit.chat(at("12:30", text))).text for text in ("What then?", "What now?")]
    assert texts == ["two", "one"]
    assert second.requests == []
    assert first.requests[0].messages[0].text == "It is 10:00.\nWhat now?"
    assert Frames(tmp_path).prompt(1)[1:] == ["It is 10:00.\n", "What now?"]


async def test_a_judges_calls_are_no_answers_to_the_unit_itself(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted("its own")).chat(ask(1))
        judge = Scripted("the judge's")
        meter = Meter(ledger, Setting(), judge, Hashing())
        assert (await meter.reopen(1).chat(ask(1))).text == "the judge's"
        assert (await meter.reopen(1).chat(ask(1))).text == "the judge's"
        assert len(judge.requests) == 1
        assert (await open_unit(ledger, Scripted()).chat(ask(1))).text == "its own"
