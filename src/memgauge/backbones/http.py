"""One OpenAI-compatible server: what is sent to it, and the patience that it is given.

The key is sent and told to nobody: where a server repeats it in an answer it is blotted out.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar
from urllib.parse import urlsplit

from memgauge.backbones.base import Json, Usage, another_attempt
from memgauge.backbones.connection import BrokenOff, Connection, Pool, TooSlow, Unreachable
from memgauge.backbones.faults import Fault, malformed, opened, refusal, together
from memgauge.backbones.pace import Pace
from memgauge.errors import UserError

T = TypeVar("T")

_LONGEST_BACKOFF_S = 20.0
_LATER = 1.25  # at most so many times the wait that a server asks for, so that calls do not come back all at once
_TOO_FAST = 429
_BLOT = b"[the API key]"


class EndpointError(UserError):
    """An endpoint that cannot be used as it was given: no URL, unreachable, wrong key, no such model."""


class Server:
    """An OpenAI-compatible server behind ``base_url``. Connections are opened on first use, and kept."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        timeout_s: float,
        max_attempts: int,
        max_connections: int,
        first_wait_s: float,
        max_wait_s: float,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EndpointError(f"{base_url!r} is no endpoint; expected a URL such as http://127.0.0.1:8080/v1")
        if parts.username or parts.password:
            # The URL stands in the ledger and on the page.
            raise EndpointError("the endpoint's URL holds a user or password; put a key into a variable (api_key_env)")
        self.base_url = base_url.rstrip("/")
        self.has_key = bool(api_key)
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._first_wait_s = first_wait_s
        self._max_wait_s = max_wait_s
        self._path = parts.path.rstrip("/")
        self._head = f"Host: {parts.netloc.rpartition('@')[2]}\r\nUser-Agent: memgauge\r\nAccept: */*\r\n"
        if api_key:
            self._head += f"Authorization: Bearer {api_key.strip()}\r\n"
        self._secret = (api_key or "").strip().encode()
        self.pace = Pace(max_connections)
        self._pool = Pool(base_url)

    async def persist(self, attempt: Callable[[], Awaitable[T]]) -> tuple[T, int, Usage | None]:
        """Runs ``attempt`` until it succeeds; returns its result, the attempts, and what failed ones used.

        Raises the last Fault, with the attempts and the usage of all, where another attempt would not help, is not
        admitted (another_attempt), or its wait would go beyond the patience left. An attempt starts once the
        server's pace has a place for it. To have come too fast is no failure: it takes patience alone.
        """
        waited_s = 0.0
        attempts = failures = 0
        used: Usage | None = None
        admitted = another_attempt.get()
        while True:
            attempts += 1
            try:
                return await self._paced(attempt), attempts, used
            except Fault as fault:
                used = together(used, fault.usage)
                failures += fault.status != _TOO_FAST
                wait_s = self._wait_s(fault, attempts)
                patient = failures < self._max_attempts and waited_s + wait_s <= self._max_wait_s
                if fault.again and patient:
                    await asyncio.sleep(wait_s)
                    waited_s += wait_s
                    if admitted is None or await admitted(fault):
                        continue
                fault.attempts, fault.usage = attempts, used or Usage()
                raise

    async def _paced(self, attempt: Callable[[], Awaitable[T]]) -> T:
        entered = await self.pace.enter()
        try:
            result = await attempt()
        except Fault as fault:
            if fault.status == _TOO_FAST and fault.again:
                patient = fault.wait_s is None or fault.wait_s <= self._max_wait_s
                self.pace.refused(entered, fault.wait_s if patient else None)
            raise
        else:
            self.pace.taken()
            return result
        finally:
            self.pace.leave()

    @asynccontextmanager
    async def request(self, method: str, path: str, payload: bytes = b"") -> AsyncIterator[Connection]:
        """Sends one request and yields its 200 answer, unread. Whatever goes wrong on the way is a Fault."""
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._head}"
        if payload:
            head += f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
        try:
            connection = await self._taken()
            timer = asyncio.get_running_loop().call_later(self._timeout_s, connection.expire)
            try:
                await connection.ask(f"{head}\r\n".encode() + payload)
                if connection.status != 200:
                    raise refusal(connection.status, connection.headers, self.concealed(await _rest(connection)))
                yield connection
            finally:
                timer.cancel()
                self._pool.give_back(connection)
        except Unreachable as fault:
            message = f"cannot reach {self.base_url} ({fault})"
            raise Fault(message, status=502, kind="connection", again=True) from fault
        except BrokenOff as fault:
            raise malformed(f"the answer of {self.base_url} broke off ({fault})") from fault
        except TooSlow as fault:
            # Not sent again: the server may be at it still, and charge for both.
            message = f"{self.base_url} did not finish its answer within {self._timeout_s:g} s"
            raise Fault(message, status=504, kind="timeout") from fault

    async def json(self, method: str, path: str, payload: bytes = b"") -> tuple[dict[str, Json], str | None]:
        """Sends one request; returns the JSON object of its answer and its ``x-provider`` header."""
        async with self.request(method, path, payload) as answer:
            return opened(self.concealed(await answer.read()), answer.headers), answer.headers.get("x-provider")

    def concealed(self, body: bytes) -> bytes:
        """``body`` without the key."""
        return body.replace(self._secret, _BLOT) if self._secret and self._secret in body else body

    async def close(self) -> None:
        """Closes all connections."""
        self._pool.close()

    async def _taken(self) -> Connection:
        try:
            return await self._pool.take()
        except Unreachable as fault:
            message = f"cannot reach {self.base_url} ({fault})"
            raise Fault(message, status=502, kind="connection", again=True, unsent=True) from fault

    def _wait_s(self, fault: Fault, attempts: int) -> float:
        if fault.wait_s is not None:
            return min(fault.wait_s * random.uniform(1.0, _LATER), max(fault.wait_s, self._max_wait_s))
        longest = min(self._first_wait_s * 2.0 ** min(attempts - 1, 30), _LONGEST_BACKOFF_S)
        return float(longest) * random.uniform(0.5, 1.0)


async def _rest(answer: Connection) -> bytes:
    """The body of a refusal, as far as it came."""
    try:
        return await answer.read()
    except (BrokenOff, TooSlow):
        return b""
