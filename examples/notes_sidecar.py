"""A memory in a dozen lines of Python: keeps every turn, recalls those that share a word with the query."""

import json
import sys

turns = []
for line in sys.stdin:
    asked = json.loads(line)
    answer = {}
    if asked["op"] == "write":
        turns += asked["turns"]
    elif asked["op"] == "read":
        words = set(asked["query"].lower().split())
        found = [turn for turn in turns if words & set(turn["text"].lower().split())]
        answer = {"items": [{"text": turn["line"], "turns": [turn["id"]]} for turn in found]}
    elif asked["op"] == "footprint":
        answer = {"texts": [turn["line"] for turn in turns]}
    print(json.dumps({"id": asked["id"], "ok": answer}), flush=True)
