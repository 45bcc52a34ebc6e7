"""Becomes the command that it is given, so tied to the process that started it that it does not outlive it.

Run as: python -I -S launch.py PARENT COMMAND…, where PARENT is the process id of the one that starts it. Needs nothing
but the standard library, and little of that: it stands between every sidecar and its start.
"""

import os
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ties, then becomes."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        import ctypes
        import signal

        # SIGTERM, not SIGKILL: a sidecar with processes of its own can still put them down.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the process that wanted this sidecar is gone")
    try:
        os.execvp(command[0], command)
    except OSError as fault:
        sys.exit(f"cannot start {command[0]}: {fault.strerror}")


main()
