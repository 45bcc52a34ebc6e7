"""The prompts that the harness itself writes, the same for every memory, backbone and protocol.

As in paper 1 (appendix C) the answer is to be brief, grounded in the memory alone, and dated from the messages.

The recalled text stands before what is asked, so that a memory that only appends keeps its prefix cacheable.
Every part ends in a line break and the next begins with a letter or a bracket: token counts of parts add up
(memgauge.tokens). ``VERSION`` goes into the provenance of a run; change it with any wording.
"""

from datetime import datetime

from memgauge.backbones.base import Message
from memgauge.conversation import ABSTENTION, spoken

VERSION = "1"

_ANSWER = (
    "You have talked with someone before. First comes what you remember of the conversation, oldest message first,"
    " where it is known with its date in brackets; then comes a new message or a question."
    " Answer it from what you remember and from nothing else, in a few words, as they stand there."
    " Turn times such as yesterday or last week into dates, counted from the date in brackets before the message."
    f" If the conversation does not say, answer: {ABSTENTION}"
)
_MEMORY = "Remembered conversation:\n"
_NOTHING = "Nothing is remembered.\n"
_MESSAGE = "New message:\n"
_QUESTION = "Question: "


def reply_messages(context: tuple[str, ...], message: str) -> tuple[Message, ...]:
    """The prompt for a served turn (paper 1 §3.3)."""
    return _messages(context, (_MESSAGE, message))


def answer_messages(context: tuple[str, ...], question: str, asked: datetime | None = None) -> tuple[Message, ...]:
    """The prompt for a question about a remembered conversation (paper 1 §3.4), dated where the source dates it."""
    dated = f"Question, asked on {spoken(asked)}: " if asked else _QUESTION
    return _messages(context, (f"{dated}{question}",))


def _messages(context: tuple[str, ...], asked: tuple[str, ...]) -> tuple[Message, ...]:
    remembered = (_MEMORY, *context) if context else (_NOTHING,)
    return Message("system", (_ANSWER,)), Message("user", remembered + asked)
