"""Serve: a dialogue is replayed turn by turn (paper 1 §3.3, figure 1): read, answer, and the ingest gate.

The dialogue is scripted: every turn, of either speaker, is the query of its own step, and what the backbone
answers is not fed back. Turns wait at the gate until the memory's trigger fires; turns that are still waiting at
the end are never written, as in the paper, where a conversation of 15 turns holds one ingest of ten.
"""

from memgauge.backbones.base import ChatRequest
from memgauge.conversation import Turn
from memgauge.protocols.play import Play
from memgauge.protocols.prompts import reply_messages


async def serve(play: Play) -> None:
    """Plays every turn. Raises UpstreamError at the first turn that could not be answered.

    Raises EverythingLostError at the end where none of the writes left anything behind.
    """
    waiting: list[Turn] = []
    for number, turn in enumerate(play.conversation.turns, start=1):
        context = await play.read(number, turn.text, at=turn.time)
        with play.answering(number):
            messages = reply_messages(context.parts, turn.line())
            await play.unit.chat(ChatRequest(messages, {"max_tokens": play.answer_tokens}))
        waiting.append(turn)
        if len(waiting) == play.write_every:
            await play.write(number, waiting)
            waiting = []
        play.tick(number)
    play.check_kept()
