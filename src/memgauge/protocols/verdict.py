"""Reads a judge's reply. What says neither or both is no verdict: it is never taken for right or wrong."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memgauge.found_json import objects

SCHEMA: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "maxLength": 300},
                "verdict": {"type": "string", "enum": ["CORRECT", "WRONG"]},
            },
            "required": ["reason", "verdict"],
            "additionalProperties": False,
        },
    },
}
_LABELS = {"correct": "correct", "wrong": "wrong", "incorrect": "wrong"}
_KEYS = ("verdict", "label", "judgment", "judgement")
# In prose a label counts only in capitals: "not correct" must not be read as a verdict.
_CAPITALS = re.compile(r"\b(CORRECT|WRONG|INCORRECT)\b")


@dataclass(frozen=True, slots=True)
class Verdict:
    """``verdict`` is correct or wrong; ``why`` is the judge's reason, as far as it gave one."""

    verdict: str
    why: str


def parse(reply: str) -> Verdict | None:
    """The verdict of a reply, or None where it gives none or more than one."""
    found = [verdict for value in objects(reply) if (verdict := _of_object(value)) is not None]
    if found:
        return found[0] if len({entry.verdict for entry in found}) == 1 else None
    labels = {_LABELS[label.lower()] for label in _CAPITALS.findall(reply)}
    if len(labels) != 1:
        return None
    return Verdict(labels.pop(), _CAPITALS.sub("", reply).strip(" \n.:*-")[:300])


def _of_object(value: Mapping[str, Any]) -> Verdict | None:
    lowered = {str(key).lower(): entry for key, entry in value.items()}
    labels = {str(lowered[key]).strip().lower() for key in _KEYS if key in lowered}
    verdicts = {_LABELS[label] for label in labels if label in _LABELS}
    if len(verdicts) != 1 or len(labels) != 1:
        return None
    why = next((str(lowered[key]) for key in ("reason", "explanation", "why") if key in lowered), "")
    return Verdict(verdicts.pop(), why[:300])
