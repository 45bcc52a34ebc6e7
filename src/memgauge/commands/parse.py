"""Reads what flags carry: names, pairs, shares and cells. Every fault is one line."""

import json
import re
from collections.abc import Sequence
from typing import Any

from memgauge.errors import UserError


def names(text: str | None) -> tuple[str, ...]:
    """``A,B`` as names."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def option(text: str) -> tuple[str, Any]:
    """``KEY=VALUE``, the value as JSON where it is JSON, else as text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UserError(f"-W {text}: expected KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """``A=B`` as a mapping."""
    found: dict[str, str] = {}
    for text in texts:
        left, equals, right = text.partition("=")
        if not (left and equals and right):
            raise UserError(f"{flag} {text}: expected ONE=OTHER")
        found[left] = right
    return found


def shares(texts: Sequence[str]) -> dict[str, float]:
    """``NAME=SHARE`` as a mapping; a single ``NAME`` has it all."""
    if len(texts) == 1 and "=" not in texts[0]:
        return {texts[0]: 1.0}
    found: dict[str, float] = {}
    for name, share in pairs(texts, "--provider").items():
        try:
            found[name] = float(share)
        except ValueError:
            raise UserError(f"--provider {name}={share}: the share must be a number, such as 0.9") from None
    return found


def cells(texts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """``NxL`` as turns and tokens per turn."""
    found = []
    for text in texts:
        match = re.fullmatch(r"(\d+)\s*[x×,]\s*(\d+)", text)
        if match is None:
            raise UserError(f"--cell {text}: expected turns x tokens per turn, such as 100x100")
        found.append((int(match[1]), int(match[2])))
    return tuple(found)
