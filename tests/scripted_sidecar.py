"""A sidecar that misbehaves as its first argument says; else it keeps every turn and recalls all of them.

Speaks the protocol by hand, as a program in another language would.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HOW = sys.argv[1] if len(sys.argv) > 1 else "well"


def answer(op: str, asked: dict) -> dict:
    if op == "open":
        state.update(opened=asked)
        if HOW == "refuses to open":
            raise RuntimeError("the licence has run out")
    if op == "write":
        state["turns"] += asked["turns"]
        if HOW == "crashes in write":
            print("reading pages\ntorn", file=sys.stderr, flush=True)
            os._exit(9)
        if HOW == "is killed in write":
            os.kill(os.getpid(), signal.SIGKILL)
        if HOW in ("hangs in write", "hangs and will not die"):
            print("waiting for a lock", file=sys.stderr, flush=True)
            time.sleep(3600)
        if HOW == "fails in write":
            raise ValueError("no room left")
        if HOW == "loses the second write" and len(state["turns"]) == 2:
            return {"lost": [{"turns": [turn["id"] for turn in asked["turns"]], "why": "the reply was prose"}]}
        if HOW == "loses all":
            return {"lost": [{"turns": [turn["id"] for turn in asked["turns"]], "why": "the reply was empty"}]}
        if HOW == "works in the background":
            call(state["opened"], "/embeddings", {"input": "while writing", "model": "x"})
        if HOW == "asks until it is answered":
            ask_forever(state["opened"])
    if op == "settle" and HOW == "never settles":
        time.sleep(3600)
    if op == "settle" and HOW == "works in the background":
        call(state["opened"], "/embeddings", {"input": "while settling", "model": "x"})
        call(state["opened"], "/embeddings", {"input": "late write", "model": "x"}, stage="write")
    if op == "read":
        if HOW == "shows its environment":
            return {"items": [{"text": json.dumps({**os.environ, "cwd": str(Path.cwd())})}]}
        if HOW == "recalls what nobody wrote":
            return {"items": [{"text": "x", "turns": ["t99"]}]}
        if HOW == "recalls nonsense":
            return {"items": [{"turns": []}]}
        if HOW == "says much":
            return {"items": [{"text": "漢字 🦊 \u2028" * 1_000_000}]}
        scores = (0.2, 0.9) if HOW == "ranks" else ()
        return {
            "items": [
                {"text": turn["line"], "turns": [turn["id"]], **({"score": scores[i]} if scores else {})}
                for i, turn in enumerate(state["turns"])
            ]
        }
    if op == "footprint":
        return {"texts": [turn["line"] for turn in state["turns"]], "bytes": 1000}
    if op == "state":
        return {"state": {"turns": len(state["turns"])}}
    return {}


def call(opened: dict, path: str, body: dict, stage: str = "") -> None:
    key = opened["api_key"] + (f"~{stage}" if stage else "")
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(opened["base_url"] + path, json.dumps(body).encode(), headers)
    urllib.request.urlopen(request).read()


def ask_forever(opened: dict) -> None:
    while True:
        try:
            body = {"messages": [{"role": "user", "content": "Is anybody there?"}], "max_tokens": 8}
            return call(opened, "/chat/completions", body)
        except urllib.error.HTTPError:
            time.sleep(0.05)


state: dict = {"turns": []}
if HOW == "crashes at start":
    sys.exit("no licence file")
if HOW in ("will not die", "hangs and will not die"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if HOW == "has a child":
    # In a session of its own, with the sidecar's output in hand, as a daemon that was badly started has.
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
    state["turns"].append({"id": "t1", "line": str(child.pid)})
for line in sys.stdin:
    asked = json.loads(line)
    if HOW == "prints to its output":
        print("loading model: 100%", flush=True)
        print('{"level": "info"}', flush=True)
        print("[1, 2]", flush=True)
    try:
        reply = {"id": asked["id"], "ok": answer(asked["op"], asked)}
    except Exception as fault:
        reply = {"id": asked["id"], "error": f"{type(fault).__name__}: {fault}"}
    if HOW == "answers in prose":
        reply["ok"] = "done!"
    print(json.dumps(reply), flush=True)
while HOW == "will not die":
    time.sleep(60)
