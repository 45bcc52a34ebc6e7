"""Dialogues written by a chat model in chunks of 20 turns (paper 1, appendix B), with a prompt of our own."""

from collections.abc import Iterator
from typing import Any

import msgspec

from memgauge.backbones.base import Backbone, ChatRequest, UpstreamError
from memgauge.errors import UserError
from memgauge.workloads import words
from memgauge.workloads.grammar import Draw, Scenes
from memgauge.workloads.lengths import fitted
from memgauge.workloads.phrases import TAGS

CHUNK = 20
_ATTEMPTS = 3

_SYSTEM = (
    "You write realistic private conversations between two people. "
    'You reply with one JSON object {"turns": [...]} whose value is a list of strings, and with nothing else.'
)
_TASK = """\
Write turns {first} to {last} of a conversation between {one} and {other}, who take turns; {opener} speaks first.
Each turn is about {length} tokens long (roughly {words} words), and there are exactly {count} of them.
Fill the turns with concrete personal facts, none of them mentioned before: names of people and places, dates, numbers,
preferences, habits, plans, relationships. Write only what is said, without the speaker's name.
"""
_SO_FAR = "The conversation ended so far with:\n{latest}\n"


def speakers(turns: int, length: int, seed: int) -> tuple[str, str]:
    """The two people of a dialogue; the first one opens it."""
    one, other, *_ = Draw(f"speakers {turns} {length} {seed}").shuffled(words.FIRST_NAMES)
    return one, other


async def written(writer: Backbone, turns: int, length: int, seed: int) -> list[str]:
    """The texts of a dialogue of ``turns`` turns by ``writer``, each within 15 % of ``length`` o200k tokens.

    A chunk that cannot be used is asked for twice more. Raises UserError where it still cannot, or where the
    writer does not answer.
    """
    draw = Draw(f"padding {turns} {length} {seed}")
    scenes = Scenes(draw)
    texts: list[str] = []
    while len(texts) < turns:
        chunk = await _chunk(writer, texts, min(CHUNK, turns - len(texts)), turns, length, seed)
        texts += [fitted(text, length, scenes, draw.shuffled(TAGS)) for text in chunk]
    return texts


async def _chunk(writer: Backbone, texts: list[str], count: int, turns: int, length: int, seed: int) -> list[str]:
    names = speakers(turns, length, seed)
    task = _TASK.format(
        first=len(texts) + 1, last=len(texts) + count, count=count, length=length, words=length * 3 // 4,
        one=names[0], other=names[1], opener=names[len(texts) % 2],
    )  # fmt: skip
    if texts:
        start = len(texts) - 2
        latest = (f"{names[index % 2]}: {texts[index]}" for index in range(max(start, 0), len(texts)))
        task += _SO_FAR.format(latest="\n".join(latest))
    reply = ""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            # The attempt is part of the prompt, or a model at temperature 0 would say the same again.
            request = ChatRequest.of(_SYSTEM, f"{task}Variation {seed}.{attempt}\n")
            reply = (await writer.chat(request)).text
        except UpstreamError as fault:
            raise UserError(f"{writer.model} could not write the synthetic dialogue: {fault}") from fault
        chunk = parsed(reply)[:count]
        if 2 * len(chunk) >= count:  # models miscount: what is short is made up for by the next chunk
            return chunk
    start_of_reply = " ".join(reply.split())[:80]
    raise UserError(
        f"{writer.model} wrote no usable turns in {_ATTEMPTS} attempts at turns {len(texts) + 1} to "
        f'{len(texts) + count}; expected {{"turns": [...]}}, got: {start_of_reply!r}'
    )


def parsed(reply: str) -> list[str]:
    """The turns in a model's reply: the first JSON object with ``turns`` that stands anywhere in it, or list.

    A turn may be a string or an object with ``text`` or ``content``. Empty where there is none.
    """
    for value in _values(reply):
        turns = value.get("turns") if isinstance(value, dict) else value
        if isinstance(turns, list) and (texts := [text for turn in turns if (text := _text(turn))]):
            return texts
    return []


def _values(reply: str) -> Iterator[Any]:
    """The JSON objects, then the lists, that begin at a bracket and end at the last one of their kind."""
    for opening, closing in ("{}", "[]"):
        end = reply.rfind(closing) + 1
        for position, character in enumerate(reply[:end]):
            if character == opening:
                try:
                    yield msgspec.json.decode(reply[position:end])
                except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
                    continue


def _text(turn: Any) -> str:
    if isinstance(turn, dict):
        turn = turn.get("text") or turn.get("content")
    return " ".join(turn.split()) if isinstance(turn, str) else ""
