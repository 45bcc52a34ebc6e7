"""Calls of one write that do not depend on each other, made side by side."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Made = TypeVar("Made")


async def together(asks: Iterable[Coroutine[Any, Any, Made]]) -> list[Made]:
    """What each gives, in their order, in which they are also begun.

    Where one raises, the others are waited for and the first fault is raised: a call that outlived its write would be
    charged to another.
    """
    made = await asyncio.gather(*asks, return_exceptions=True)
    for one in made:
        if isinstance(one, BaseException):
            raise one
    return [one for one in made if not isinstance(one, BaseException)]
