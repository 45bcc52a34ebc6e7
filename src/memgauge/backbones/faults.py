"""What a server's answer says went wrong, and whether asking again may help."""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from memgauge.backbones.base import Json, UpstreamError, Usage
from memgauge.backbones.waits import asked_wait_s
from memgauge.backbones.wire import decode, encode

_RETRIED = frozenset({408, 429, 500, 502, 503, 504, 529})  # 529: Anthropic's word for overloaded
_LONGEST_MESSAGE = 2000  # characters; servers have been seen to answer with whole pages
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})  # OpenAI's, llama.cpp's
_CONTEXT_WORDS = re.compile(
    r"context.{0,20}(length|window|size)|maximum (context|input|prompt) (length|tokens)|prompt is too long",
    re.IGNORECASE,
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})


class Fault(UpstreamError):  # noqa: N818 - the word that the rest of this package uses
    """An attempt that failed.

    ``again`` says whether another may help, ``wait_s`` what the server asks for, ``unsent`` that it never got out.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: str = "http",
        body: Mapping[str, Json] | None = None,
        usage: Usage | None = None,
        again: bool = False,
        wait_s: float | None = None,
        unsent: bool = False,
    ) -> None:
        super().__init__(message[:_LONGEST_MESSAGE], status=status, kind=kind, body=body, usage=usage)
        self.again = again
        self.wait_s = wait_s
        self.unsent = unsent

    @property
    def costs_nothing(self) -> bool:
        """Whether no provider charges for it; a request that never went out is charged for by none."""
        return self.unsent or super().costs_nothing


def malformed(message: str, usage: Usage | None = None) -> Fault:
    """An answer that is no completion. It may have been charged for, so it is not asked for again."""
    return Fault(message, status=502, kind="malformed", usage=usage)


def opened(body: bytes, headers: Mapping[str, str]) -> dict[str, Json]:
    """The JSON object of a 200 answer; raises a Fault where it is none, or reports an error after all."""
    try:
        value = decode(body)
    except ValueError:
        is_page = body.lstrip().startswith(b"<")
        what = "an HTML page" if is_page else f"no JSON ({start(body)})" if body.strip() else "nothing"
        raise malformed(f"the server answered 200 with {what}") from None
    if not isinstance(value, dict):
        raise malformed(f"the server answered 200 with no JSON object ({start(body)})")
    if value.get("error"):
        raise error_in(value, headers)
    return value


def error_in(value: Mapping[str, Json], headers: Mapping[str, str]) -> Fault:
    """The fault that a 200 answer, a choice or a chunk reports in its ``error`` field."""
    code = _mapping(value["error"]).get("code")
    status = code if isinstance(code, int) and 400 <= code <= 599 else 502
    return refusal(status, headers, encode({name: value[name] for name in ("error", "usage") if name in value}))


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """The fault that an error status and its body tell of."""
    try:
        told = _mapping(decode(body))
    except ValueError:
        told = {}
    error = told.get("error")
    if not isinstance(error, Mapping):
        error = {"message": error or told.get("message") or told.get("detail")}
    message = f"HTTP {status}: {error.get('message') or start(body) or 'no reason given'}"
    codes = {str(error.get("code")), str(error.get("type"))}
    kind = _kind(status, codes, message, error)
    metadata = _mapping(error.get("metadata"))  # OpenRouter hands its rate-limit headers on inside the error
    asked = {str(name).lower(): str(text) for source in (headers, _mapping(metadata.get("headers")))
             for name, text in source.items()}  # fmt: skip
    wanted = asked.get("x-should-retry") != "false" and "insufficient_quota" not in codes
    return Fault(
        message,
        status=status if status >= 400 else 502,
        kind=kind,
        body=told if "error" in told else None,
        usage=Usage.from_wire(told.get("usage")),
        again=status in _RETRIED and kind == "http" and wanted,
        wait_s=asked_wait_s(asked, status),
    )


def together(first: Usage | None, second: Usage | None) -> Usage | None:
    """What two attempts at one call used; a class that neither reports stays unknown."""
    if first is None or second is None:
        return first or second
    figures: dict[str, Any] = {}
    for name in (field.name for field in fields(Usage) if field.name != "source"):
        known = [figure for figure in (getattr(first, name), getattr(second, name)) if figure is not None]
        figures[name] = sum(known) if known else None
    return replace(first, **figures)


def start(body: bytes) -> str:
    """The first words of a body that is not what was expected."""
    return " ".join(body[:400].decode(errors="replace").split())[:120]


def _kind(status: int, codes: set[str], message: str, error: Mapping[str, Json]) -> str:
    if codes & _CONTEXT_CODES or (status in (400, 413, 422) and _CONTEXT_WORDS.search(message)):
        return "context"
    if codes & _FILTER_CODES or (status == 403 and "reasons" in _mapping(error.get("metadata"))):
        return "refused"  # the latter is OpenRouter's form
    return "http" if status >= 400 else "malformed"


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
