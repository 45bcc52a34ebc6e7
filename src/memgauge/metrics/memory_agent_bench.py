"""MemoryAgentBench's rules: is the answer right, as its own scorer has it and as its prompts ask for it?

The task (``icl_…``, ``detective_qa``, ``factconsolidation_…``, …) is the category of its questions. Example
labels and detective questions want an exact match; facts, events and documents want the gold as a substring.
Tasks that a judge or a recommender's list decides have no rule here (None).

Where the two differ, and why we report both:

- Example labels. The prompt asks for ``label: 43``, the official scorer knows only ``Answer:``: it scores
  ``label: 43`` as wrong. Corrected, either marker may stand before the label, and words beside a number do not
  matter while it is the only number.
- Detective questions. The prompt asks for JSON with an ``answer``, the official scorer matches the whole text.
  Corrected, the field is read; an option's letter decides where the answer begins with one, else its words.
- Substrings. Officially a substring of characters anywhere in the answer, so that the gold ``Iran`` is found in
  ``Tirana`` and an answer that names several candidates is right. Corrected, the gold must stand in whole words
  in what comes after the marker, where there is one.
"""

import json
import re
import string
from collections.abc import Callable, Sequence

_LABELS, _DETECTIVE = "icl", "detective_qa"
_SUBSTRING = ("factconsolidation", "eventqa", "ruler")

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ANSWER_LINE = re.compile(r"answer:(.*)", re.IGNORECASE)
_MARKER = re.compile(r"\b(?:answer|label)\b[*_`\"' ]*[:=]", re.IGNORECASE)
_FIELD = re.compile(r'"(?:answer|label)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)', re.IGNORECASE)
_OPTION = re.compile(r"\(?([A-Ha-h])(?:[).:]\s*|\s*$)")
_NUMBER = re.compile(r"\d+")


def official(answer: str, golds: Sequence[str], task: str) -> float | None:
    """1 or 0 as the benchmark's scorer says.

    The raw answer and what follows ``Answer:`` (else its first line) are scored and the better counts; of
    example labels only the latter.
    """
    parsed = _officially_parsed(answer)
    said = [_norm(text) for text in ((parsed,) if task.startswith(_LABELS) else (answer, parsed))]
    if task.startswith((_LABELS, _DETECTIVE)):
        return _best(golds, lambda gold: _norm(gold) in said)
    if task.startswith(_SUBSTRING):
        return _best(golds, lambda gold: any(_norm(gold) in text for text in said))
    return None


def corrected(answer: str, golds: Sequence[str], task: str) -> float | None:
    """1 or 0 by what the prompt of the task asks for."""
    said = reading(answer)
    if task.startswith(_LABELS):
        return _best(golds, lambda gold: _same_label(said, gold))
    if task.startswith(_DETECTIVE):
        return _best(golds, lambda gold: _same_option(said, gold))
    if task.startswith(_SUBSTRING):
        return _best(golds, lambda gold: f" {_norm(gold)} " in f" {_norm(said)} ")
    return None


def reading(answer: str) -> str:
    """What an answer gives as its answer: the JSON field, else the line after the last marker, else all of it."""
    if fields := _FIELD.findall(answer):
        return _value(fields[-1])
    parts = _MARKER.split(answer)
    said = parts[-1].strip()
    return (said.partition("\n")[0] if len(parts) > 1 else said).strip(" *_`\"'")


def _officially_parsed(answer: str) -> str:
    found = _ANSWER_LINE.search(answer)
    line = found[1].strip() if found else answer.partition("\n")[0].strip()
    return re.sub("^answer:", "", line, flags=re.IGNORECASE).strip()


def _same_label(said: str, gold: str) -> bool:
    if gold.strip().isdigit():
        return _NUMBER.findall(said) == [gold.strip()]
    return _norm(said) == _norm(gold)


def _same_option(said: str, gold: str) -> bool:
    mine, right = _OPTION.match(said.strip()), _OPTION.match(gold.strip())
    if mine and right:
        return mine[1].upper() == right[1].upper()
    return _norm(_without_letter(said)) == _norm(_without_letter(gold))


def _without_letter(text: str) -> str:
    option = _OPTION.match(text.strip())
    return text.strip()[option.end() :] if option else text


def _value(field: str) -> str:
    try:
        return str(json.loads(field, strict=False)).strip()
    except ValueError:  # an escape that JSON does not know
        return field.strip('"').strip()


def _best(golds: Sequence[str], right: Callable[[str], bool]) -> float | None:
    return max((float(right(gold)) for gold in golds if gold.strip()), default=None)


def _norm(text: str) -> str:
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())
