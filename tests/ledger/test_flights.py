"""A process that dies leaves word of the calls that were under way, and the next one enters them."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from memgauge.backbones.base import ChatRequest
from memgauge.ledger.faults import LedgerError
from memgauge.ledger.flights import FILE_NAME, SLOT, Flight, Flights
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger
from memgauge.meter.budget import Spend
from memgauge.runner.spends import open_flights, spent_by_unit
from support import Scripted, new_ledger, open_unit


def flight(seq: int = 1, attempt: int = 1) -> Flight:
    """A call of unit 1 that may be charged for 120 + 30 tokens."""
    return Flight(1, attempt, seq, 4, 120, 30, "answer", "chat", "vendor/some-model")


def test_what_was_sent_is_left_until_it_has_landed(tmp_path: Path) -> None:
    flights = Flights(tmp_path / FILE_NAME)
    first, second = flights.sent(flight(1)), flights.sent(flight(2))
    flights.landed(first)
    assert Flights(tmp_path / FILE_NAME).left() == [flight(2)]
    flights.landed(second)
    assert Flights(tmp_path / FILE_NAME).left() == []


def test_slots_are_used_again(tmp_path: Path) -> None:
    flights = Flights(tmp_path / FILE_NAME)
    for seq in range(1000):
        flights.landed(flights.sent(flight(seq)))
    assert (tmp_path / FILE_NAME).stat().st_size == SLOT


def test_a_name_of_any_length_and_script_fits_a_slot() -> None:
    long = Flight(1, 1, 1, 1, 1, 1, "manage", "embed", "模型" * 200)
    assert len(long.packed()) == SLOT
    assert Flight.unpacked(long.packed()).model.startswith("模型模型")


async def test_the_next_process_enters_what_was_under_way_and_counts_its_worst_case(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted()).chat(ChatRequest.of("s", "u"))  # 1 of attempt 1: 120 in, 1 + 3 out
    Flights(tmp_path / FILE_NAME).sent(flight(seq=2))

    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(tmp_path / "ledger.sqlite"))
        _, left = open_flights(ledger, stack)
        assert left == [flight(seq=2)]
        assert spent_by_unit(ledger, None)[1] == Spend(124 + 150, 0.0)
        row = Frames(tmp_path).calls().row(1, named=True)
    assert (row["outcome"], row["turn"], row["stage"], row["model"]) == (
        "interrupted", 4, "answer", "vendor/some-model",
    )  # fmt: skip
    assert Flights(tmp_path / FILE_NAME).left() == []


async def test_a_call_whose_row_was_written_just_before_the_end_is_not_entered_again(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted()).chat(ChatRequest.of("s", "u"))
    Flights(tmp_path / FILE_NAME).sent(flight(seq=1))

    async with AsyncExitStack() as stack:
        _, left = open_flights(stack.enter_context(Ledger.open(tmp_path / "ledger.sqlite")), stack)
    assert left == []
    assert Frames(tmp_path).calls()["outcome"].to_list() == ["ok"]


async def test_dying_in_the_second_attempt_before_anything_of_it_was_written_is_survived(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "ledger.sqlite")
    first = open_unit(ledger, Scripted("one", "two"))
    await first.chat(ChatRequest.of("s", "a"))
    await first.chat(ChatRequest.of("s", "b"))
    second = open_unit(ledger, Scripted())
    await second.chat(ChatRequest.of("s", "a"))  # replayed: claimed, and not committed
    Flights(tmp_path / FILE_NAME).sent(flight(seq=2, attempt=2))
    ledger._db.close()  # as if killed

    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(tmp_path / "ledger.sqlite"))
        open_flights(ledger, stack)
        third = open_unit(ledger, Scripted("three"))
        replies = [(await third.chat(ChatRequest.of("s", text))).text for text in "abc"]
    assert replies == ["one", "two", "three"]
    assert Frames(tmp_path).lost_calls()["outcome"].to_list() == ["interrupted"]


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    flights = Flights(tmp_path / FILE_NAME)
    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(LedgerError, match=r"cannot write .*in-flight: No space left on device"):
        flights.sent(flight())
