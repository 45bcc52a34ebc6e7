"""A streamed completion: server-sent events in, and the sum of their chunks out."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from memgauge.backbones.base import Json

DONE = b"[DONE]"
_NAMES = frozenset({"role", "type", "id", "name"})


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of every server-sent event, from a byte stream cut anywhere; comments are skipped."""
    rest = b""
    data: list[bytes] = []
    async for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []
    if rest.startswith(b"data:"):
        data.append(rest[5:].strip())
    if data:  # a server that does not end its last event with an empty line
        yield b"\n".join(data)


class Sum:
    """Adds chunks up to the ``chat.completion`` that the server would have sent in one piece."""

    def __init__(self) -> None:
        self.chunks = 0
        self._head: dict[str, Json] = {}
        self._choices: dict[int, dict[str, Any]] = {}

    def add(self, chunk: Mapping[str, Json]) -> bool:
        """Takes one chunk; returns whether it brought something of the answer, as opposed to wrapping."""
        self.chunks += 1
        for name, value in chunk.items():
            if name != "choices" and value is not None:
                self._head[name] = value
        brought = False
        for part in chunk.get("choices") or ():
            index = part.get("index") or 0
            if not isinstance(index, int):
                raise TypeError("the index of a choice must be a number")
            fresh = {"index": index, "message": {"role": "assistant", "content": None}, "finish_reason": None}
            choice = self._choices.setdefault(index, fresh)
            delta = part.get("delta") or {}
            _join(choice["message"], delta)
            brought = brought or any(value for name, value in delta.items() if name != "role")
            if part.get("finish_reason"):
                choice["finish_reason"] = part["finish_reason"]
            if part.get("logprobs"):
                choice["logprobs"] = _join(choice.get("logprobs") or {}, part["logprobs"])
        return brought

    @property
    def finished(self) -> bool:
        """Whether every choice has said why it ended."""
        return bool(self._choices) and all(choice["finish_reason"] for choice in self._choices.values())

    @property
    def usage(self) -> Json:
        """The usage reported last, or None."""
        return self._head.get("usage")

    def completion(self) -> dict[str, Json]:
        """The sum so far."""
        choices = [self._choices[index] for index in sorted(self._choices)]
        for choice in choices:
            for call in choice["message"].get("tool_calls") or ():
                if isinstance(call, dict):
                    call.pop("index", None)
        return {**self._head, "object": "chat.completion", "choices": choices}


def _join(whole: dict[str, Any], delta: Mapping[str, Json]) -> dict[str, Any]:
    """Adds a delta to what came before: texts grow, lists join (by ``index`` where there is one), names stay.

    A name that comes again, whole or empty (seen at several servers), is the same name.
    """
    for name, value in delta.items():
        before = whole.get(name)
        if value is None:
            whole.setdefault(name, None)
        elif isinstance(value, list):
            whole[name] = _joined_list(before or [], value)
        elif isinstance(value, Mapping):
            whole[name] = _join(before or {}, value)
        elif isinstance(value, str) and isinstance(before, str):
            whole[name] = value or before if name in _NAMES else before + value
        else:
            whole[name] = value
    return whole


def _joined_list(before: list[Any], delta: list[Json]) -> list[Any]:
    for value in delta:
        index = value.get("index") if isinstance(value, Mapping) else None
        known = (old for old in before if isinstance(old, dict) and old.get("index") == index)
        match = None if index is None else next(known, None)
        if match is None:
            before.append(_join({}, value) if isinstance(value, Mapping) else value)
        else:
            _join(match, value)
    return before
