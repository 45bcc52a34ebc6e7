"""Prices of models that are on no card, from the genai-prices package, always as of a given date."""

from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from memgauge.prices.policy import POLICIES, CachePolicy

# Names of models that only their maker sells. A call that does not say who served it may have run anywhere,
# so an open-weight model gets no price without a provider; these do.
_MAKERS = {
    "gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "chatgpt-": "openai",
    "text-embedding-3": "openai", "claude-": "anthropic", "gemini-": "google", "grok-": "x-ai",
}  # fmt: skip
_OPEN_WEIGHTS = ("gpt-oss",)


class Quote(NamedTuple):
    """USD per million tokens, in the order of memgauge.prices.card.Price."""

    input: float | None
    cached_input: float | None
    cache_write: float | None
    output: float | None
    embedding: float | None
    cache: CachePolicy | None = None
    above_tokens: int = 0


@lru_cache(maxsize=4096)
def quotes(model: str, provider: str | None, at: datetime) -> tuple[Quote, ...]:
    """What genai-prices knew of ``model`` at ``provider`` on a date; empty where it knows nothing.

    Several quotes are the tiers of a long-context price, shortest prompts first.
    """
    seller = provider or _maker(model)
    if seller is None:
        return ()
    from genai_prices import Usage, calc_price  # a quarter of a second, and most runs need none of it

    for name in dict.fromkeys((model, model.rsplit("/", 1)[-1])):
        try:
            found = calc_price(Usage(input_tokens=0), name, provider_id=seller.lower(), genai_request_timestamp=at)
        except LookupError:
            continue
        price = found.model_price
        tiers = sorted({0} | {tier.start for part in _parts(price) for tier in getattr(part, "tiers", ())})
        policy = POLICIES.get(found.provider.id)
        quoted = (_quote(price, start, policy) for start in tiers)
        return tuple(quote for quote in quoted if quote.input is not None)
    return ()


def _maker(model: str) -> str | None:
    if model.startswith(_OPEN_WEIGHTS):
        return None
    return next((maker for prefix, maker in _MAKERS.items() if model.startswith(prefix)), None)


def _parts(price: Any) -> tuple[Any, ...]:
    return (price.input_mtok, price.cache_read_mtok, price.cache_write_mtok, price.output_mtok)


def _quote(price: Any, prompt_tokens: int, policy: CachePolicy | None) -> Quote:
    read, cached, written, output = (_usd(part, prompt_tokens) for part in _parts(price))
    return Quote(read, cached, written, output, read if output is None else None, policy, prompt_tokens)


def _usd(price: Any, prompt_tokens: int) -> float | None:
    if price is None:
        return None
    if isinstance(price, (Decimal, int, float)):
        return float(price)
    reached = [tier.price for tier in price.tiers if tier.start <= prompt_tokens]
    return float(reached[-1] if reached else price.base)
