"""What the model answered to LightRAG, and what LightRAG made of it."""

from functools import wraps
from typing import Any

from lightrag import operate
from lightrag.utils import TruncatedResponse

COMPLETE = "<|COMPLETE|>"
DELIMITER = "<|#|>"


class Replies:
    """Listens to what the model answered, and what LightRAG makes of it.

    It also takes the clock out of it: LightRAG puts the descriptions of one entity in the order of the seconds in
    which they were extracted, which no second attempt repeats. Without it, their length decides, then their place.
    """

    def __init__(self, only_by_graph: bool) -> None:
        self.summaries = 0
        self.dropped = 0
        self._only_by_graph = only_by_graph  # chunks that no entity or relation leads to are never recalled
        self._unread: dict[str, str] = {}  # the first reply on a chunk, where it held no record
        self._read: set[str] = set()  # chunks that some reply brought a record of
        self._others: list[dict[str, Any]] = []
        operate.use_llm_func_with_cache = self._hears(operate.use_llm_func_with_cache)
        operate._process_extraction_result = self._watches(operate._process_extraction_result)
        operate._parse_keywords_payload = self._checks(operate._parse_keywords_payload)

    def told(self, turns: "dict[str, list[str]] | None" = None) -> "list[dict[str, Any]]":
        """The faults since the last time. Turns are lost where the graph alone leads to them, and does not."""
        faults, self._others = self._others, []
        for chunk, reply in self._unread.items():
            gone = self._only_by_graph and chunk not in self._read
            named = (turns or {}).get(chunk, []) if gone else []
            cut = ", cut off at its token limit," if isinstance(reply, TruncatedResponse) else ""
            why = f"a reply{cut} on {chunk} held no record of an entity or relation"
            faults.append({"turns": named, "why": why, "reply": str(reply)})
        self._unread.clear()
        self._read.clear()
        return faults

    def _hears(self, call: Any) -> Any:
        @wraps(call)
        async def heard(prompt: str, *args: Any, cache_type: str = "extract", **options: Any) -> Any:
            reply, _ = await call(prompt, *args, cache_type=cache_type, **options)
            if cache_type == "summary":
                self.summaries += 1
                if not reply.strip():
                    self._others.append({"turns": [], "why": "a summary of descriptions was empty", "reply": reply})
            return reply, 0

        return heard

    def _watches(self, read: Any) -> Any:
        @wraps(read)
        async def watched(result: str, chunk: str, *args: Any, **options: Any) -> Any:
            nodes, edges = await read(result, chunk, *args, **options)
            kept = sum(map(len, (*nodes.values(), *edges.values())))
            said = [line for line in result.replace(COMPLETE, "\n").split("\n") if line.strip()]
            self.dropped += max(0, sum(DELIMITER in line for line in said) - kept)
            if kept:
                self._read.add(chunk)
            elif chunk not in self._read and (said or COMPLETE not in result):
                self._unread.setdefault(chunk, result)
            return nodes, edges

        return watched

    def _checks(self, parse: Any) -> Any:
        @wraps(parse)
        def checked(result: Any) -> Any:
            parsed = parse(result)
            if not parsed[0]:
                why = "a reply held no keywords"
                self._others.append({"turns": [], "why": why, "reply": str(result)})
            return parsed

        return checked
