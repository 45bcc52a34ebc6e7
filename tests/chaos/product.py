"""An outside product as a sidecar: every write is a chat call and an embedding call through the gateway."""

import json
import sys
import urllib.request

kept = []
access = {}


def ask(path, body):
    """One call to the gateway."""
    headers = {"Authorization": f"Bearer {access['api_key']}", "Content-Type": "application/json"}
    request = urllib.request.Request(access["base_url"] + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


for line in sys.stdin:
    asked = json.loads(line)
    answer = {}
    if asked["op"] == "open":
        access = asked
    elif asked["op"] == "write":
        for turn in asked["turns"]:
            messages = [{"role": "user", "content": f"What is said here? {turn['line']}"}]
            ask("/chat/completions", {"model": "any", "messages": messages, "max_tokens": 20, "stream": True})
            ask("/embeddings", {"model": "any", "input": [turn["text"]]})
            kept.append(turn)
    elif asked["op"] == "read":
        ask("/embeddings", {"model": "any", "input": [asked["query"]]})
        answer = {"items": [{"text": turn["line"], "turns": [turn["id"]]} for turn in kept[-3:]]}
    elif asked["op"] == "footprint":
        answer = {"texts": [turn["line"] for turn in kept]}
    print(json.dumps({"id": asked["id"], "ok": answer}), flush=True)
