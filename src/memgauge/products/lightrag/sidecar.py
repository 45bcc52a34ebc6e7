"""LightRAG behind the sidecar protocol. Runs in LightRAG's own environment, and imports nothing of memgauge.

An insert that fails raises nothing in LightRAG: it leaves a document marked as failed, which later inserts pass by.
Replies without a single record, and empty summaries, pass for nothing to know. All of them are told here.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

from context import items
from documents import Cutter, Document
from lightrag import LightRAG, QueryParam
from lightrag.base import DocStatus
from lightrag.kg.shared_storage import finalize_share_data
from lightrag.query_validation import meets_min_rag_query_weight
from lightrag.utils import EmbeddingFunc, Tokenizer
from memgauge_sidecar import serve
from models import AT_ONCE, Models
from replies import Replies
from vocabulary import O200k

WORKSPACE = "unit"  # LightRAG keys what it shares inside a process by it
PATIENCE_S = 900  # how long a write may take; LightRAG's own limits count the waiting for a busy model, too


class Memory:
    """One graph and index of LightRAG."""

    def open(self, base_url: str, api_key: str, model: str, embedding_model: str, embedding_dimensions: "int | None",
             directory: str, options: "dict[str, Any]", **_: Any) -> None:  # fmt: skip
        """Opens the store in ``directory``, empty or not."""
        logging.getLogger("lightrag").setLevel(logging.WARNING)
        self.loop = asyncio.new_event_loop()
        self.options = options
        self.store = Path(directory) / "rag"
        self.access = (base_url, api_key, model, embedding_model)
        self.loop.run_until_complete(self._open(embedding_dimensions))

    def write(self, turns: "list[dict[str, Any]]") -> "dict[str, Any]":
        """Inserts the documents that are complete; when lazy, collects them."""
        self.ready += self.cutter.add(turns)
        return {"lost": self._told([] if self.options["lazy"] else self._index())}

    def read(self, query: str, **_: Any) -> "dict[str, Any]":
        """What LightRAG would hand to a generator, after inserting what waits."""
        self.ready += self.cutter.rest()
        self.models.stage = "~manage" if self.options["lazy"] else "~write"
        lost = self._told(self._index())
        self.models.stage = ""
        if not meets_min_rag_query_weight(query):
            return {"items": [], "lost": lost}
        return {"items": self._recalled(query), "lost": [*lost, *self.replies.told()]}

    def footprint(self) -> "dict[str, Any]":
        """All files of the store, and the texts in it: chunks, entities, relations."""
        size = sum(file.stat().st_size for file in self.store.rglob("*") if file.is_file())
        return {"bytes": size, "texts": [*self.chunks, *self.descriptions]}

    def state(self) -> "dict[str, Any]":
        """The sizes of the graph and the index, turns that wait, and records that LightRAG could not use."""
        return {
            "state": {
                "documents": len(self.documents),
                "chunks": len(self.turns),
                "entities": self.entities,
                "relations": self.relations,
                "summaries": self.replies.summaries,
                "dropped_records": self.replies.dropped,
                "waiting_turns": len(self.cutter.waiting) + sum(len(document.turns) for document in self.ready),
            }
        }

    def close(self) -> None:
        """Writes what is not written, and ends."""
        self.loop.run_until_complete(self._close())
        self.loop.close()

    async def _open(self, dimensions: "int | None") -> None:
        self.models = Models(*self.access)
        self.replies = Replies(only_by_graph=self.options["mode"] == "hybrid")
        self.cutter = Cutter(by_session=self.options["granularity"] == "session")
        self.ready: list[Document] = []
        self.untold: list[dict[str, Any]] = []
        self.documents: list[str] = []
        self.turns: dict[str, list[str]] = {}
        self.chunks: list[str] = []
        self.descriptions: list[str] = []
        self.entities = self.relations = 0
        if dimensions is None:
            dimensions = int((await self.models.embed(["length"])).shape[1])
        self.rag = LightRAG(
            working_dir=str(self.store),
            workspace=WORKSPACE,
            tokenizer=Tokenizer("o200k_base", O200k()),
            llm_model_func=self.models.chat,
            embedding_func=EmbeddingFunc(dimensions, self.models.embed, max_token_size=8192),
            embedding_batch_num=1 << 20,  # cut into batches where they are sorted
            entity_extract_max_gleaning=self.options["gleaning"],
            enable_llm_cache=False,
            enable_llm_cache_for_entity_extract=False,
            max_parallel_insert=1,  # two documents at once would meet in one entity in either order
            embedding_func_max_async=AT_ONCE,
            default_llm_timeout=PATIENCE_S,
            default_embedding_timeout=PATIENCE_S,
        )
        await self.rag.initialize_storages()
        _sort_edges(self.rag.chunk_entity_relation_graph)
        await self._look()

    async def _close(self) -> None:
        await self.rag.finalize_storages()
        await self.models.close()
        finalize_share_data()
        workers = asyncio.all_tasks() - {asyncio.current_task()}
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    def _index(self) -> "list[dict[str, Any]]":
        """Inserts the documents that are ready; says what was lost. Raises RuntimeError where a model call failed."""
        documents, self.ready = self.ready, []
        return self.loop.run_until_complete(self._insert(documents)) if documents else []

    async def _insert(self, documents: "list[Document]") -> "list[dict[str, Any]]":
        self.models.failed.clear()
        names = [document.name for document in documents]
        track = await self.rag.ainsert([document.text for document in documents], ids=names, file_paths=names)
        statuses = await self.rag.aget_docs_by_track_id(track)
        lost = []
        for document in documents:
            status = statuses.get(document.name)
            if status is None or status.status != DocStatus.PROCESSED:
                why = (status and status.error_msg) or "refused as a duplicate"
                lost.append({"turns": document.turns, "why": f"LightRAG failed to insert a document: {why}"})
                continue
            self.documents.append(document.name)
            for chunk, held in (await self._held(status.chunks_list)).items():
                self.turns[chunk] = document.turns_of(held)
                self.chunks.append(held)
        await self._look()
        lost += self.replies.told(self.turns)
        if self.models.failed:
            self.untold += lost
            raise RuntimeError(f"LightRAG went on without a model call that failed: {self.models.failed[0]}")
        return lost

    def _told(self, lost: "list[dict[str, Any]]") -> "list[dict[str, Any]]":
        """With what was lost in an operation that ended in an error."""
        earlier, self.untold = self.untold, []
        return [*earlier, *lost]

    async def _held(self, chunks: "list[str]") -> "dict[str, str]":
        found = await self.rag.text_chunks.get_by_ids(chunks)
        return {name: chunk["content"] for name, chunk in zip(chunks, found, strict=True) if chunk}

    async def _look(self) -> None:
        graph = self.rag.chunk_entity_relation_graph
        nodes, edges = await graph.get_all_nodes(), await graph.get_all_edges()
        self.entities, self.relations = len(nodes), len(edges)
        self.descriptions = [held.get("description", "") for held in (*nodes, *edges)]

    def _recalled(self, query: str) -> "list[dict[str, Any]]":
        self.models.failed.clear()
        how = QueryParam(
            mode=self.options["mode"], top_k=self.options["top_k"], chunk_top_k=self.options["chunk_top_k"],
            only_need_context=True, enable_rerank=False,
        )  # fmt: skip
        told = self.loop.run_until_complete(self.rag.aquery_llm(query, how))
        if self.models.failed:
            raise RuntimeError(f"LightRAG went on without a model call that failed: {self.models.failed[0]}")
        if told.get("message", "").startswith("Query failed"):
            raise RuntimeError(told["message"])
        if not told.get("data"):
            return []
        found: list[dict[str, Any]] = items(told["llm_response"]["content"], told["data"])
        for item in found:
            chunks = item.pop("chunks")
            item["turns"] = list(dict.fromkeys(turn for chunk in chunks for turn in self.turns.get(chunk, ())))
        return found


def _sort_edges(graph: Any) -> None:
    """Lets relations that LightRAG ranks alike come in order of their names, not in that of answered summaries."""
    edges = graph.get_node_edges

    async def in_order(node: str) -> Any:
        found = await edges(node)
        return found and sorted(found)

    graph.get_node_edges = in_order


serve(Memory())
