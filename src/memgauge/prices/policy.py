"""How providers cache prompts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """When a provider serves a prompt's prefix from its cache.

    A prefix shorter than ``min_tokens`` is not cached, a longer one in whole multiples of ``granularity``. It
    lives for ``ttl_turns`` turns or ``ttl_s`` seconds after its last use (``None``: no such limit).
    ``writes`` says whether putting the rest of the prompt into the cache is charged at the price's
    ``cache_write``.
    """

    min_tokens: int = 0
    granularity: int = 1
    ttl_turns: int | None = None
    ttl_s: float | None = None
    writes: bool = False


# What the providers document, for prices that are looked up. Where a figure is a range (the shortest prompt by
# model, how long an unused prefix is kept), the end that does not overstate the saving.
POLICIES = {
    "openai": CachePolicy(min_tokens=1024, granularity=128, ttl_s=300),
    "anthropic": CachePolicy(min_tokens=4096, ttl_s=300, writes=True),
    "groq": CachePolicy(min_tokens=1024, ttl_s=7200),
}
