"""Hindsight's server for one unit: its environment made from nothing, its API over HTTP."""

import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from children import child, end, free_port

_INSIDE = Path(__file__).parent / "inside"
_OPERATIONS = ("RETAIN", "REFLECT", "CONSOLIDATION", "MENTAL_MODEL_REFRESH")
_START_S, _TRIES = 240.0, 5


class ServerError(Exception):
    """The server answered a request with an error."""

    def __init__(self, what: str, status: int, detail: str) -> None:
        super().__init__(f"{what}: HTTP {status}: {detail}")
        self.status = status
        self.detail = detail


def environment(
    directory: Path, database: str, access: "dict[str, Any]", options: "dict[str, Any]"
) -> "dict[str, str]":
    """All that the server is told. Every operation gets the unit's model: none is left to another configuration."""
    model = {
        "PROVIDER": "openai", "BASE_URL": access["base_url"], "MODEL": access["model"], "API_KEY": access["api_key"],
    }  # fmt: skip
    embedder = {
        "BASE_URL": access["base_url"], "MODEL": access["embedding_model"], "API_KEY": access["api_key"],
    }  # fmt: skip
    if access["embedding_dimensions"]:
        embedder["DIMENSIONS"] = str(access["embedding_dimensions"])
    told = {
        "DATABASE_URL": database,
        "DB_POOL_MIN_SIZE": "2",
        "HOST": "127.0.0.1",
        "WORKER_ID": "unit",
        "MCP_ENABLED": "false",
        "LOG_LEVEL": "warning",
        "SKIP_LLM_VERIFICATION": "true",  # one call to say ok
        "BANK_STATS_CACHE_TTL_SECONDS": "0",
        "WORKER_POLL_INTERVAL_MS": "50",  # how soon it begins to consolidate; 500 is its own
        "QUERY_ANALYZER_LANGUAGES": options["languages"],
        "RECALL_MAX_QUERY_TOKENS": "100000",  # a turn is a query, however long
        "RERANKER_PROVIDER": "rrf",  # its own needs a model that no package registry has
        "EMBEDDINGS_PROVIDER": "openai",
        "LLM_TIMEOUT": "900",  # what waits for its upstream is the gateway; asked again, both calls are charged
        "LLM_MAX_RETRIES": str(options["retries"]),
        "LLM_STRICT_SCHEMA": str(options["strict_schema"]).lower(),
        "LLM_REQUEST_EXTENSION": "memgauge_inside:Inside",
        "LLM_REQUEST_KEY": access["api_key"],
        "LLM_REQUEST_CALLS": str(directory / "calls.jsonl"),
        **{f"LLM_{name}": value for name, value in model.items()},
        **{f"{operation}_LLM_{name}": value for operation in _OPERATIONS for name, value in model.items()},
        **{f"EMBEDDINGS_OPENAI_{name}": value for name, value in embedder.items()},
    }
    ours = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG", "TZ", "PYTHONHASHSEED")}
    marks = {name: value for name, value in os.environ.items() if name.startswith("MEMGAUGE_")}
    return {
        **ours, **marks, "PYTHONPATH": str(_INSIDE), **{f"HINDSIGHT_API_{name}": text for name, text in told.items()},
    }  # fmt: skip


class Server:
    """One server process and the requests to it."""

    def __init__(self, directory: Path, variables: "dict[str, str]") -> None:
        self._variables = variables
        # Hindsight lets the first .env from here upwards overrule its environment: this one, which is empty.
        self._directory = directory / "server"
        self._directory.mkdir()
        (self._directory / ".env").touch()
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when the server is healthy. Raises RuntimeError where it does not get there."""
        for _ in range(_TRIES):  # another process may take the port first
            self._port = free_port()
            command = [sys.executable, "-m", "hindsight_api.main", "--port", str(self._port)]
            self._process = child(command, self._variables, self._directory)
            deadline = time.monotonic() + _START_S
            while time.monotonic() < deadline and self._process.poll() is None:
                try:
                    if self.ask("GET", "/health")["status"] == "healthy":
                        return
                except (OSError, ServerError, http.client.HTTPException):
                    time.sleep(0.1)
            if self._process.poll() is None:
                raise RuntimeError(f"Hindsight's server is not healthy after {_START_S:g} s")
        raise RuntimeError(f"Hindsight's server ends with exit code {self.ended()} at its start")

    def ask(self, method: str, path: str, body: Any = None) -> "dict[str, Any]":
        """The server's answer. Raises ServerError where it is an error; ends the sidecar where the server is gone."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json"} if content else {})
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        finally:
            connection.close()
        if response.status >= 400:
            raise ServerError(f"{method} {path}", response.status, _detail(text))
        answer: dict[str, Any] = json.loads(text)
        return answer

    def ended(self) -> "int | None":
        """The exit code of a server that is gone."""
        return self._process.poll() if self._process else None

    def stop(self) -> None:
        """Ends the server, and does not wait long for what it is at."""
        if self._process is not None:
            end(self._process, "TERM", 4.0)


def _detail(text: str) -> str:
    try:
        detail = json.loads(text)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = text
    return " ".join(str(detail).split())[:500]
