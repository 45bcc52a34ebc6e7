"""Hindsight behind the sidecar protocol. Runs in Hindsight's own environment.

Each unit has a PostgreSQL and a server of its own. A write is answered when its facts are stored; consolidation,
which Hindsight begins by itself, is awaited when it is asked to settle.
"""

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from time import sleep
from typing import Any, NoReturn

from journal import Entry, Journal
from memgauge_sidecar import serve
from postgres import Postgres
from server import Server, ServerError, environment

BANK = "/v1/default/banks/unit"
QUIET_POLLS, POLL_S = 3, 0.05
REFUSED = (401, 402)  # by the gateway, for good: the unit is closed, or its budget is spent
# Facts get ids made of what they say, so that a unit that is played again asks for the same consolidation.
REPEATABLE_IDS = """
CREATE FUNCTION repeatable_id() RETURNS trigger AS $$ BEGIN
  NEW.id := md5(concat_ws(E'\\x01', NEW.document_id, NEW.chunk_id, NEW.text))::uuid;
  WHILE EXISTS (SELECT FROM memory_units WHERE id = NEW.id) LOOP NEW.id := md5(NEW.id::text)::uuid; END LOOP;
  RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER repeatable_id BEFORE INSERT ON memory_units
  FOR EACH ROW WHEN (NEW.fact_type <> 'observation') EXECUTE FUNCTION repeatable_id()
"""
HELD = "SELECT id::text, text, document_id, source_memory_ids::text[] FROM memory_units"


class Held:
    """A fact or an observation: a fact comes from a document, an observation from facts."""

    def __init__(self, text: str, document: "str | None", sources: "list[str] | None") -> None:
        self.text = text
        self.document = document
        self.sources = sources or []


class Hindsight:
    """One bank of Hindsight."""

    def __init__(self) -> None:
        self.postgres: Postgres | None = None
        self.server: Server | None = None
        self.documents: dict[str, list[str]] = {}  # ids of turns
        self.held: dict[str, Held] = {}
        self.latest: str | None = None  # when the last turn was said
        self.counts: Counter[str] = Counter()

    def open(self, directory: str, options: "dict[str, Any]", **access: Any) -> None:
        """Starts PostgreSQL and the server, and makes the bank."""
        self.options = options
        here = Path(directory)
        self.journal = Journal(here / "calls.jsonl")
        self.postgres = Postgres(here)
        self.postgres.start()
        self.server = Server(here, environment(here, self.postgres.url, access, options))
        self.server.start()
        self.postgres.rows(REPEATABLE_IDS)
        self._ask("PUT", BANK, {"name": "unit"})
        self.empty = self._size()

    def write(self, turns: "list[dict[str, Any]]") -> "dict[str, Any]":
        """Retains the turns as one document, dated by its last turn: as several where they are of several sessions."""
        items, texts = [], {}
        for _, said in groupby(turns, key=lambda turn: turn["session"]):
            batch = list(said)
            name = f"batch-{len(self.documents) + 1}"
            self.documents[name] = [turn["id"] for turn in batch]
            texts[name] = {turn["id"]: turn["line"] for turn in batch}
            dated = next((turn["time"] for turn in reversed(batch) if turn["time"]), None)
            self.latest = dated or self.latest
            content = "\n".join(texts[name].values())
            items.append({"content": content, "document_id": name, "timestamp": dated or "unset"})
        refusal = None
        try:
            self._ask("POST", f"{BANK}/memories", {"items": items, "async": False})
        except ServerError as fault:
            refusal = fault
        replies = self._taken("retain")
        if refusal and (refusal.status < 500 or not replies or replies[-1].failed):
            raise RuntimeError(replies[-1].failed if replies and replies[-1].failed else str(refusal)) from refusal
        self._look()
        kept = {fact.document for fact in self.held.values()}
        empty = [name for name in texts if name not in kept]
        if refusal:
            lost = [self._refused(name, refusal, replies) for name in empty]
            return {"lost": lost or [{"turns": [], "why": refusal.detail}]}
        lines = {turn: line for name in empty for turn, line in texts[name].items()}
        return {"lost": [_unread(lines, chunk, why, reply) for chunk, why, reply in _unread_chunks(replies)]}

    def settle(self) -> "dict[str, Any]":
        """Waits until Hindsight is at rest; tells which facts became part of no observation because of a fault."""
        replies: list[Entry] = []
        quiet = 0
        while quiet < QUIET_POLLS:
            stats = self._ask("GET", f"{BANK}/stats")
            at_work = stats["operations_by_status"]
            quiet = 0 if at_work.get("pending", 0) + at_work.get("processing", 0) else quiet + 1
            replies += self._taken("consolidation")
            if replies and replies[-1].status in REFUSED:
                raise RuntimeError(replies[-1].failed)
            sleep(POLL_S)
        failed = [reply.failed for reply in replies if reply.failed]
        if failed and (stats["pending_consolidation"] or replies[-1].failed):
            raise RuntimeError(f"consolidation failed: {failed[-1]}")
        self._look()
        latest = {fact: reply for reply in replies for fact in reply.facts}
        observed = {fact for held in self.held.values() for fact in held.sources}
        missed: dict[str, list[str]] = {}
        for fact in latest.keys() & self.held.keys() - observed:
            if why := latest[fact].failed:
                raise RuntimeError(f"consolidation failed: {why}")
            if why := latest[fact].wrong:
                missed.setdefault(why, []).append(fact)
        return {"lost": [
            {"turns": [], "why": f"{len(facts)} facts were not consolidated: {why}", "reply": latest[facts[0]].reply}
            for why, facts in missed.items()
        ]}  # fmt: skip

    def read(self, query: str, time: "str | None" = None) -> "dict[str, Any]":
        """The best ``k`` of what Hindsight recalls within its budget of tokens. Now is when the last turn was said."""
        if not query.strip():  # which it refuses
            return {"items": []}
        asked = {
            "query": query, "budget": self.options["budget"], "max_tokens": self.options["max_tokens"],
            "query_timestamp": time or self.latest, "include": {"entities": None},
        }  # fmt: skip
        found = self._ask("POST", f"{BANK}/memories/recall", asked)["results"]
        return {"items": [self._item(result) for result in found[: self.options["k"]]]}

    def footprint(self) -> "dict[str, Any]":
        """What the database has grown by, and the texts in it."""
        return {"bytes": self._size() - self.empty, "texts": [held.text for held in self.held.values()]}

    def state(self) -> "dict[str, Any]":
        """What is held, what waits, what went wrong, and what Hindsight itself reports to have used."""
        stats = self._ask("GET", f"{BANK}/stats")
        told: dict[str, float] = {
            "facts": sum(count for kind, count in stats["nodes_by_fact_type"].items() if kind != "observation"),
            "observations": stats["total_observations"],
            "links": stats["total_links"],
            "documents": stats["total_documents"],
            "pending_consolidation": stats["pending_consolidation"],
            "failed_consolidation": stats["failed_consolidation"],
            "failed_operations": stats["failed_operations"],
            "unreadable_replies": self.counts["unreadable"],
            "dropped_chunks": self.counts["dropped"],
        }
        reported = self._ask("GET", f"{BANK}/llm-requests/stats?call_type=llm")["buckets"]
        told["reported_calls"] = sum(day["total"] for day in reported)
        told["reported_input_tokens"] = sum(day["tokens"]["input"] for day in reported)
        told["reported_output_tokens"] = sum(day["tokens"]["output"] for day in reported)
        embedded = self._ask("GET", f"{BANK}/llm-requests/stats?call_type=embedding")["buckets"]
        told["reported_embedding_tokens"] = sum(day["tokens"]["input"] for day in embedded)
        return {"state": told}

    def close(self) -> None:
        """Ends the server and PostgreSQL; the bank goes with them."""
        for part in (self.server, self.postgres):
            if part is not None:
                part.stop()

    def _ask(self, method: str, path: str, body: Any = None) -> "dict[str, Any]":
        """As the server does. Where it is gone, so is this sidecar."""
        assert self.server is not None
        try:
            answer: dict[str, Any] = self.server.ask(method, path, body)
        except OSError:
            sleep(0.2)  # for the kernel to know that it has ended
            if (code := self.server.ended()) is not None:
                sys.exit(f"Hindsight's server ended with exit code {code}")
            raise
        return answer

    def _size(self) -> int:
        assert self.postgres is not None
        [[size]] = self.postgres.rows("SELECT pg_database_size(current_database())")
        return int(size)

    def _taken(self, operation: str) -> "list[Entry]":
        """What the model answered since last time."""
        entries: list[Entry] = self.journal.take(operation)
        self.counts["unreadable"] += sum(entry.wrong is not None for entry in entries)
        self.counts["dropped"] += sum(entry.dropped is not None for entry in entries)
        return entries

    def _look(self) -> None:
        assert self.postgres is not None
        self.held = {identity: Held(*row) for identity, *row in self.postgres.rows(HELD)}

    def _refused(self, document: str, refusal: ServerError, replies: "list[Entry]") -> "dict[str, Any]":
        """A document of which nothing was kept: its replies could not be read, however often they were asked for."""
        last = next((entry for entry in reversed(replies) if entry.wrong), None)
        why = last.wrong if last else refusal.detail
        return {"turns": self.documents[document], "why": why, "reply": last.reply if last else None}

    def _item(self, result: "dict[str, Any]") -> "dict[str, Any]":
        held = self.held[result["id"]]
        facts = [self.held[source] for source in held.sources if source in self.held] or [held]
        said = result["mentioned_at"]
        return {
            "text": f"[{_written(said)}] {held.text}" if said else held.text,
            "turns": list(dict.fromkeys(turn for fact in facts for turn in self._turns(fact))),
            "facts": [{"text": fact.text, "turns": self._turns(fact)} for fact in facts],
        }  # fmt: skip

    def _turns(self, fact: Held) -> "list[str]":
        return self.documents.get(fact.document or "", [])


def _unread_chunks(replies: "list[Entry]") -> "Iterator[tuple[str, str, str | None]]":
    """The chunks whose facts came to nothing though Hindsight reports success, with why, and the reply."""
    for entry in {entry.chunk: entry for entry in replies if entry.chunk}.values():
        if entry.wrong and not entry.cut:
            yield entry.chunk, entry.wrong, entry.reply
    for entry in replies:
        if entry.dropped:  # it was halved until it could not be
            yield entry.dropped, "its facts were cut off at the model's token limit, however short it was", None


def _unread(lines: "dict[str, str]", chunk: str, why: str, reply: "str | None") -> "dict[str, Any]":
    """The loss of a chunk: of those turns in it of which nothing else is kept, either."""
    return {"turns": [turn for turn, line in lines.items() if _shares(chunk, line)], "why": why, "reply": reply}


def _shares(chunk: str, line: str) -> bool:
    """Whether a part of ``line`` stands in ``chunk``, which may begin and end within a line."""
    parts = [part for part in line.split("\n") if part.strip()]
    return any(part in chunk or (chunk.strip() and chunk.strip() in part) for part in parts)


def _written(time: str) -> str:
    moment = datetime.fromisoformat(time)
    date = f"{moment.day} {moment:%B} {moment.year}"
    return f"{date}, {moment:%H:%M}" if moment.hour or moment.minute else date


def _ended(*_: Any) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit("told to end")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _ended)
    hindsight = Hindsight()
    try:
        serve(hindsight)
    finally:
        hindsight.close()
