"""Recall: the whole conversation is written first, then every question is asked (paper 1 §3.4, paper 2)."""

import asyncio
import json
from itertools import count

from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.conversation import Question
from memgauge.ledger.records import AnswerRecord
from memgauge.memories.base import Recalled
from memgauge.protocols.play import Play
from memgauge.protocols.prompts import answer_messages, parts_of


async def recall(play: Play) -> None:
    """Writes all turns in the batches of the memory's trigger, then asks.

    Raises UpstreamError where writing failed: an incomplete memory is not asked. A question that could not be
    answered is recorded as an error, neither right nor wrong, and the next one is asked.
    """
    turns = play.conversation.turns
    for start in range(0, len(turns), play.write_every):
        batch = turns[start : start + play.write_every]
        await play.write(start + len(batch), batch)
        play.tick(start + len(batch))
    questions = enumerate(play.conversation.questions, start=1)
    answered = count(len(turns) + 1)
    if play.asks is None:
        for ordinal, question in questions:
            play.ledger.add_answer(await _ask(play, ordinal, question))
            play.tick(next(answered))
        return

    async def one(gate: asyncio.Semaphore, ordinal: int, question: Question) -> None:
        async with gate:
            play.ledger.add_answer(await _ask(play, ordinal, question))
        play.tick(next(answered))

    try:
        async with asyncio.TaskGroup() as group:
            for ordinal, question in questions:
                group.create_task(one(play.asks, ordinal, question))
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None


async def _ask(play: Play, ordinal: int, question: Question) -> AnswerRecord:
    turn = len(play.conversation.turns)
    recalled, size, answer, error = None, None, None, None
    try:
        recalled, size = await play.read(turn, question.text, question.id)
        with play.answering(turn, question.id):
            messages = answer_messages(parts_of(recalled.items), question.text, question.time)
            reply = await play.unit.chat(ChatRequest(messages, {"max_tokens": play.answer_tokens}))
        answer = reply.text.strip()
    except UpstreamError as fault:
        error = str(fault)
    return AnswerRecord(
        unit=play.unit.unit,
        ordinal=ordinal,
        question=question.id,
        text=question.text,
        category=question.category,
        golds=json.dumps(question.answers, ensure_ascii=False),
        evidence=json.dumps(question.evidence),
        unanswerable=question.unanswerable,
        answer=answer,
        outcome="ok" if error is None else "error",
        error=error,
        recalled=None if recalled is None else _ranking(recalled),
        context_tokens=size,
    )


def _ranking(recalled: Recalled) -> str:
    ranked = recalled.ranked
    if ranked is None:
        ranked = tuple(item.turn_ids for item in recalled.items)
    return json.dumps(ranked)
