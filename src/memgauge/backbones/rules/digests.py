"""One text out of many: what a prompt lists in a fence, one JSON object a line, and asks to be made one."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress

from memgauge.backbones.base import Message
from memgauge.backbones.rules.lines import split

_FENCED = re.compile(r"^```\w*\n(?P<body>\{.*?\}(?:\n\{.*?\})*)\n```$", re.MULTILINE | re.DOTALL)
_ASKED = re.compile(r"\b(?:summar|synthes|condens|merge)", re.IGNORECASE)
_LONGEST = 1200  # characters of a digest


def wanted_digest(messages: Sequence[Message]) -> list[str] | None:
    """The texts to be made one; None where nothing of the kind is asked."""
    last = messages[-1] if messages else None
    if last is None or last.role != "user" or not (fenced := _FENCED.search(last.text)):
        return None
    if not _ASKED.search(last.text[: fenced.start()]):
        return None
    texts: list[str] = []
    for line in fenced["body"].split("\n"):
        with suppress(ValueError):
            listed = json.loads(line)
            texts += [value for value in listed.values() if isinstance(value, str)] if isinstance(listed, dict) else []
    return texts or None


def digest(texts: Sequence[str]) -> str:
    """The first sentences of each text, no sentence twice, so that all of them have their say."""
    share = _LONGEST // len(texts)
    kept: dict[str, None] = {}
    for text in texts:
        used = 0
        for said in split(text):
            if used and used + len(said) > share:
                break
            kept[said[:_LONGEST]] = None
            used += len(said)
    return " ".join(kept) or " ".join(texts)[:_LONGEST]
