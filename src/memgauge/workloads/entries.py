"""The JSON objects of a file, each with the place where it stands, from one JSON document or one per line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from memgauge.errors import UserError


@dataclass(frozen=True, slots=True)
class Entry:
    """A JSON object; ``where`` is its place as an error names it (``chat.jsonl:3``)."""

    where: str
    value: dict[str, Any]

    def fail(self, what: str) -> NoReturn:
        """Raises UserError that names the place."""
        raise UserError(f"{self.where}: {what}")

    def listed(self, key: str) -> "list[Entry]":
        """The objects in the list ``key``; an absent list is empty."""
        inner = self.value.get(key, [])
        if not isinstance(inner, list):
            self.fail(f"{key}: expected a list, got {kind(inner)}")
        return [_entry(f"{self.where}: {key}[{index}]", value) for index, value in enumerate(inner)]


def of(content: bytes, origin: str) -> list[Entry]:
    """The objects of ``content``: a document's list, a lone object, or one per line. Raises UserError."""
    text = _text(content, origin)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise UserError(f"{origin}: the file is empty; expected turns as JSON or JSONL")
    document, fault = _decoded(text)
    if fault is None:
        if isinstance(document, list):
            return [_entry(f"{origin}: [{index}]", value) for index, value in enumerate(document)]
        return [_entry(origin, document)]
    if len(lines) > 1 and _decoded(lines[0][1])[1] is None:
        return list(_by_line(lines, origin))
    raise UserError(f"{origin}:{_line(text, fault)}: malformed JSON: {_reason(fault)}")


def kind(value: Any) -> str:
    """What a JSON value is called."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]


def _text(content: bytes, origin: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise UserError(f"{origin}:{line}: not UTF-8 text; expected JSON or JSONL in UTF-8") from None


def _by_line(lines: list[tuple[int, str]], origin: str) -> Iterator[Entry]:
    for number, line in lines:
        value, fault = _decoded(line)
        if fault is not None:
            raise UserError(f"{origin}:{number}: malformed JSON: {_reason(fault)}")
        yield _entry(f"{origin}:{number}", value)


def _entry(where: str, value: Any) -> Entry:
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected an object, got {kind(value)}")
    return Entry(where, value)


def _decoded(text: str) -> tuple[Any, Exception | None]:
    try:
        return msgspec.json.decode(text), None
    except (msgspec.DecodeError, RecursionError) as fault:
        return None, fault


def _line(text: str, fault: Exception) -> int:
    """The line of a fault: msgspec names the byte, or says that the text broke off."""
    match = re.search(r"\(byte (\d+)\)", str(fault))
    before = text.encode()[: int(match[1])] if match else text.rstrip().encode()
    return before.count(b"\n") + 1


def _reason(fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return "nested too deep"
    return re.sub(r"^JSON is malformed: | \(byte \d+\)$", "", str(fault)).lower()
