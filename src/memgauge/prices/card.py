"""A price card: what models cost at which provider, on one date."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

from memgauge.prices import known
from memgauge.prices.policy import CachePolicy


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs at one provider, in USD per million tokens.

    ``provider`` is ``None`` where the price holds wherever the model is served. A chat model has ``input``
    and ``output``, an embedding model ``embedding``. ``cached_input`` is ``None`` where the provider gives no
    discount, ``cache_write`` where it charges no premium: both are then billed at ``input``. Reasoning is
    billed as output. ``above_tokens`` is the prompt length from which on a long-context price holds.
    ``aliases`` are other names under which upstreams report the model or the provider.
    """

    model: str
    provider: str | None = None
    input: float | None = None
    cached_input: float | None = None
    cache_write: float | None = None
    output: float | None = None
    embedding: float | None = None
    cache: CachePolicy | None = None
    above_tokens: int = 0
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PriceCard:
    """Prices on one date. A model that is not on the card is looked up in genai-prices as of that date."""

    name: str
    date: date
    prices: tuple[Price, ...] = ()
    source: str = ""

    def find(self, model: str, provider: str | None) -> tuple[Price, ...]:
        """The prices of ``model`` at ``provider``: none if unknown, several if long prompts cost more.

        Names match whatever their case, vendor prefix (``openai/``) and quantisation suffix (``/fp8``). A
        call that does not say who served it has a price only if the card leaves no choice.
        """
        listed = self.of_model(model)
        if provider is None:
            single = listed if len({price.provider for price in listed}) == 1 else ()
            exact = tuple(price for price in listed if price.provider is None) or single
        else:
            named = tuple(price for price in listed if _served_by(price, provider))
            exact = named or tuple(price for price in listed if price.provider is None)
        if exact or (listed and provider is None):
            return exact
        return tuple(
            Price(model, provider, *quote)
            for quote in known.quotes(model, provider, datetime.combine(self.date, datetime.min.time(), UTC))
        )

    def of_model(self, model: str) -> tuple[Price, ...]:
        """Every price of ``model`` on the card itself, in the card's order."""
        wanted = _plain(model)
        return tuple(
            price for price in self.prices if wanted == _plain(price.model) or wanted in map(_plain, price.aliases)
        )


def _plain(model: str) -> str:
    return model.rsplit("/", 1)[-1].lower()


def _served_by(price: Price, provider: str) -> bool:
    names = (price.provider or "", *price.aliases)
    return _bare(provider) in map(_bare, names)


def _bare(provider: str) -> str:
    return re.sub(r"[^a-z0-9]", "", provider.split("/", 1)[0].lower())
