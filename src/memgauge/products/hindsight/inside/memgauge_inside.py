"""What is loaded into Hindsight's server, by its own hook for model calls (HINDSIGHT_API_LLM_REQUEST_EXTENSION).

It names the stage of every call by its key, writes down what the model answered, for Hindsight tells nobody which
replies it could not read, and gives observations ids that a second attempt at the same unit gives them, too.
"""

import json
import re
import uuid
from collections import Counter
from functools import wraps
from pathlib import Path
from typing import Any

from hindsight_api.engine import embeddings
from hindsight_api.engine.consolidation import consolidator
from hindsight_api.engine.llm_trace import LLMTraceRecorder, current_trace_context
from hindsight_api.engine.providers import openai_compatible_llm as provider
from hindsight_api.engine.retain import fact_extraction
from hindsight_api.extensions import LLMRequestExtension, LLMRequestOverrides
from openai.resources.chat.completions import AsyncCompletions
from openai.resources.embeddings import AsyncEmbeddings

_ASKED_FOR = {"retain", "recall", "reflect"}  # by the caller; everything else Hindsight does by itself
_FACT = re.compile(r"^\[([0-9a-f]{8}-[0-9a-f-]{27})\] ", re.MULTILINE)


class Inside(LLMRequestExtension):
    """Options: ``key``, the unit's API key, and ``calls``, the file for what the model answered."""

    def __init__(self, config: dict[str, str]) -> None:
        super().__init__(config)
        self._journal = Path(config["calls"])
        self._observations: Counter[str] = Counter()
        self._charge_embeddings()
        self._watch_chats()
        self._watch_embeddings()
        self._watch_chunks()
        self._repeatable_observations()
        LLMTraceRecorder.FLUSH_INTERVAL_SECONDS = 0.02  # its own books, as they stand when it has settled

    async def resolve(self, target: Any) -> LLMRequestOverrides:
        """Under which key a call is sent."""
        return LLMRequestOverrides(api_key=self._key(target.operation))

    def _key(self, operation: str | None) -> str:
        return self.config["key"] if operation in _ASKED_FOR else f"{self.config['key']}~manage"

    def _note(self, **what: Any) -> None:
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(what) + "\n")

    def _charge_embeddings(self) -> None:
        """The hook does not ask about embeddings: their requests get the key in a header."""
        attribute = embeddings.apply_bank_attribution

        def attributed(request: dict[str, Any]) -> None:
            attribute(request)
            request["extra_headers"] = {"Authorization": f"Bearer {self._key(_operation())}"}

        embeddings.apply_bank_attribution = attributed

    def _watch_chats(self) -> None:
        create = AsyncCompletions.create

        @wraps(create)
        async def watched(client: Any, **request: Any) -> Any:
            told = str(request["messages"][-1].get("content"))
            facts = _FACT.findall(told.partition("### Existing observations")[0])
            asked = {"operation": _operation(), "facts": facts, "chunk": told.partition("\nContent:\n")[2]}
            try:
                response = await create(client, **request)
            except Exception as fault:
                self._note(**asked, **_failure(fault))
                raise
            choice = response.choices[0] if response.choices else None
            text = (choice.message.content if choice else None) or ""
            cut = bool(choice and choice.finish_reason == "length")
            self._note(**asked, cut=cut, keys=_keys(text), reply=text)
            return response

        AsyncCompletions.create = watched

    def _watch_embeddings(self) -> None:
        create = AsyncEmbeddings.create

        @wraps(create)
        async def watched(client: Any, **request: Any) -> Any:
            try:
                return await create(client, **request)
            except Exception as fault:
                self._note(operation=_operation(), **_failure(fault))
                raise

        AsyncEmbeddings.create = watched

    def _watch_chunks(self) -> None:
        """A chunk whose facts do not fit a reply is halved, until it cannot be: then it is dropped."""
        split = fact_extraction._split_chunk_for_output_retry

        def watched(chunk: str) -> Any:
            halves = split(chunk)
            if halves is None:
                self._note(operation=_operation(), dropped=chunk)
            return halves

        fact_extraction._split_chunk_for_output_retry = watched

    def _repeatable_observations(self) -> None:
        """Ids made of what an observation says; those of facts are made in the database."""
        store = type(consolidator.get_memories())
        insert = store.insert_observation

        @wraps(insert)
        async def inserted(memories: Any, **row: Any) -> Any:
            name = "\n".join([row["text"], *sorted(str(one) for one in row["source_memory_ids"])])
            self._observations[name] += 1
            row["observation_id"] = uuid.uuid5(uuid.NAMESPACE_OID, f"{self._observations[name]}\n{name}")
            return await insert(memories, **row)

        store.insert_observation = inserted


def _operation() -> str | None:
    context = current_trace_context()
    return context.operation if context else None


def _failure(fault: Exception) -> dict[str, Any]:
    return {"failed": f"{type(fault).__name__}: {fault}", "status": getattr(fault, "status_code", None)}


def _keys(text: str) -> list[str] | None:
    """The names in a reply, read as Hindsight reads it; None where it is no JSON object."""
    stripped = provider._strip_reasoning_tags(text)
    for candidate in (provider._strip_code_fences(stripped), stripped):
        try:
            value = json.loads(candidate)
        except ValueError:
            continue
        return sorted(map(str, value)) if isinstance(value, dict) else None
    return None
