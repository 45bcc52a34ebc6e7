"""Brings the files of a workload into the data cache, by pinned address and SHA-256. Never at import."""

import errno
import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Literal

from memgauge import places
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads.atomic import replacing
from memgauge.workloads.base import Card, DataFile

Progress = Callable[[DataFile, int], None]  # called with the bytes had so far
State = Literal["present", "missing", "damaged"]

_CHUNK = 1 << 16
_TIMEOUT_S = 60


def folder(workload: str) -> Path:
    """Where the files of ``workload`` lie: ``data/<workload>`` in the user's cache."""
    return places.data_dir() / workload


def location(card: Card, file: DataFile) -> Path:
    """Where ``file`` lies once fetched."""
    return folder(card.name) / file.name


def state(card: Card, file: DataFile) -> State:
    """Whether ``file`` is in the cache with the pinned content."""
    path = location(card, file)
    try:
        if path.stat().st_size != file.bytes:
            return "damaged"
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except FileNotFoundError:
        return "missing"
    except OSError as fault:
        raise UserError(f"{path}: {_reason(fault)}") from None
    return "present" if digest == file.sha256 else "damaged"


def fetch(
    card: Card, path: Path | None = None, progress: Progress | None = None, only: str | None = None
) -> tuple[Path, ...]:
    """Downloads what is missing or damaged, or copies it from ``path``; returns where each file lies.

    ``path`` is the file itself, or a folder that holds the files by name; ``only`` names one file, and without it
    all are meant but the optional ones that are not in ``path``. A file takes its place only when its content is
    the pinned one. Raises UserError where it cannot be had.
    """
    wanted = _wanted(card, path, only)
    for file in wanted:
        if state(card, file) == "present":
            continue
        if path is None:
            _download(file, location(card, file), progress)
        else:
            _copy(path / file.name if path.is_dir() else path, file, location(card, file), progress)
    return tuple(location(card, file) for file in wanted)


def to_get(card: Card, file: DataFile) -> str:
    """The command that downloads ``file``."""
    one_of_several = file.optional or len(card.required) > 1
    return f"memgauge data fetch {card.name}{f' {file.name}' if one_of_several else ''}"


def _wanted(card: Card, path: Path | None, only: str | None) -> tuple[DataFile, ...]:
    by_name = {file.name: file for file in card.files}
    if only is not None:
        if only not in by_name:
            raise UnknownNameError(f"file of {card.name}", only, by_name)
        return (by_name[only],)
    if path is None:
        return card.required
    if path.is_dir():
        return tuple(file for file in card.files if not file.optional or (path / file.name).is_file())
    if path.name in by_name:
        return (by_name[path.name],)
    if len(card.required) == 1:
        return card.required
    raise UserError(f"{path}: which file is it? Name one of: {', '.join(by_name)}")


def _download(file: DataFile, target: Path, progress: Progress | None) -> None:
    request = urllib.request.Request(file.url, headers={"User-Agent": "memgauge"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            _store(answer, file, target, file.url, progress)
    except urllib.error.HTTPError as fault:
        raise UserError(f"{file.url}: the server answered {fault.code} {fault.reason}") from None
    except urllib.error.URLError as fault:
        raise UserError(f"{file.url}: cannot be reached ({_reason(fault.reason)}); {_by_hand(file)}") from None
    except (ConnectionError, TimeoutError, http.client.HTTPException) as fault:
        raise UserError(f"{file.url}: the download broke off ({_reason(fault)}); run it again") from None


def _copy(source: Path, file: DataFile, target: Path, progress: Progress | None) -> None:
    if not source.is_file():
        raise UserError(f"{source}: no such file; expected {file.name} ({file.bytes} bytes)")
    try:
        content = source.open("rb")
    except OSError as fault:
        raise UserError(f"{source}: {_reason(fault)}") from None
    with content:
        _store(content, file, target, str(source), progress)


def _store(
    content: BinaryIO | http.client.HTTPResponse,
    file: DataFile,
    target: Path,
    origin: str,
    progress: Progress | None,
) -> None:
    """Copies ``content`` to ``target`` while hashing it, and lets it stay only if it is the pinned file."""
    digest = hashlib.sha256()
    size = 0
    try:
        with replacing(target) as draft:
            while chunk := content.read(_CHUNK):
                size += len(chunk)
                digest.update(chunk)
                if size > file.bytes:
                    raise UserError(f"{origin}: not the pinned {file.name}: more than its {file.bytes} bytes")
                draft.write(chunk)
                if progress:
                    progress(file, size)
            if size < file.bytes:
                raise UserError(f"{origin}: not the pinned {file.name}: {size} bytes where {file.bytes} were expected")
            if digest.hexdigest() != file.sha256:
                raise UserError(
                    f"{origin}: not the pinned {file.name}: sha256 {digest.hexdigest()[:12]}… "
                    f"where {file.sha256[:12]}… was expected"
                )
    except (ConnectionError, TimeoutError):
        raise  # the network's fault, not the disk's
    except OSError as fault:
        full = "the disk is full" if fault.errno in (errno.ENOSPC, errno.EDQUOT) else _reason(fault)
        raise UserError(f"{target}: cannot be written: {full}") from None


def _by_hand(file: DataFile) -> str:
    return f"download {file.name} elsewhere and give it with --path"


def _reason(fault: object) -> str:
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror.lower()
    return str(fault) or type(fault).__name__
