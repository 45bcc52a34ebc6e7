"""The harness sets the backbone, always: whatever a caller asks for, the setting's word is what is sent."""

from collections.abc import Mapping
from typing import Any

from memgauge.spec import Setting

# Request fields that a setting decides about, under every name that servers know them by.
_MODEL = ("model", "models")
_EFFORT = ("reasoning_effort", "reasoning")
_LIMITS = ("max_completion_tokens", "max_tokens")
_ROUTING = ("provider",)
_TRANSPORT = ("stream", "stream_options")  # how the reply travels is between the gateway and its client


def overridden(
    setting: Setting, model: str, params: Mapping[str, Any], seed: int | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The request fields that are sent, and those that were asked for and replaced or dropped.

    The setting's ``max_output_tokens`` is a cap: a lower limit that the caller asked for stands. ``seed`` is
    sent where the setting samples (temperature above zero), so that repeats of one seed repeat.
    """
    sent = {name: value for name, value in params.items() if name not in _TRANSPORT}
    wanted: dict[str, Any] = {"model": model}
    if setting.temperature is not None:
        wanted["temperature"] = setting.temperature
        if setting.temperature > 0 and seed is not None:
            wanted["seed"] = seed
    if setting.provider is not None:
        wanted["provider"] = setting.provider
    if setting.effort is not None:
        wanted |= _effort(setting)
    if setting.max_output_tokens is not None:
        wanted |= _limit(setting.max_output_tokens, params)

    asked: dict[str, Any] = {}
    for name in (*_MODEL, *_EFFORT, *_ROUTING, *wanted):
        if name in params and params[name] != wanted.get(name):
            asked[name] = params[name]
            sent.pop(name, None)  # ``wanted`` names some of these again
    return sent | wanted, asked


def output_limit(params: Mapping[str, Any]) -> int | None:
    """The most tokens that a request lets the model write, or None where it names no limit.

    Where it names two, nobody knows which of them the server heeds.
    """
    limits = [_limit_of(params[name]) for name in _LIMITS if params.get(name) is not None]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


def _effort(setting: Setting) -> dict[str, Any]:
    if setting.on_openrouter:
        return {"reasoning": {"effort": setting.effort}}
    return {"reasoning_effort": setting.effort}


def _limit(cap: int, params: Mapping[str, Any]) -> dict[str, Any]:
    named = [name for name in _LIMITS if name in params] or [_LIMITS[-1]]
    return {name: min(cap, _limit_of(params.get(name)) or cap) for name in named}


def _limit_of(value: Any) -> int | None:
    """A limit as servers understand it; -1, which some take for none, is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
