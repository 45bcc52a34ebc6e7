"""Whether an endpoint is what the user takes it for, asked before anything is run or spent."""

from collections.abc import Awaitable, Callable
from difflib import get_close_matches

from memgauge.backbones.faults import Fault
from memgauge.backbones.http import EndpointError, Server
from memgauge.backbones.wire import encode


async def check(server: Server, model: str, probe: Callable[[], Awaitable[object]]) -> None:
    """Raises EndpointError unless the server is there, takes the key and serves ``model``.

    ``probe`` makes the smallest call there is, for servers that do not list their models.
    """
    try:
        names = await _listed(server)
        if names is None:
            await probe()
        elif not _serves(names, model):
            raise EndpointError(f"{server.base_url} has no model {model!r}; {_hint(names, model)}")
        elif server.has_key:
            await _check_key(server, model)
    except Fault as fault:
        raise EndpointError(_explained(fault, server, model)) from fault


async def _listed(server: Server) -> list[str] | None:
    """The models that the server lists, or None where it lists none."""
    try:
        listing, _ = await server.json("GET", "/models")
        return [str(entry["id"]) for entry in listing["data"]]
    except Fault as fault:
        if fault.kind == "connection" or fault.status in (401, 402, 403):
            raise
        return None
    except (LookupError, TypeError):
        return None


async def _check_key(server: Server, model: str) -> None:
    """Sends a prompt without messages: refused for its key or for its form, and so never charged for.

    A listing of models proves nothing: OpenRouter shows its own to anybody.
    """
    body = encode({"model": model, "messages": [], "max_tokens": 1})
    try:
        await server.json("POST", "/chat/completions", body)
    except Fault as fault:
        if fault.status in (401, 402, 403):
            raise


def _serves(names: list[str], model: str) -> bool:
    """Ollama lists ``name:latest`` for ``name``; OpenRouter takes ``name:nitro`` where it lists ``name``."""
    return model in names or f"{model}:latest" in names or model.rpartition(":")[0] in names


def _hint(names: list[str], model: str) -> str:
    if close := get_close_matches(model, names, n=1, cutoff=0.5):
        return f"did you mean {close[0]!r}?"
    if not names:
        return "it serves none at all"
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"it serves {', '.join(sorted(names)[:10])}{more}"


def _explained(fault: Fault, server: Server, model: str) -> str:
    if fault.kind == "connection":
        return f"{fault}; is the server running?"
    if fault.status in (401, 403):
        return f"{server.base_url} refuses the API key ({fault}); check the variable that holds it"
    if fault.status == 402:
        return f"{server.base_url} wants to be paid first ({fault})"
    return f"{server.base_url} does not serve {model!r} ({fault})"
