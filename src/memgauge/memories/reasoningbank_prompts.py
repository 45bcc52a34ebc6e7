"""What ReasoningBank asks of its backbone: our words, and the forms of the replies."""

from typing import Annotated, Literal

import msgspec

from memgauge.memories.asking import Prompt


class Verdict(msgspec.Struct):
    """Whether an attempt reached what was wanted. No verdict is no success."""

    reason: str = ""
    status: Literal["done", "failed"] = "failed"


class SessionVerdict(msgspec.Struct):
    """The same of a conversation, with a line on what was wanted in it."""

    task: str = ""
    reason: str = ""
    status: Literal["done", "failed"] = "failed"


class Lesson(msgspec.Struct, frozen=True):
    """One thing to know next time."""

    title: str = ""
    description: str = ""
    content: str = ""


class Lessons(msgspec.Struct):
    """What one attempt teaches."""

    lessons: Annotated[list[Lesson], msgspec.Meta(max_length=3)] = []


class ComparedLessons(msgspec.Struct):
    """What several attempts teach beside each other."""

    lessons: Annotated[list[Lesson], msgspec.Meta(max_length=5)] = []


_LESSON = (
    "A lesson has a title of a few words, a description of one sentence, and a content of one to three sentences that"
    " can be understood and used without the record. Lessons do not repeat each other. Where the record is a"
    " conversation, what is worth knowing next time is what those who speak in it did, want, prefer, decided and"
    " planned: name them, and write dates out.\n"
    'Reply with a JSON object: {"lessons": [{"title": "…", "description": "…", "content": "…"}]}'
)

JUDGE = Prompt(
    "judge",
    "You are given a task and the record of an attempt at it. Judge by the record alone: done where it"
    " shows that what was wanted was reached, failed in every other case.\n"
    'Reply with a JSON object: {"reason": "one sentence", "status": "done" or "failed"}',
)

JUDGE_SESSION = Prompt(
    "judge",
    "You are given the record of a conversation. Say first, in one line, what those who speak in it wanted and talked"
    " about: names, subjects, things and places by which one would look for this conversation. Then judge by the record"
    " alone: done where it shows that they reached what they wanted, failed in every other case.\n"
    'Reply with a JSON object: {"task": "one line", "reason": "one sentence", "status": "done" or "failed"}',
)

FROM_SUCCESS = Prompt(
    "extract from success",
    "You are given a task and the record of an attempt at it that succeeded. Find out what made it succeed, and draw"
    f" at most three lessons from it that would help with similar tasks. {_LESSON}",
)

FROM_FAILURE = Prompt(
    "extract from failure",
    "You are given a task and the record of an attempt at it that did not reach what was wanted. Find out what went"
    " wrong and why, and draw at most three lessons from it: what to watch for, and what to do otherwise in similar"
    f" tasks. {_LESSON}",
)

CONTRAST = Prompt(
    "contrast",
    "You are given a task and the records of several attempts at it, each with its outcome. Compare them: what did the"
    " ones do that succeeded, which the others did not, and what led the others astray? Draw at most five lessons that"
    f" would help with similar tasks, of which each rests on more than the luck of one attempt. {_LESSON}",
    max_tokens=2000,
)

RE_EXAMINE = Prompt(
    "re-examine",
    "You are given a task and the record of an attempt at it. Go through the record once more, step by step. Check each"
    " step against the task and against what came before it, and say which steps were wrong, needless or missing, and"
    " how the attempt should end. Reply with the steps as they should be taken, in order, and nothing else.",
    max_tokens=2000,
)

MERGE = Prompt(
    "merge",
    "You are given two lists of lessons from similar tasks, the older first. Make one list of them, of at most five"
    " lessons. Lessons that say the same become one. Where two contradict each other the newer is right, and the older"
    f" is left out. Everything else is kept, in its own words. {_LESSON}",
    max_tokens=2000,
)
