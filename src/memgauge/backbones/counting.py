"""Exact token usage for backbones without a server: what OpenAI's chat format would count."""

from collections.abc import Sequence
from itertools import accumulate

from memgauge import tokens
from memgauge.backbones.base import ChatReply, Json, Message, Usage, completion
from memgauge.prefix import common_prefix

# Tokens that the chat format puts around every message, and before the reply
# (OpenAI cookbook, "How to count tokens with tiktoken").
PER_MESSAGE = 3
PRIMING = 3

_LONG = 64  # parts from which on it pays to remember a prompt
_OPENING = 3  # parts by which a prompt that grows is recognised
_REMEMBERED = 64  # prompts


class PromptCounter:
    """Counts prompts; one that begins like an earlier one costs little more than its new parts.

    Counted are the parts of every message, PER_MESSAGE for each and PRIMING; neither names nor tools.
    """

    def __init__(self) -> None:
        # Opening -> the latest parts with it, and the sums of their counts, from none of them to all.
        self._seen: dict[tuple[str, ...], tuple[tuple[str, ...], list[int]]] = {}

    def prompt_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt."""
        return PRIMING + sum(PER_MESSAGE + self._count(message.parts) for message in messages)

    def _count(self, parts: tuple[str, ...]) -> int:
        if len(parts) < _LONG:
            return sum(map(tokens.count, parts))
        known, sums = self._seen.pop(parts[:_OPENING], ((), [0]))
        shared = common_prefix(known, parts)
        sums = [*sums[:shared], *accumulate(map(tokens.count, parts[shared:]), initial=sums[shared])]
        self._seen[parts[:_OPENING]] = parts, sums
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return sums[-1]


def counted_reply(
    reply_id: str, model: str, message: dict[str, Json], finish_reason: str, prompt: int, output: int
) -> ChatReply:
    """A reply with the usage that was counted: nothing cached, nothing reasoned."""
    wire = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    usage = Usage(input=prompt, cached=0, output=output, reasoning=0, source="tokenizer")
    raw = completion(reply_id, model, message, finish_reason, wire)
    return ChatReply(message.get("content") or "", usage, model, finish_reason, raw=raw)


def truncated(text: str, limit: int) -> str:
    """The beginning of ``text`` that has at most ``limit`` tokens."""
    import toktok  # slow to load, see memgauge.tokens

    return str(toktok.truncate(text, limit, tokens.VOCABULARY)[0])
