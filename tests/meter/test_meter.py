"""Every call is attributed, recorded before it is answered, and never paid twice."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from memgauge.backbones.base import ChatRequest, Message, UpstreamError, Usage
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.meter.budget import Budget, BudgetExceeded
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from support import Scripted, new_ledger, open_unit, refusal

HELLO = ChatRequest.of("Be brief.", "Hello\n", "Ann: hi\n", max_tokens=5)


async def test_a_call_stands_in_the_ledger_under_its_turn_and_stage(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted("Hi Ann."), Setting(temperature=0.0))
        with unit.scope(7, "answer", "q1"):
            reply = await unit.chat(HELLO)

    [row] = Frames(tmp_path).calls().rows(named=True)
    assert reply.text == "Hi Ann."
    assert (row["turn"], row["stage"], row["question"], row["background"]) == (7, "answer", "q1", 0)
    assert (row["input_tokens"], row["cached_tokens"], row["output_tokens"], row["reasoning_tokens"]) == (100, 20, 2, 3)
    assert (row["cache_write_tokens"], row["embedding_tokens"], row["usage_source"]) == (None, None, "upstream")
    assert (row["outcome"], row["attempts"], row["seq"]) == ("ok", 1, 1)
    assert Frames(tmp_path).prompt(row["call"]) == ["\x02system", "Be brief.", "\x02user", "Hello\n", "Ann: hi\n"]


async def test_a_call_outside_any_scope_is_background_work_of_the_last_turn(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        with unit.scope(3, "write"):
            pass
        await unit.chat(HELLO)

    [row] = Frames(tmp_path).calls().rows(named=True)
    assert (row["turn"], row["stage"], row["background"]) == (3, "manage", 1)


async def test_a_unit_has_at_most_one_open_scope(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        with unit.scope(1, "read"), pytest.raises(RuntimeError, match="already in"), unit.scope(1, "answer"):
            pass


async def test_the_row_is_on_disk_before_the_answer_is_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with new_ledger(path) as ledger:
        await open_unit(ledger, Scripted()).chat(HELLO)

        other = sqlite3.connect(path)
        assert other.execute("SELECT count(*) FROM calls WHERE outcome = 'ok'").fetchone() == (1,)
        other.close()


async def test_a_failed_call_is_recorded_with_what_it_used_and_raised(tmp_path: Path) -> None:
    fault = UpstreamError("cut off", status=502, kind="malformed", attempts=3, usage=Usage(input=9))
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted(fault))
        with pytest.raises(UpstreamError):
            await unit.chat(HELLO)

    [row] = Frames(tmp_path).calls().rows(named=True)
    assert (row["outcome"], row["status"], row["attempts"], row["error"]) == ("malformed", 502, 3, "cut off")
    assert (row["input_tokens"], row["output_tokens"], row["reply"]) == (9, None, None)


async def test_a_second_attempt_is_served_from_the_record_and_pays_only_for_what_is_new(tmp_path: Path) -> None:
    other = ChatRequest.of("Be brief.", "Bye\n")
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        first = open_unit(ledger, Scripted("one", "two"))
        await first.chat(HELLO)
        await first.chat(HELLO)
        await first.embed(["red", "green"])

        backbone = Scripted("three")
        second = open_unit(ledger, backbone)
        texts = [(await second.chat(request)).text for request in (HELLO, HELLO, other)]
        vectors = (await second.embed(["red", "green"])).vectors

    assert texts == ["one", "two", "three"]
    assert len(backbone.requests) == 1
    assert vectors.tolist() == (await Hashing().embed(["red", "green"])).vectors.tolist()
    calls = Frames(tmp_path).calls()
    assert calls["kind"].to_list() == ["chat", "chat", "chat", "embed"]
    assert calls["seq"].to_list() == [1, 2, 3, 4]
    assert calls["replays"].to_list() == [1, 1, 0, 1]
    assert Frames(tmp_path).lost_calls().is_empty()


async def test_spend_that_a_new_attempt_does_not_ask_for_again_is_lost_not_forgotten(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted("one")).chat(HELLO)
        await open_unit(ledger, Scripted("two")).chat(ChatRequest.of("Be brief.", "Other\n"))

    assert Frames(tmp_path).calls().height == 1
    assert Frames(tmp_path).lost_calls().height == 1


async def test_lone_surrogates_anywhere_in_a_request_are_recorded_not_fatal(tmp_path: Path) -> None:
    request = ChatRequest((Message("user", ("a \ud800 b\n",), {"name": "\ud800"}),), {"stop": ["\udfff"]})
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted()).chat(request)

    [row] = Frames(tmp_path).calls().rows(named=True)
    assert Frames(tmp_path).text(row["params"]) == '{"model":"scripted-1","stop":["\ufffd"],"temperature":0.0}'
    assert Frames(tmp_path).prompt(row["call"])[1] == "a \ufffd b\n"


async def test_failed_calls_are_asked_afresh(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted(refusal()))
        with pytest.raises(UpstreamError):
            await unit.chat(HELLO)
        assert (await open_unit(ledger, Scripted("now")).chat(HELLO)).text == "now"


async def test_a_stopped_call_is_on_record_as_interrupted(tmp_path: Path) -> None:
    class Slow(Scripted):
        async def chat(self, request, emit=None):  # type: ignore[no-untyped-def]
            await asyncio.sleep(60)

    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        task = asyncio.create_task(open_unit(ledger, Slow()).chat(HELLO))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert Frames(tmp_path).calls()["outcome"].to_list() == ["interrupted"]


async def test_streamed_chunks_are_emitted_afresh_and_on_replay(tmp_path: Path) -> None:
    seen: list[str] = []

    async def emit(chunk):  # type: ignore[no-untyped-def]
        seen.extend(choice["delta"].get("content", "") for choice in chunk["choices"])

    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted("streamed")).chat(HELLO, emit)
        await open_unit(ledger, Scripted()).chat(HELLO, emit)

    assert "".join(seen) == "streamedstreamed"


async def test_a_call_that_could_pass_the_budget_is_not_sent(tmp_path: Path) -> None:
    backbone = Scripted()
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), backbone, Hashing(), budget=Budget(max_tokens=10)).open(1)
        with pytest.raises(BudgetExceeded):
            await unit.chat(HELLO)

    assert backbone.requests == []
    assert Frames(tmp_path).calls().is_empty()


async def test_concurrent_units_lose_no_rows(tmp_path: Path) -> None:
    from support import unit_record

    with new_ledger(tmp_path / "ledger.sqlite", [unit_record(n) for n in range(1, 9)]) as ledger:

        async def play(number: int) -> None:
            unit = open_unit(ledger, Scripted(), unit=number)
            for turn in range(1, 26):
                with unit.scope(turn, "answer"):
                    await unit.chat(ChatRequest.of("Be brief.", f"Turn {turn} of {number}\n"))

        await asyncio.gather(*(play(number) for number in range(1, 9)))

    counts = Frames(tmp_path).calls().group_by("unit").len().sort("unit")
    assert counts["len"].to_list() == [25] * 8
