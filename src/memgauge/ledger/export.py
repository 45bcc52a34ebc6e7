"""Writes a ledger's tables as Parquet or CSV, one file per table, for other tools."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from memgauge.errors import UnknownNameError, UserError
from memgauge.ledger.frames import Frames

TABLES = ("units", "calls", "steps", "states", "faults", "answers", "verdicts", "scores", "texts")
FORMATS = ("parquet", "csv")


def export(frames: Frames, directory: Path, kind: str) -> Iterator[Path]:
    """Writes every table into ``directory`` and yields each file once it is whole; blobs are hexadecimal in CSV."""
    if kind not in FORMATS:
        raise UnknownNameError("format", kind, FORMATS)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            target = directory / f"{name}.{kind}"
            partial = target.with_suffix(".partial")
            _write(_frame(frames, name), partial, kind)
            partial.replace(target)
            yield target
    except OSError as fault:
        raise UserError(f"cannot write {directory}: {fault.strerror or fault}") from None


def _frame(frames: Frames, name: str) -> pl.DataFrame:
    match name:
        case "calls":
            return pl.concat([frames.calls(), frames.lost_calls()])
        case "answers":
            return frames.answers()
        case _:
            return frames.table(name)


def _write(frame: pl.DataFrame, path: Path, kind: str) -> None:
    if kind == "parquet":
        frame.write_parquet(path)
    else:
        frame.with_columns(pl.col(pl.Binary).bin.encode("hex")).write_csv(path)
