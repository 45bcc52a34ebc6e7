"""Writing a file in such a way that no reader ever sees half of it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Opens a file beside ``target`` that takes its place when the block ends, and vanishes when it raises."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o644)  # mkstemp makes a file that only its owner can read
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
