"""The most tokens that a request can be charged for, whatever the model's tokenizer.

No token of a byte-level BPE, nor of SentencePiece with byte fallback, is shorter than a byte, so the UTF-8 bytes of
a prompt are a bound that no such tokenizer can pass; on English text it is four to five times the real count. What
a server wraps around the messages has an allowance of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgauge.backbones.base import Message
from memgauge.backbones.wire import encode
from memgauge.meter.overrides import output_limit

# Tokens that chat templates put around a message, and before the first: the longest default system prompts
# (Harmony's, Qwen's) have less than a hundred.
PER_MESSAGE = 16
FRAME = 256
# What servers write into the prompt for tools besides their schemas (Anthropic documents 313 to 530).
TOOLS_FRAME = 1024
# More than any provider documents for one image (48,169: gpt-4o-mini, eight tiles at high detail).
PER_IMAGE = 50_000
# Schemas may be written out with blanks and line breaks that the request does not have.
_SPELLED_OUT = 2

# Fields that make a server add to the prompt or the reply by its own lights.
_OPEN_ENDED = ("plugins", "web_search_options", "prediction", "audio")
_BOUNDED_PARTS = ("text", "image_url", "refusal")


@dataclass(frozen=True, slots=True)
class Bound:
    """Tokens read and written at most; ``why_open`` says what keeps either from having a bound."""

    input: int
    output: int
    why_open: str | None = None


def of_chat(messages: Sequence[Message], pieces: Iterable[str], params: Mapping[str, Any]) -> Bound:
    """The bound of a chat request; ``pieces`` are all texts and fields of its ``messages``."""
    read = FRAME + PER_MESSAGE * len(messages) + sum(map(_bytes, pieces)) + _SPELLED_OUT * len(encode(params))
    if params.get("tools") or params.get("functions"):
        read += TOOLS_FRAME
    why_open = next((f"{name!r}" for name in _OPEN_ENDED if params.get(name)), None)
    for message in messages:
        if isinstance(parts := message.extra.get("content"), list):
            kinds = [part.get("type") if isinstance(part, Mapping) else None for part in parts]
            read += PER_IMAGE * kinds.count("image_url")
            why_open = why_open or next(
                (f"a part of type {kind!r}" for kind in kinds if kind not in _BOUNDED_PARTS), None
            )
    limit, choices = output_limit(params), params.get("n")
    if limit is None:
        why_open = why_open or "a reply without a limit (set max_output_tokens: flag --max-output-tokens)"
    return Bound(read, (limit or 0) * (choices if isinstance(choices, int) and choices > 1 else 1), why_open)


def of_texts(texts: Sequence[str]) -> Bound:
    """The bound of an embedding request."""
    return Bound(PER_MESSAGE * len(texts) + sum(map(_bytes, texts)), 0)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
