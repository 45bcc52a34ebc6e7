"""Reads price cards: the ones that ship with memgauge, and a user's own TOML."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Any

from memgauge.errors import UnknownNameError, UserError
from memgauge.prices.card import Price, PriceCard
from memgauge.prices.policy import CachePolicy

LOOKUP = "genai-prices"  # a card without prices of its own: everything is looked up, as of a date

_MONEY = ("input", "cached_input", "cache_write", "output", "embedding")
_CACHE = {field.name for field in fields(CachePolicy)}
_KEYS = {field.name for field in fields(Price)}


class PriceCardError(UserError):
    """A price card that cannot be used; names the file, the line and what was expected."""


def card_names() -> list[str]:
    """Names of the cards that ship with memgauge; ``genai-prices@DATE`` is understood besides."""
    return sorted(entry.name.removesuffix(".toml") for entry in _shipped().iterdir() if entry.suffix == ".toml")


def load_card(name_or_path: str | Path) -> PriceCard:
    """The card of that name, or the TOML at that path, or ``genai-prices@YYYY-MM-DD``.

    Raises UnknownNameError for a name that is neither, PriceCardError for a card that cannot be used.
    """
    name = str(name_or_path)
    if name in card_names():
        return _read(_shipped() / f"{name}.toml")
    if name.startswith(LOOKUP + "@"):
        return _lookup_card(name)
    path = Path(name_or_path)
    if path.is_file():
        return _read(path)
    if path.suffix == ".toml" or "/" in name:
        raise PriceCardError(f"no price card at {path}")
    raise UnknownNameError("price card", name, [*card_names(), f"{LOOKUP}@{date.today()}"])


def _shipped() -> Path:
    return Path(str(resources.files("memgauge.prices"))) / "cards"


def _lookup_card(name: str) -> PriceCard:
    stated = name.removeprefix(LOOKUP + "@")
    try:
        return PriceCard(name, date.fromisoformat(stated), source=LOOKUP)
    except ValueError:
        raise PriceCardError(f"{name}: {stated!r} is no date; expected {LOOKUP}@YYYY-MM-DD") from None


def _read(path: Path) -> PriceCard:
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as fault:
        raise PriceCardError(f"{path}: cannot be read ({fault})") from None
    except tomllib.TOMLDecodeError as fault:
        raise PriceCardError(f"{path}: not valid TOML: {fault}") from None
    return _Reader(path, text).card(raw)


class _Reader:
    """Turns parsed TOML into a card; every fault names the line on which its table begins."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._starts = [
            number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[\s*price\s*\]\]", line)
        ]

    def card(self, raw: Mapping[str, Any]) -> PriceCard:
        self._only(raw, {"name", "date", "source", "price"}, 1, "the card")
        stated = raw.get("date")
        if not isinstance(stated, date) or isinstance(stated, datetime):
            raise self._fault(1, "date is missing or no date; expected date = 2026-08-01")
        listed = raw.get("price")
        if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
            raise self._fault(1, "no prices; expected one [[price]] table per model and provider")
        name, source = raw.get("name", self._path.stem), raw.get("source", "")
        if not isinstance(name, str) or not isinstance(source, str):
            raise self._fault(1, "name and source must be text")
        prices = tuple(self._price(i, entry) for i, entry in enumerate(listed))
        self._no_twins(prices)
        return PriceCard(name, stated, prices, source)

    def _price(self, place: int, raw: Mapping[str, Any]) -> Price:
        line = self._line(place)
        model, provider = raw.get("model"), raw.get("provider")
        if not isinstance(model, str) or not model:
            raise self._fault(line, 'the price has no model; expected model = "…"')
        if provider is not None and not isinstance(provider, str):
            raise self._fault(line, f"{model}: provider must be text")
        label = model if provider is None else f"{model} at {provider}"
        self._only(raw, _KEYS, line, label)
        money = {key: self._usd(raw[key], line, f"{label}: {key}") for key in _MONEY if key in raw}
        missing = [] if "embedding" in money else [key for key in ("input", "output") if key not in money]
        if missing:
            raise self._fault(
                line,
                f"{label}: {' and '.join(missing)} price missing; expected USD per million tokens"
                " (or embedding, for an embedding model)",
            )
        aliases = raw.get("aliases", [])
        if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
            raise self._fault(line, f"{label}: aliases must be a list of texts")
        above = self._whole(raw.get("above_tokens", 0), line, f"{label}: above_tokens", least=0)
        cache = self._cache(raw["cache"], line, label) if "cache" in raw else None
        return Price(model, provider, **money, cache=cache, above_tokens=above, aliases=tuple(aliases))

    def _cache(self, raw: Any, line: int, label: str) -> CachePolicy:
        if not isinstance(raw, Mapping):
            raise self._fault(line, f"{label}: cache must be a table")
        self._only(raw, _CACHE, line, f"{label}: cache")
        whole = {"min_tokens": 0, "granularity": 1, "ttl_turns": 0}
        values: dict[str, Any] = {
            key: self._whole(raw[key], line, f"{label}: cache.{key}", least=least)
            for key, least in whole.items()
            if key in raw
        }
        if "ttl_s" in raw:
            values["ttl_s"] = self._usd(raw["ttl_s"], line, f"{label}: cache.ttl_s")
        if "writes" in raw:
            if not isinstance(raw["writes"], bool):
                raise self._fault(line, f"{label}: cache.writes must be true or false")
            values["writes"] = raw["writes"]
        return CachePolicy(**values)

    def _usd(self, value: Any, line: int, label: str) -> float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not isfinite(value) or value < 0:
            raise self._fault(line, f"{label} is {value!r}; expected a number of at least 0")
        return float(value)

    def _whole(self, value: Any, line: int, label: str, *, least: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._fault(line, f"{label} is {value!r}; expected a whole number of at least {least}")
        return value

    def _only(self, raw: Mapping[str, Any], known: set[str], line: int, label: str) -> None:
        for key in raw:
            if key not in known:
                raise self._fault(line, str(UnknownNameError(f"key in {label}:", key, known)))

    def _no_twins(self, prices: tuple[Price, ...]) -> None:
        seen: dict[tuple[str, str | None, int], int] = {}
        for place, price in enumerate(prices):
            key = (price.model, price.provider, price.above_tokens)
            if key in seen:
                first = self._line(seen[key])
                raise self._fault(self._line(place), f"{price.model} is priced twice (first on line {first})")
            seen[key] = place

    def _line(self, place: int) -> int:
        return self._starts[place] if place < len(self._starts) else 1

    def _fault(self, line: int, message: str) -> PriceCardError:
        return PriceCardError(f"{self._path}, line {line}: {message}")
