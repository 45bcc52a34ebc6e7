"""Finds JSON in what a model wrote: alone, fenced, amid prose, after its thoughts."""

import json
from collections.abc import Mapping
from typing import Any


def objects(reply: str) -> list[Mapping[str, Any]]:
    """The outermost JSON objects that are whole, in order."""
    decoder, found, place = json.JSONDecoder(strict=False), [], reply.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            found.append(value)
        place = reply.find("{", end)
    return found
