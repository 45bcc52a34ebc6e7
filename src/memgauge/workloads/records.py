"""A JSON file of records that may be larger than memory: a list in one document, or one object a line."""

import hashlib
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from memgauge.errors import UserError

T = TypeVar("T")

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a mapped file. Each is a view of its bytes, and takes memory only once it is decoded.

    ``expected`` says what the file should hold, for its errors.
    """

    path: Path
    expected: str
    raw: Sequence[msgspec.Raw]
    content: memoryview

    def __len__(self) -> int:
        return len(self.raw)

    def decoded(self, index: int, decoder: "msgspec.json.Decoder[T]") -> T:
        """Record ``index`` (from 0) in the form of ``decoder``. Raises UserError where it has another."""
        try:
            return decoder.decode(self.raw[index])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise self.fault(index, _reason(fault)) from None

    def fault(self, index: int, reason: str) -> UserError:
        """The error that record ``index`` is not what was expected."""
        return UserError(f"{self.path}: record {index + 1}: {self.expected}: {reason}")

    def sha256(self) -> str:
        """Of the whole file, in hex."""
        return hashlib.sha256(self.content).hexdigest()


def opened(path: Path, expected: str, absent: str = "no such file") -> Records:
    """The records of ``path``, found in one pass. Raises UserError where there are none; ``absent`` is its remedy."""
    content = _mapped(path, absent)
    text = content[len(_BYTE_ORDER_MARK) :] if content[:3] == _BYTE_ORDER_MARK else content
    try:
        raw = _found(text)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise UserError(f"{path}: {expected}: {_reason(fault)}") from None
    if not raw:
        raise UserError(f"{path}: {expected}: it is empty")
    return Records(path, expected, raw, content)


def _mapped(path: Path, absent: str) -> memoryview:
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) == 0:  # an empty file cannot be mapped
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise UserError(f"{path}: {absent}") from None
    except OSError as fault:
        raise UserError(f"{path}: {fault.strerror or fault}") from None


def _found(text: memoryview) -> Sequence[msgspec.Raw]:
    start = bytes(text[:64]).lstrip()[:1]
    if not start:
        return ()
    if start != b"{":
        return _LIST.decode(text)
    try:
        return (_ONE.decode(text),)
    except msgspec.DecodeError as fault:
        if "trailing characters" not in str(fault):
            raise
        return _ONE.decode_lines(text)


def _reason(fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return "nested too deep"
    if "truncated" in str(fault):
        return "the file breaks off; bring it again"
    return " ".join(str(fault).replace("`", "").split())
