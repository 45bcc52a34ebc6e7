"""Mastra Observational Memory: an observer condenses what was said into a log, a reflector the log (paper 1 §3.1)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from memgauge.conversation import Turn
from memgauge.errors import UserError
from memgauge.memories.base import Card, GatewayAccess, Item, Recalled
from memgauge.memories.provenance import narrowed
from memgauge.products.environment import Product
from memgauge.products.product_memory import ProductMemory

_HERE = Path(__file__).parent

MASTRA = Product(
    "mastra", "Mastra Observational Memory", "@mastra/memory", _HERE / "package-lock.json", memory="mastra-om"
)

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": ("buffered", "sync"),
    "reflection_cursor": ("as-shipped", "fixed"),
}
_COUNTS = ("message_tokens", "observation_tokens", "max_tokens")
_PLAINLY = 10  # turns that may say the same; a line that more of them share words with comes from none in particular


class MastraOM(ProductMemory):
    """Everything is recalled, nothing searched: the log of observations, then what was not observed yet, verbatim.

    At ``message_tokens`` of unobserved messages an observer call turns them into log entries; at
    ``observation_tokens`` of log a reflector call rewrites the log. ``buffered``, the product's default, calls the
    observer ahead of that, every fifth of the way, and the reflector from half of the way; ``sync`` calls them when
    the threshold is reached. Tokens are the product's own estimate. As shipped, a reflection takes back what the
    observation before it had covered, so that it is observed and paid for again; ``reflection_cursor = "fixed"``
    mends that.
    """

    card: ClassVar[Card] = Card(
        name="mastra-om",
        title="Mastra Observational Memory",
        summary="a log that an observer writes and a reflector condenses, and the turns not observed yet",
        parallel_reads=True,
    )
    product: ClassVar[Product] = MASTRA

    def __init__(
        self,
        gateway: GatewayAccess,
        directory: Path,
        mode: str = "buffered",
        message_tokens: int = 30_000,
        observation_tokens: int = 40_000,
        reflection_cursor: str = "as-shipped",
        max_tokens: int = 16_000,
        limits_s: Mapping[str, float] | None = None,
    ) -> None:
        environment = self.environment()
        super().__init__(
            [str(environment.node), str(_HERE / "sidecar.mjs"), str(environment.path)],
            gateway,
            directory,
            options={
                "mode": mode, "message_tokens": message_tokens, "observation_tokens": observation_tokens,
                "reflection_cursor": reflection_cursor, "max_tokens": max_tokens,
            },
            variables={
                "MASTRA_TELEMETRY_DISABLED": "1", "MASTRA_OFFLINE": "1", "MASTRA_AUTO_REFRESH_PROVIDERS": "false",
            },
            limits_s=limits_s,
        )  # fmt: skip
        self._origins: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}  # by turns, then by line

    @classmethod
    def require(cls, options: Mapping[str, Any]) -> None:
        """Raises UserError for an option that means nothing, and where the product is not installed as locked."""
        for name, known in _CHOICES.items():
            if options.get(name, known[0]) not in known:
                raise UserError(f"memory 'mastra-om': {name} is one of {', '.join(known)}, not {options[name]!r}")
        for name in _COUNTS:
            if not isinstance(given := options.get(name, 1), int) or given < 1:
                raise UserError(f"memory 'mastra-om': {name} is a number of tokens, not {given!r}")
        super().require(options)

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The whole context, line by line: each line of the log names the turns that plainly say it."""
        recalled = await super().read(query, at)
        return Recalled(tuple(line for block in recalled.items for line in self._lines(block)))

    def _lines(self, block: Item) -> list[Item]:
        if len(block.turn_ids) < 2:
            return [block]
        known = self._origins.setdefault(block.turn_ids, {})
        lines = block.text.splitlines(keepends=True)
        if new := [line for line in lines if line not in known]:
            turns = [self._written[turn] for turn in block.turn_ids]
            known.update((line, _origin(line, turns)) for line in new)
        return [Item(line, known[line]) for line in lines]


def _origin(line: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """Of the many turns behind an observer's call those that say what a line says; none where none plainly does.

    To name them all would make any recall of evidence look good.
    """
    found = narrowed(line, turns) if line.strip() else ()
    return found if len(found) <= _PLAINLY else ()
