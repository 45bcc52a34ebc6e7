"""The rows of MemoryAgentBench's files, in Parquet as published or in JSON as mirrored, read one at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from memgauge.errors import UserError
from memgauge.workloads import records
from memgauge.workloads.mending import Gold

_EXPECTED = "expected MemoryAgentBench's rows with context, questions, answers and metadata"
_COLUMNS = ["context", "questions", "answers", "metadata"]


class Said(msgspec.Struct):
    """A turn of a session that a question was made from."""

    content: str | None = None
    has_answer: bool | None = None


class Metadata(msgspec.Struct):
    """What a row says of its questions; ``haystack_sessions`` are per question its sessions of turns."""

    source: str
    qa_pair_ids: list[str | None] | None = None
    haystack_sessions: list[list[list[Said]] | None] | None = None


class Row(msgspec.Struct):
    """A context and everything asked about it."""

    context: str
    questions: list[str]
    answers: list[Gold]
    metadata: Metadata


class Rows(Protocol):
    """A file's rows: what task each is of, and the rest of a row when it is asked for."""

    @property
    def sources(self) -> Sequence[str]:
        """The task of each row."""
        ...

    def row(self, index: int) -> Row:
        """Row ``index``, from 0. Raises UserError where it is malformed."""
        ...


def opened(path: Path, absent: str = "no such file") -> list[Rows]:
    """The rows of a file, or of every Parquet file of a folder (else every JSON file)."""
    if not path.is_dir():
        return [ParquetRows(path, absent) if path.suffix == ".parquet" else JsonRows(path, absent)]
    files = sorted(path.glob("*.parquet")) or sorted([*path.glob("*.json"), *path.glob("*.jsonl")])
    if not files:
        raise UserError(f"{path}: no .parquet, .json or .jsonl file in this folder; {_EXPECTED}")
    return [rows for file in files for rows in opened(file)]


class _Source(msgspec.Struct):
    source: str


class _Head(msgspec.Struct):
    metadata: _Source


class JsonRows:
    """A list of rows in one document, or one row a line."""

    def __init__(self, path: Path, absent: str) -> None:
        self._records = records.opened(path, _EXPECTED, absent)
        head = msgspec.json.Decoder(_Head)
        self.sources = [self._records.decoded(index, head).metadata.source for index in range(len(self._records))]

    def row(self, index: int) -> Row:
        """Decoded when it is asked for."""
        return self._records.decoded(index, _ROW)


_ROW = msgspec.json.Decoder(Row)


class ParquetRows:
    """A published file; polars reads only the row that is asked for.

    In a file that is damaged inside polars may panic, which it reports as an exception of its own.
    """

    def __init__(self, path: Path, absent: str) -> None:
        import polars as pl

        self._path = path
        if not path.is_file():
            raise UserError(f"{path}: {absent}")
        try:
            self._frame = pl.scan_parquet(path)
            source = pl.col("metadata").struct.field("source")
            found = self._frame.select(source).collect()["source"].to_list()
            self._frame = self._frame.select(_COLUMNS)
            self._frame.collect_schema()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
            raise UserError(f"{path}: {_EXPECTED}: {_line(fault)}") from None
        if not all(isinstance(name, str) for name in found):
            raise UserError(f"{path}: {_EXPECTED}: metadata.source is no text")
        self.sources: Sequence[str] = found

    def row(self, index: int) -> Row:
        """Read when it is asked for."""
        import polars as pl

        try:
            (found,) = self._frame.slice(index, 1).collect().iter_rows(named=True)
            return msgspec.convert(found, Row)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, msgspec.ValidationError) as fault:
            raise UserError(f"{self._path}: row {index + 1}: {_EXPECTED}: {_line(fault)}") from None


def _line(fault: BaseException) -> str:
    return " ".join(str(fault).replace("`", "").split())[:300]
