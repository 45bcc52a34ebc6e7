"""JSON as it travels: fast where the text is sound, mended where it holds lone surrogates."""

import json

import msgspec

from memgauge.backbones.base import Json
from memgauge.tokens import sanitize


def encode(value: Json, *, sort: bool = False) -> bytes:
    """JSON in UTF-8; lone surrogates, which UTF-8 cannot carry, become U+FFFD. ``sort`` orders the keys."""
    try:
        return msgspec.json.encode(value, order="sorted" if sort else None)
    except UnicodeEncodeError:
        return sanitize(json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort)).encode()


def decode(body: bytes) -> Json:
    """The value of a JSON text; lone surrogates in escapes become U+FFFD. Raises ValueError."""
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return msgspec.json.decode(encode(json.loads(body)))
    except RecursionError:
        raise ValueError("nested too deeply") from None
