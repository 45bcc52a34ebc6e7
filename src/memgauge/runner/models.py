"""Opens the models of a setting, and the meter over them."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from memgauge.backbones import registry as backbones
from memgauge.backbones.base import Backbone
from memgauge.embedders import registry as embedders
from memgauge.embedders.base import Embedder
from memgauge.ledger.flights import Flights
from memgauge.ledger.writer import Ledger
from memgauge.memories import registry as memories
from memgauge.meter.budget import Budget, Pricer
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter
from memgauge.prices import PriceCard, worst_case
from memgauge.spec import Experiment, Setting

OPENROUTER = "openrouter"

_Model = TypeVar("_Model", Backbone, Embedder)


@dataclass(frozen=True, slots=True)
class Models:
    """The chat model and the embedder of a setting."""

    backbone: Backbone
    embedder: Embedder

    @property
    def paid(self) -> bool:
        """Whether a call may cost money."""
        return self.backbone.paid or self.embedder.paid

    def provenance(self) -> dict[str, str]:
        """Exactly which weights and runtimes these are, as far as the models can tell."""
        found: dict[str, str] = {}
        for model in (self.backbone, self.embedder):
            if isinstance(model, _Traced):
                found |= model.provenance()
        return found


def check(setting: Setting) -> None:
    """Raises UserError where the setting names what does not exist or lacks what it needs."""
    backbones.check(setting)
    embedders.check(setting)


async def open_models(setting: Setting, stack: AsyncExitStack, calls: int) -> Models:
    """The models of a setting that ``check`` has passed, for ``calls`` at a time; ``stack`` closes them.

    Raises UserError where an endpoint is unreachable, its key is wrong, or it does not have the model.
    """

    async def opened(model: _Model) -> _Model:
        stack.push_async_callback(model.close)
        if isinstance(model, _Checked):
            await model.check()
        return model

    return Models(
        await opened(backbones.create(setting, max_connections=calls)), await opened(embedders.create(setting))
    )


async def open_gateway(experiment: Experiment, stack: AsyncExitStack) -> Gateway | None:
    """A gateway, where some memory of the experiment runs outside this process."""
    if not any(memories.wants(use.name, "gateway") for use in experiment.memory_uses()):
        return None
    gateway = Gateway()
    await gateway.start()
    stack.push_async_callback(gateway.close)
    return gateway


def pricer(setting: Setting, model: str, card: PriceCard | None) -> Pricer:
    """What a call to ``model`` can cost at most: by the card, by its maker, or by what OpenRouter lists for it."""
    return partial(at_most_usd, model, card, (None, OPENROUTER) if setting.on_openrouter else (None,))


def at_most_usd(
    model: str, card: PriceCard | None, sellers: Sequence[str | None], read: int, written: int, cached: int = 0
) -> float | None:
    """What a call can cost at most, by the first of ``sellers`` (None: the maker) that has a price for ``model``."""
    asked = (worst_case(read, written, model, seller, card, cached_tokens=cached) for seller in sellers)
    return next((usd for usd in asked if usd is not None), None)


def meter_of(
    ledger: Ledger,
    setting: Setting,
    models: Models,
    budget: Budget,
    card: PriceCard | None,
    flights: Flights | None = None,
) -> Meter:
    """The meter of a setting; what a call may cost at most is read off ``card``, else off genai-prices.

    Calls under way are noted in ``flights`` where they cost something.
    """
    backbone, embedder = models.backbone, models.embedder
    return Meter(
        ledger,
        setting,
        backbone,
        embedder,
        budget=budget,
        price_chat=pricer(setting, backbone.model, card) if backbone.paid else None,
        price_embedding=pricer(setting, embedder.model, card) if embedder.paid else None,
        flights=flights if models.paid or budget.capped else None,
    )


@runtime_checkable
class _Checked(Protocol):
    """A model that can tell beforehand whether it will answer."""

    async def check(self) -> None: ...


@runtime_checkable
class _Traced(Protocol):
    """A model that can tell exactly which weights and runtime it is."""

    def provenance(self) -> dict[str, str]: ...
