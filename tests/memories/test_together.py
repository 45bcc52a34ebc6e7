"""Calls of one write, side by side."""

import asyncio

import pytest

from memgauge.memories.together import together


async def test_all_are_under_way_at_once_begun_and_given_in_their_order() -> None:
    meeting = asyncio.Barrier(3)
    begun: list[int] = []

    async def one(number: int) -> int:
        begun.append(number)
        async with asyncio.timeout(10):
            await meeting.wait()  # passes when all three are here
        return number

    assert await together(map(one, (3, 1, 2))) == [3, 1, 2]
    assert begun == [3, 1, 2]


async def test_a_fault_is_raised_when_the_others_are_done() -> None:
    done: list[int] = []

    async def one(number: int) -> int:
        if number == 1:
            raise ValueError("no")
        await asyncio.sleep(0)
        done.append(number)
        return number

    with pytest.raises(ValueError, match="no"):
        await together(map(one, (1, 2, 3)))
    assert done == [2, 3]


async def test_nothing_to_do_is_done() -> None:
    assert await together([]) == []
