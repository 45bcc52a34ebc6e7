"""LightRAG's two model functions over plain HTTP. Those that it brings along install packages when imported."""

import asyncio
from typing import Any

import aiohttp
import numpy as np
from lightrag.utils import TruncatedResponse

BATCH = 10  # texts per embedding call, and calls at once: LightRAG's own defaults
AT_ONCE = 8


class Models:
    """Chat and embeddings of the gateway. ``stage`` marks calls as belonging elsewhere than where the unit is.

    What failed is kept in ``failed`` until that is cleared: LightRAG goes on without a call that failed, and says so in
    its log alone. No other call is made until then, since nothing would come of what it costs.
    """

    def __init__(self, base_url: str, api_key: str, model: str, embedding_model: str) -> None:
        self.stage = ""
        self.failed: list[str] = []
        self._base_url = base_url
        self._api_key = api_key
        self._model = model
        self._embedding_model = embedding_model
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def chat(self, prompt: str, system_prompt: "str | None" = None,
                   history_messages: "list[dict[str, str]] | None" = None, response_format: Any = None,
                   **_: Any) -> str:  # fmt: skip
        """The model's reply, marked where its token limit cut it off."""
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages = [*system, *(history_messages or ()), {"role": "user", "content": prompt}]
        body = {"model": self._model, "messages": messages}
        if response_format:
            body["response_format"] = response_format
        [choice] = (await self._post("chat/completions", body))["choices"]
        text = choice["message"]["content"] or ""
        return TruncatedResponse(text) if choice["finish_reason"] == "length" else text

    async def embed(self, texts: "list[str]") -> Any:
        """One vector per text. LightRAG hands texts over in an order that varies: they are sent sorted."""
        wanted = sorted(set(texts))
        batches = [wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH)]
        rows = [row for batch in await asyncio.gather(*map(self._embedded, batches)) for row in batch]
        vectors = dict(zip(wanted, rows, strict=True))
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    def __deepcopy__(self, _: Any) -> "Models":
        return self  # LightRAG copies its settings, and these functions are among them

    async def close(self) -> None:
        """Ends the connections."""
        await self._session.close()

    async def _embedded(self, texts: "list[str]") -> "list[list[float]]":
        async with self._gate:
            reply = await self._post("embeddings", {"model": self._embedding_model, "input": texts})
        return [row["embedding"] for row in sorted(reply["data"], key=lambda row: row["index"])]

    async def _post(self, path: str, body: "dict[str, Any]") -> Any:
        if self.failed:
            raise RuntimeError("not asked for, since an earlier call failed")
        headers = {"Authorization": f"Bearer {self._api_key}{self.stage}"}
        try:
            async with self._session.post(f"{self._base_url}/{path}", json=body, headers=headers) as response:
                if response.status != 200:
                    raise RuntimeError(f"HTTP {response.status}: {(await response.text())[:500]}")
                return await response.json()
        except Exception as fault:
            self.failed.append(f"{type(fault).__name__}: {fault}")
            raise
