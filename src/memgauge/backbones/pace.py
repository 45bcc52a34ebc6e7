"""How many calls a server is given at a time: it says by refusing them (429), and is believed.

Additive increase, multiplicative decrease, as in TCP (RFC 5681): halved when calls are refused, one more for every
round that was taken. A server that names a wait is left alone by all calls, not by the refused one alone.
"""

import asyncio
import random
import time
from collections import deque

_SPREAD_S = 0.25  # so that those who waited for the same moment do not come in the same moment


class Pace:
    """Slots for calls to one server, at most ``most`` of them."""

    def __init__(self, most: int) -> None:
        self.limit = float(most)
        self._most = most
        self._busy = 0
        self._round = 0  # counts the decreases: refusals of one round are one word of the server's
        self._resumes_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Waits for a slot; returns the round that it belongs to. Every ``enter`` is followed by a ``leave``."""
        while self._busy >= max(1, int(self.limit)):
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()  # the slot that was meant for us
                else:
                    self._waiting.remove(waiter)
                raise
        self._busy += 1
        try:
            while (pause_s := self._resumes_at - time.monotonic()) > 0:  # noqa: ASYNC110 - a clock is waited for
                await asyncio.sleep(pause_s + random.uniform(0, min(_SPREAD_S, pause_s)))
        except BaseException:
            self.leave()
            raise
        return self._round

    def leave(self) -> None:
        """Gives the slot back."""
        self._busy -= 1
        self._wake()

    def taken(self) -> None:
        """A call was taken."""
        self.limit = min(float(self._most), self.limit + 1 / self.limit)
        self._wake()

    def refused(self, entered: int, wait_s: float | None) -> None:
        """A call that entered in round ``entered`` came too fast; the server asks for ``wait_s``, if it says so."""
        if entered == self._round:
            self._round += 1
            self.limit = max(1.0, self.limit / 2)
        if wait_s is not None:
            self._resumes_at = max(self._resumes_at, time.monotonic() + wait_s)

    def _wake(self) -> None:
        free = max(1, int(self.limit)) - self._busy
        while self._waiting and free > 0:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1
