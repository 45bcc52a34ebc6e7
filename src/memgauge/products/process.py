"""A sidecar's process: started clean, asked over JSON lines, held to time limits, and never left behind."""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memgauge.backbones.base import UpstreamError
from memgauge.backbones.wire import decode, encode
from memgauge.products.leftovers import MARK, Trace, sweep

BESIDE = Path(__file__).parent / "beside"
LIMITS_S: Mapping[str, float] = {
    "open": 120, "write": 900, "read": 300, "manage": 900, "settle": 900, "footprint": 60, "state": 60, "close": 10,
}  # fmt: skip

_GRACE_S = 5.0  # between the closing of its input, SIGTERM and SIGKILL
_LAST_BYTES, _LAST_LINES = 4096, 6


class SidecarError(Exception):
    """A sidecar that cannot go on: it ended, hung, or does not speak the protocol. Carries its last words."""


class NotSettledError(SidecarError):
    """A product whose background work does not come to an end."""


class RefusedError(UpstreamError):
    """The sidecar answered a request with an error, and goes on."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=502, kind="sidecar")


class Process:
    """One sidecar of one unit. Its working directory, home and temporary files are ``directory``'s."""

    def __init__(self, name: str, transport: asyncio.SubprocessTransport, output: "_Output", directory: Path,
                 limits_s: Mapping[str, float], trace: Trace, note: Path) -> None:  # fmt: skip
        self.name = name
        self._transport = transport
        self._output = output
        self._directory = directory
        self._limits_s = limits_s
        self._trace = trace
        self._note = note
        self._one_at_a_time = asyncio.Lock()
        self._asked = 0
        self._waiting = False  # for an answer that may never come

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        directory: Path,
        *,
        variables: Mapping[str, str] | None = None,
        limits_s: Mapping[str, float] | None = None,
    ) -> "Process":
        """Starts ``command``, after ending what an earlier start in ``directory`` left running.

        Its environment is made of PATH, of directories inside ``directory``, and of ``variables``: nothing else of
        ours is seen by it.
        """
        note = directory.parent / f"{directory.name}.sidecar"
        sweep(note)
        mark = secrets.token_hex(16)
        home, temporary = directory / "home", directory / "tmp"
        for folder in (home, temporary):
            folder.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "TMPDIR": str(temporary),
            "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(BESIDE), "PYTHONHASHSEED": "0",
            **(variables or {}), MARK: mark,
        }  # fmt: skip
        tied = (sys.executable, "-I", "-S", str(BESIDE / "launch.py"), str(os.getpid()), *command)
        loop = asyncio.get_running_loop()
        with (directory / "stderr.log").open("ab") as log:
            transport, output = await loop.subprocess_exec(
                _Output, *tied, stderr=log, cwd=directory, env=environment, start_new_session=True
            )
        trace = Trace.of(transport.get_pid(), mark)
        trace.write(note)
        return cls(name, transport, output, directory, {**LIMITS_S, **(limits_s or {})}, trace, note)

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """The sidecar's answer to a request.

        Raises RefusedError where it answers with an error, SidecarError where it gives none within the limit.
        """
        async with self._one_at_a_time:
            if self._waiting:
                raise SidecarError(f"{self.name} is still at an earlier request")
            self._waiting = True
            self._asked += 1
            self._send({"id": self._asked, "op": op, **fields})
            limit_s = self._limits_s[op]
            try:
                async with asyncio.timeout(limit_s):
                    reply = await self._reply(op)
            except TimeoutError:
                if op == "settle":
                    raise NotSettledError(self._said(f"did not settle within {limit_s:g} s")) from None
                raise SidecarError(self._said(f"gave no answer to {op!r} within {limit_s:g} s")) from None
            self._waiting = False
        if "error" in reply:
            raise RefusedError(f"{self.name}: {op} failed: {reply['error']}")
        answer = reply.get("ok")
        if not isinstance(answer, dict):
            raise SidecarError(self._said(f"answered {op!r} with neither an object as 'ok' nor an 'error'"))
        return answer

    async def stop(self) -> None:
        """Asks it to close, then makes it: end of input, SIGTERM, SIGKILL; takes its whole group along."""
        try:
            if not self._waiting and not self._output.exited.is_set():
                with suppress(SidecarError, RefusedError):
                    await self.ask("close")
            if stdin := self._transport.get_pipe_transport(0):
                stdin.close()
            # One that was stopped at work is not waited for: it may never look at its input again.
            for sign, grace_s in ((None, 0 if self._waiting else _GRACE_S), (signal.SIGTERM, _GRACE_S)):
                if sign is not None:
                    self._signal(sign)
                if await self._gone(grace_s):
                    break
            else:
                self._signal(signal.SIGKILL)
                await self._gone(_GRACE_S)
        finally:
            self._trace.end()
            self._note.unlink(missing_ok=True)
            self._transport.close()

    async def _gone(self, within_s: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._output.exited.wait(), within_s)
        return self._output.exited.is_set()

    def _send(self, request: Mapping[str, Any]) -> None:
        stdin = self._transport.get_pipe_transport(0)
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(encode(request) + b"\n")

    async def _reply(self, op: str) -> dict[str, Any]:
        while True:
            line = await self._output.lines.get()
            if line is None:
                await self._output.exited.wait()
                raise SidecarError(self._said(f"{_ending(self._transport.get_returncode())} during {op!r}"))
            reply = _parsed(line)
            if reply is not None and reply.get("id") == self._asked:
                return reply
            self._stray(line)

    def _stray(self, line: bytes) -> None:
        """Something else printed to stdout: no answer, but perhaps a last word."""
        with (self._directory / "stderr.log").open("ab") as log:
            log.write(line[:_LAST_BYTES] + b"\n")

    def _signal(self, sign: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._trace.pid, sign)

    def _said(self, what: str) -> str:
        words = self._last_words()
        return f"{self.name} {what}" + (f"; its last words: {words}" if words else "; it left no word")

    def _last_words(self) -> str:
        with suppress(OSError), (self._directory / "stderr.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LAST_BYTES))
            lines = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
            return " | ".join([line for line in lines if line][-_LAST_LINES:])
        return ""


class _Output(asyncio.SubprocessProtocol):
    """Cuts what the sidecar writes into lines, however long; None after the last, or when the process has ended."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.exited = asyncio.Event()
        self._rest: list[bytes] = []

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._rest.append(first)
        for other in others:
            self.lines.put_nowait(b"".join(self._rest))
            self._rest = [other]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.lines.put_nowait(None)

    def process_exited(self) -> None:
        self.exited.set()
        # Something that it started may hold its output open; what it wrote itself is read by then.
        asyncio.get_running_loop().call_later(0.5, self.lines.put_nowait, None)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = decode(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _ending(code: int | None) -> str:
    if code is None:
        return "ended"
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
