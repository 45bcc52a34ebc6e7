"""The prompts that the harness itself writes, the same for every memory and backbone.

The recalled text stands before what is asked, so that a memory that only appends keeps its prefix cacheable.
Every part ends in a line break and the next begins with a letter or a bracket: token counts of parts add up
(memgauge.tokens). ``VERSION`` goes into the provenance of a run; change it with any wording.
"""

from operator import attrgetter

from memgauge.backbones.base import Message
from memgauge.conversation import ABSTENTION
from memgauge.memories.base import Item

VERSION = "1"

_REPLY = (
    "You talk with someone you have talked to before. Below is what you remember of the conversation, oldest first,"
    " and then the newest message. Write the next message: one short sentence that fits what was said."
    " Use only what is written here and invent nothing."
)
_ANSWER = (
    "Answer the question from the remembered conversation below, and from nothing else."
    " Give only the answer, in a few words, as they stand there. Turn words like yesterday or last week into"
    " a date, counted from the date in brackets before the message."
    f" If the conversation does not say, answer: {ABSTENTION}"
)
_MEMORY = "Remembered conversation:\n"
_NOTHING = "Nothing is remembered.\n"
_MESSAGE = "Newest message:\n"
_QUESTION = "Question: "
_TEXT = attrgetter("text")


def reply_messages(context: tuple[str, ...], message: str) -> tuple[Message, ...]:
    """The prompt for the next message of a served dialogue (paper 1 §3.3, answer stage)."""
    return _messages(_REPLY, context, (_MESSAGE, message))


def answer_messages(context: tuple[str, ...], question: str) -> tuple[Message, ...]:
    """The prompt for a question about a remembered conversation."""
    return _messages(_ANSWER, context, (f"{_QUESTION}{question}",))


def parts_of(items: tuple[Item, ...]) -> tuple[str, ...]:
    """The recalled items as parts of a prompt."""
    return tuple(map(_TEXT, items))


def _messages(system: str, context: tuple[str, ...], asked: tuple[str, ...]) -> tuple[Message, ...]:
    remembered = (_MEMORY, *context) if context else (_NOTHING,)
    return Message("system", (system,)), Message("user", remembered + asked)
