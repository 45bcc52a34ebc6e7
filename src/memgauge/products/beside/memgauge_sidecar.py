"""The sidecar protocol for a memory written in Python: ``serve(memory)`` and nothing else.

Copies of this file may be taken along; it needs only the standard library. See docs/sidecar.md.
"""

import json
import os
import queue
import sys
import threading
import time
import traceback

_GRACE_S = 5.0  # left to a memory at work when nobody wants its answer any more


def serve(memory: object) -> None:
    """Answers requests with the methods of ``memory`` that are named like the operations, until told to close.

    A method gets the request's fields by name and returns the fields of the reply (None: none). What it raises is
    sent as the error of the request. An operation that ``memory`` has no method for succeeds and does nothing.
    Whatever prints, prints to stderr from here on: stdout belongs to the protocol.
    """
    sys.stdout.flush()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while line := requests.get():
        request = json.loads(line)
        number, op = request.pop("id"), request.pop("op")
        print(json.dumps({"id": number, **_answer(memory, op, request)}), file=replies, flush=True)
        if op == "close":
            return
    _answer(memory, "close", {})


def _listen(requests: "queue.SimpleQueue[str | None]") -> None:
    """Hands lines on. When they end, the one that asks is gone, and this process has to be gone soon, too."""
    for line in sys.stdin:
        requests.put(line)
    requests.put(None)
    time.sleep(_GRACE_S)
    os._exit(1)


def _answer(memory: object, op: str, fields: "dict[str, object]") -> "dict[str, object]":
    method = getattr(memory, op, None)
    if method is None:
        return {"ok": {}}
    try:
        return {"ok": method(**fields) or {}}
    except Exception as fault:
        traceback.print_exc()
        return {"error": f"{type(fault).__name__}: {fault}"}
