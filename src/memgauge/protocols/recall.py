"""Recall: the whole conversation is written first, then every question is asked (paper 1 §3.4, paper 2)."""

import asyncio
import json
from dataclasses import dataclass
from itertools import count

from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.conversation import Question
from memgauge.ledger.records import AnswerRecord
from memgauge.memories.base import Recalled
from memgauge.meter.stops import Stop
from memgauge.protocols.play import Play
from memgauge.protocols.prompts import answer_messages

# A unit is given up when so many of its questions ended in an error, and they are more than this share of those
# asked: no table will rank it any more (analysis ranks none with more than 5 %).
_ERRORS, _SHARE = 10, 0.2


class TooManyErrorsError(Exception):
    """A unit of which so many questions ended in an error that the rest would be asked in vain."""


async def recall(play: Play) -> None:
    """Writes all turns in the batches of the memory's trigger, then asks.

    Raises UpstreamError where writing failed, EverythingLostError where none of the writes left anything behind: no
    such memory is asked. A question that could not be answered is recorded as an error, neither right nor wrong, and
    the next one is asked; TooManyErrorsError ends that where it happens too often.
    """
    turns = play.conversation.turns
    for start in range(0, len(turns), play.write_every):
        batch = turns[start : start + play.write_every]
        await play.write(start + len(batch), batch)
        play.tick(start + len(batch))
    play.check_kept()
    questions = enumerate(play.conversation.questions, start=1)
    answered = count(len(turns) + 1)
    tally = _Tally()
    if play.asks is None:
        for ordinal, question in questions:
            play.ledger.add_answer(answer := await _ask(play, ordinal, question))
            play.tick(next(answered))
            tally.add(answer)
        return
    ended: list[Exception] = []

    async def one(gate: asyncio.Semaphore, ordinal: int, question: Question) -> None:
        async with gate:
            if ended:
                return
            try:
                play.ledger.add_answer(answer := await _ask(play, ordinal, question))
                tally.add(answer)
            except (Stop, TooManyErrorsError) as end:
                ended.append(end)  # questions under way are paid for: they are answered, and no other is asked
                return
        play.tick(next(answered))

    try:
        async with asyncio.TaskGroup() as group:
            for ordinal, question in questions:
                group.create_task(one(play.asks, ordinal, question))
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    if ended:
        raise ended[0]


@dataclass(slots=True)
class _Tally:
    """Counts answers and errors; raises TooManyErrorsError when it is time."""

    asked: int = 0
    errors: int = 0

    def add(self, answer: AnswerRecord) -> None:
        self.asked += 1
        self.errors += answer.outcome != "ok"
        if self.errors >= _ERRORS and self.errors > _SHARE * self.asked:
            raise TooManyErrorsError(
                f"{self.errors} of {self.asked} questions ended in an error; the last: {answer.error}"
            )


async def _ask(play: Play, ordinal: int, question: Question) -> AnswerRecord:
    turn = len(play.conversation.turns)
    context, answer, error = None, None, None
    try:
        context = await play.read(turn, question.text, question.id, question.time)
        with play.answering(turn, question.id):
            messages = answer_messages(context.parts, question.text, question.time)
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
        recalled=None if context is None else _ranking(context.recalled),
        context_tokens=None if context is None else context.tokens,
    )


def _ranking(recalled: Recalled) -> str:
    ranked = recalled.ranked
    if ranked is None:
        ranked = tuple(item.turn_ids for item in recalled.items)
    return json.dumps(ranked)
