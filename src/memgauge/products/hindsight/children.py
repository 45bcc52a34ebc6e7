"""Processes that a sidecar starts and that go down with it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import memgauge_sidecar

_TIED = [sys.executable, "-I", "-S", str(Path(memgauge_sidecar.__file__).with_name("launch.py"))]


def child(
    command: "list[str]", variables: "Mapping[str, str]", directory: "Path | None" = None
) -> "subprocess.Popen[bytes]":
    """Starts ``command``, tied to this process; what it prints becomes this process's last words."""
    return subprocess.Popen(
        [*_TIED, str(os.getpid()), *command], env=dict(variables), cwd=directory, stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )  # fmt: skip


def end(process: "subprocess.Popen[bytes]", signal_name: str, grace_s: float) -> None:
    """Asks ``process`` to end, then makes it."""
    process.send_signal(getattr(signal, f"SIG{signal_name}"))
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
