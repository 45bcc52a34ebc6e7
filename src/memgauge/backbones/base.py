"""What a chat model is to memgauge: a request in OpenAI's wire terms, a reply, and the usage it reports."""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from memgauge import tokens

Json = Any  # a JSON value as the wire carries it
_MOST_TOKENS = 1 << 40  # no call uses more; what a server says beyond is impossible
Emit = Callable[[Mapping[str, Json]], Awaitable[None]]  # takes one chat.completion.chunk object


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt.

    ``parts`` joined are its text. They are kept apart so that a part seen before is neither hashed, counted nor
    stored again. ``extra`` holds every other field of the wire form (``name``, ``tool_calls``,
    ``tool_call_id``, and ``content`` where it was an array or null, verbatim).
    """

    role: str
    parts: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The whole text of the message."""
        return "".join(self.parts)

    def wire(self) -> dict[str, Json]:
        """The message as OpenAI's chat API carries it."""
        return {"role": self.role, "content": self.text, **self.extra}

    @classmethod
    def from_wire(cls, raw: Mapping[str, Json]) -> "Message":
        """Reads a wire message; a content array keeps its form in ``extra`` and gives its texts as parts."""
        extra = {key: value for key, value in raw.items() if key not in ("role", "content")}
        content = raw.get("content")
        if isinstance(content, str):
            return cls(raw["role"], tokens.pieces(content), extra)
        extra["content"] = content
        texts = (part.get("text") for part in content or () if isinstance(part, Mapping))
        parts = tuple(piece for text in texts if isinstance(text, str) for piece in tokens.pieces(text))
        return cls(raw["role"], parts, extra)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request for one completion: the prompt, and every other field of the request body by its wire name."""

    messages: tuple[Message, ...]
    params: Mapping[str, Json] = field(default_factory=dict)

    def body(self) -> dict[str, Json]:
        """The request body as OpenAI's chat API takes it."""
        return {"messages": [message.wire() for message in self.messages], **self.params}

    @classmethod
    def of(cls, system: str, *user: str, **params: Json) -> "ChatRequest":
        """A system text and one user message made of ``user`` parts."""
        return cls((Message("system", (system,)), Message("user", user)), params)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, each class apart and none counted twice; ``None`` is unknown, never zero.

    ``input`` was charged at the full rate and excludes ``cached`` and ``cache_write``; ``output`` is what the
    reader sees and excludes ``reasoning``. ``source`` says who counted: ``upstream`` (the server's usage),
    ``product`` (a product's own report) or ``tokenizer`` (ours).
    """

    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    embedding: int | None = None
    source: str = "upstream"

    @classmethod
    def from_wire(cls, raw: Mapping[str, Json] | None) -> "Usage":
        """Reads an OpenAI ``usage`` object; a figure that is missing or impossible is unknown.

        ``completion_tokens`` includes reasoning at most servers. Where the server reports more reasoning than
        completion it counts the two apart (seen with gpt-oss), and nothing is subtracted.
        """
        if not isinstance(raw, Mapping):
            return cls()
        prompt = _whole(raw.get("prompt_tokens"))
        prompt_details = _mapping(raw.get("prompt_tokens_details"))
        completion_details = _mapping(raw.get("completion_tokens_details"))
        cached = _whole(prompt_details.get("cached_tokens"))
        cache_write = _whole(prompt_details.get("cache_write_tokens"))
        if prompt is not None and (cached or 0) + (cache_write or 0) > prompt:
            cached = cache_write = None
        completion = _whole(raw.get("completion_tokens"))
        reasoning = _whole(completion_details.get("reasoning_tokens"))
        return cls(
            input=None if prompt is None else prompt - (cached or 0) - (cache_write or 0),
            cached=cached,
            cache_write=cache_write,
            output=_less(completion, reasoning),
            reasoning=reasoning,
        )


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A completion. ``raw`` is the wire form that a gateway client is handed.

    ``latency_s`` is of the request that succeeded, set by backbones that retry; ``ttft_s`` is to its first token.
    """

    text: str
    usage: Usage
    model: str
    finish_reason: str | None = "stop"
    provider: str | None = None
    attempts: int = 1
    latency_s: float | None = None
    ttft_s: float | None = None
    raw: Mapping[str, Json] = field(default_factory=dict)


class Backbone(Protocol):
    """A chat model. ``paid`` says whether a call may cost money; ``window`` is its context in tokens if known."""

    name: str
    model: str
    paid: bool
    window: int | None

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """Completes ``request``.

        With ``emit`` the reply is streamed: every ``chat.completion.chunk`` is emitted as it comes, and the
        returned reply is the sum of them. Raises UpstreamError where no completion could be had.
        """
        ...

    async def close(self) -> None:
        """Releases connections, threads and processes."""
        ...


class UpstreamError(Exception):
    """A call that gave no completion. ``status`` is the HTTP status to pass on, ``kind`` the ledger's outcome.

    Kinds: ``http`` (an error status), ``connection``, ``timeout``, ``malformed`` (an answer that is no
    completion), ``refused`` (content filter), ``context`` (the prompt does not fit the window).
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: str = "http",
        attempts: int = 1,
        body: Mapping[str, Json] | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.attempts = attempts
        self.body = body or {"error": {"message": message, "type": kind, "code": status}}
        self.usage = usage or Usage()

    @property
    def costs_nothing(self) -> bool:
        """Whether no provider charges for it, unless its usage says otherwise: an error status, or never sent."""
        return self.kind in ("http", "context")


# Asked before another attempt at the call in hand, with how the last one failed. The meter sets it for its calls,
# since each attempt may be charged for; without it nobody minds.
another_attempt: ContextVar[Callable[[UpstreamError], Awaitable[bool]] | None] = ContextVar(
    "another_attempt", default=None
)


def completion(
    reply_id: str, model: str, message: Mapping[str, Json], finish_reason: str, usage: Mapping[str, Json]
) -> dict[str, Json]:
    """The ``chat.completion`` object of a backbone that has no server to write one."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    return {"id": reply_id, "object": "chat.completion", "created": 0, "model": model,
            "choices": [choice], "usage": usage}  # fmt: skip


async def emit_whole(reply: Mapping[str, Json], emit: Emit) -> None:
    """Streams a finished completion: one chunk with the message, one with the finish reason, one with usage."""
    head = {key: reply.get(key) for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    for place, choice in enumerate(reply["choices"]):
        if not isinstance(choice, Mapping):
            continue  # only the first is known to be sound
        delta = dict(_mapping(choice.get("message")))
        if isinstance(calls := delta.get("tool_calls"), list):
            delta["tool_calls"] = [{"index": i, **_mapping(call)} for i, call in enumerate(calls)]
        index = choice.get("index", place)
        await emit({**head, "choices": [{"index": index, "delta": delta, "finish_reason": None}]})
        end = {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}
        await emit({**head, "choices": [end]})
    await emit({**head, "choices": [], "usage": reply.get("usage")})


def text_of(content: Json) -> str:
    """The text of a reply's ``content``: itself, or the texts of its parts."""
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _less(completion: int | None, reasoning: int | None) -> int | None:
    if completion is None or reasoning is None or reasoning > completion:
        return completion
    return completion - reasoning
