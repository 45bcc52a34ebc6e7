"""Mem0 behind the sidecar protocol. Runs in Mem0's own environment: the standard library, mem0ai, and nothing of ours.

Mem0 2.x extracts with one call and only adds; 1.0.x extracts, then decides with a second call what to add, update
and delete. Both give back an empty result where they could not read the model's reply, as if there had been nothing
to remember. Every reply is therefore read here once more, in the way Mem0 reads it.
"""

import json
import random
import uuid
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

from mem0 import Memory
from mem0.memory.utils import extract_json, remove_code_blocks
from memgauge_sidecar import serve

USER = "speakers"  # one store holds both sides of a dialogue
# Mem0 2.x prompts with the last ten messages, but of more in one write it keeps the first ten.
MOST_MESSAGES = 10
ASSISTANTS = {"assistant", "ai", "bot", "chatbot", "model", "system"}
# 2.x tells the model that everything was said today; the date of a session reaches it in no other way.
DATES = (
    "Messages may begin with the date and time at which they were written, in brackets. That, and not the observation"
    " date or the current date above, is when a message was said: resolve words such as yesterday or last week from it."
)
UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)


class Mem0:
    """One store of Mem0."""

    def open(self, base_url: str, api_key: str, model: str, embedding_model: str, embedding_dimensions: "int | None",
             directory: str, options: "dict[str, Any]", **_: Any) -> None:  # fmt: skip
        """Opens the store, embedded in ``directory``."""
        self.directory = Path(directory)
        self.k = options["k"]
        embedder = {"model": embedding_model, "api_key": api_key, "openai_base_url": base_url}
        llm = {
            "model": model, "api_key": api_key, "openai_base_url": base_url,
            "temperature": 0.0, "top_p": 1.0, "max_tokens": options["max_tokens"],
        }  # fmt: skip
        dimensions = embedding_dimensions or _probed(embedder)
        store = {
            "collection_name": "memories", "path": str(self.directory / "qdrant"), "on_disk": True,
            "embedding_model_dims": dimensions,
        }  # fmt: skip
        self.memory = Memory.from_config({
            "llm": {"provider": "openai", "config": llm},
            "embedder": {"provider": "openai", "config": embedder},
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(self.directory / "history.db"),
        })  # fmt: skip
        self.adds_only = not hasattr(self.memory, "custom_update_memory_prompt")
        self.calls = Calls(self.memory, api_key)
        self.held: dict[str, Held] = {}
        self.counts = {"added": 0, "updated": 0, "deleted": 0, "dropped": 0}

    def write(self, turns: "list[dict[str, Any]]") -> "dict[str, Any]":
        """Adds the turns, at most ten messages at a time; says which of them came to nothing."""
        lost = []
        for start in range(0, len(turns), MOST_MESSAGES):
            batch = turns[start : start + MOST_MESSAGES]
            try:
                self._add(batch)
            except LostError as why:
                lost.append({"turns": [turn["id"] for turn in batch], "why": str(why), "reply": why.reply})
        return {"lost": lost}

    def read(self, query: str, **_: Any) -> "dict[str, Any]":
        """The best ``k`` memories; a query without a word, which 2.x refuses, finds none."""
        if not query.strip():
            return {"items": []}
        scope = {"user_id": USER}
        if self.adds_only:
            found = self.memory.search(query, filters=scope, top_k=self.k)
        else:
            found = self.memory.search(query, **scope, limit=self.k)
        return {"items": [self._item(memory) for memory in found["results"]]}

    def footprint(self) -> "dict[str, Any]":
        """The store and its history on disk, and the texts in it."""
        files = [self.directory / "history.db", *(self.directory / "qdrant").rglob("*")]
        size = sum(file.stat().st_size for file in files if file.is_file())
        return {"bytes": size, "texts": [held.text for held in self.held.values()]}

    def state(self) -> "dict[str, Any]":
        """Memories held, what happened to them, and actions of the model's that Mem0 dropped without a word."""
        return {"state": {"memories": len(self.held), **self.counts}}

    def close(self) -> None:
        """Closes the store."""
        self.memory.close()
        self.memory.vector_store.client.close()

    def _add(self, turns: "list[dict[str, Any]]") -> None:
        said = next((_written(turn["time"]) for turn in reversed(turns) if turn["time"]), None)
        options: dict[str, Any] = {"user_id": USER, "metadata": {"timestamp": said} if said else {}}
        if self.adds_only and said:
            options["prompt"] = DATES
        self.calls.forget()
        try:
            events = self.memory.add([_message(turn) for turn in turns], **options)["results"]
        except UNREADABLE as fault:
            if self.calls.failed or not self.calls.replies:
                raise
            reply = self.calls.replies[-1][0]
            raise LostError(f"Mem0 broke on the model's reply ({type(fault).__name__}: {fault})", reply) from fault
        if self.calls.failed:
            raise RuntimeError(f"Mem0 went on without a model call that failed: {self.calls.failed[-1]}")
        for event in events:
            self._note(event, [turn["id"] for turn in turns])
        wanted = self._wanted()
        self.counts["dropped"] += max(0, wanted - len(events))
        if wanted and not events:
            reply = self.calls.replies[-1][0]
            raise LostError(f"Mem0 carried out none of the {wanted} actions of the model's reply", reply)

    def _wanted(self) -> int:
        """How many memories the model's replies ask to change. Raises LostError where Mem0 could not read them."""
        replies = self.calls.replies
        if self.adds_only:
            texts = {fact.get("text") for fact in _listed(replies[-1], "memory")}
            known = {held.text for held in self.held.values()}
            return len([text for text in texts if text and text not in known])
        if not _listed(replies[0], "facts"):
            return 0
        actions = _listed(replies[-1], "memory") if len(replies) > 1 else []
        return len([action for action in actions if action.get("event") in ("ADD", "UPDATE", "DELETE")])

    def _note(self, event: "dict[str, Any]", turns: "list[str]") -> None:
        """Keeps who is held, and from which turns: an updated memory comes from its old turns, too."""
        identity, kind = event["id"], event["event"]
        if kind == "DELETE":
            self.held.pop(identity, None)
            self.counts["deleted"] += 1
            return
        before = self.held[identity].turns if kind == "UPDATE" and identity in self.held else []
        self.held[identity] = Held(event["memory"], [*before, *(turn for turn in turns if turn not in before)])
        self.counts["updated" if kind == "UPDATE" else "added"] += 1

    def _item(self, memory: "dict[str, Any]") -> "dict[str, Any]":
        said = (memory.get("metadata") or {}).get("timestamp")
        text = f"[{said}] {memory['memory']}" if said else memory["memory"]
        return {"text": text, "turns": self.held[memory["id"]].turns, "score": memory["score"]}


class Held:
    """A memory in the store, and the ids of the turns it came from."""

    def __init__(self, text: str, turns: "list[str]") -> None:
        self.text = text
        self.turns = turns


class LostError(Exception):
    """What was written is gone, and why; ``reply`` is the model's that Mem0 could not use."""

    def __init__(self, why: str, reply: "str | None" = None) -> None:
        super().__init__(why)
        self.reply = reply


class Calls:
    """Listens to what the model answered, and which calls failed, whatever Mem0 makes of it.

    The second chat call of a write, in which 1.0.x decides what becomes of what it holds, is marked as managing.
    """

    def __init__(self, memory: Memory, api_key: str) -> None:
        self.replies: list[tuple[str, str | None]] = []
        self.failed: list[str] = []
        self._client = memory.llm.client
        self._keys = (api_key, f"{api_key}~manage")
        memory.llm.config.response_callback = self._heard
        for owner, names in ((memory.llm, ["generate_response"]), (memory.embedding_model, ["embed", "embed_batch"])):
            for name in names:
                if hasattr(owner, name):
                    setattr(owner, name, self._watched(getattr(owner, name)))

    def forget(self) -> None:
        """A new write begins."""
        self.replies.clear()
        self.failed.clear()
        self._client.api_key = self._keys[0]

    def _heard(self, _: Any, response: Any, params: Any) -> None:
        choice = response.choices[0]
        self.replies.append((choice.message.content or "", choice.finish_reason))
        self._client.api_key = self._keys[1]

    def _watched(self, call: Any) -> Any:
        @wraps(call)
        def watched(*args: Any, **options: Any) -> Any:
            try:
                return call(*args, **options)
            except Exception as fault:
                self.failed.append(f"{type(fault).__name__}: {fault}")
                raise

        return watched


def _listed(reply: "tuple[str, str | None]", key: str) -> "list[Any]":
    """What a reply lists under ``key``, read as Mem0 reads it. Raises LostError where that gives nothing."""
    text, finish = reply
    cut = ", cut off at its token limit," if finish == "length" else ""
    cleaned = remove_code_blocks(text)
    if not cleaned.strip():
        raise LostError(f"the model's reply{cut} was empty", text)
    try:
        try:
            value = json.loads(cleaned, strict=False)
        except ValueError:
            value = json.loads(extract_json(text), strict=False)
    except ValueError:
        raise LostError(f"the model's reply{cut} was no JSON", text) from None
    if not isinstance(value, dict) or not isinstance(value.get(key), list):
        raise LostError(f"the model's reply{cut} held no list named {key}", text)
    found: list[Any] = value[key]
    return found


def _message(turn: "dict[str, Any]") -> "dict[str, str]":
    """A turn as a chat message: two people are both users, each named, since 1.0.x learns nothing from assistants."""
    is_role = turn["speaker"].lower() in ASSISTANTS | {"user"}
    role = "assistant" if turn["speaker"].lower() in ASSISTANTS else "user"
    if not is_role:
        return {"role": role, "content": turn["line"]}
    stamp = f"[{_written(turn['time'])}] " if turn["time"] else ""
    return {"role": role, "content": f"{stamp}{turn['text']}"}


def _written(time: str) -> str:
    moment = datetime.fromisoformat(time)
    date = f"{moment.day} {moment:%B} {moment.year}"
    return f"{date}, {moment:%H:%M}" if moment.hour or moment.minute else date


def _probed(embedder: "dict[str, str]") -> int:
    """Length of the embedding model's vectors, where only the model itself can tell."""
    from openai import OpenAI

    client = OpenAI(api_key=embedder["api_key"], base_url=embedder["openai_base_url"])
    return len(client.embeddings.create(model=embedder["model"], input="length").data[0].embedding)


def _repeatable_ids() -> None:
    """Lets two runs of one dialogue give their memories the same ids, so that their stores are equal, too."""
    drawn = random.Random(0)
    uuid.uuid4 = lambda: uuid.UUID(int=drawn.getrandbits(128), version=4)


_repeatable_ids()
serve(Mem0())
