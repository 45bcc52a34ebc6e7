"""One process at a time writes a run directory."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memgauge.errors import UserError


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Holds ``directory`` for this process; raises UserError where another one holds it. Freed by the kernel."""
    handle = os.open(directory / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"another memgauge is writing {directory}; wait for it or choose another --out") from None
        yield
    finally:
        os.close(handle)
