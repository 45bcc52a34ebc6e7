"""How ReasoningBank learns from attempts: judge them, draw lessons, compare attempts, go through one again."""

from collections.abc import Sequence
from dataclasses import replace

from memgauge.memories import reasoningbank_prompts as prompts
from memgauge.memories.asking import Asker
from memgauge.memories.base import Item
from memgauge.memories.reasoningbank_prompts import ComparedLessons, Lesson, Lessons, SessionVerdict, Verdict
from memgauge.memories.trajectories import Trajectory
from memgauge.meter.handles import BackboneHandle

_END = "That is the end of the record.\n"


class Teacher:
    """One call per method and attempt; a reply of no use gives no task, no success, no lesson."""

    def __init__(self, backbone: BackboneHandle) -> None:
        self._asker = Asker(backbone)

    async def judged(self, trajectory: Trajectory) -> Trajectory:
        """With its outcome, and its task where the judge has to put it into words; no call where both are known."""
        if trajectory.task is None:
            named = (
                await self._asker.form(prompts.JUDGE_SESSION, SessionVerdict, *_told(trajectory)) or SessionVerdict()
            )
            succeeded = named.status == "done" if trajectory.succeeded is None else trajectory.succeeded
            return replace(trajectory, task=_plain(named.task) or None, succeeded=succeeded)
        if trajectory.succeeded is None:
            verdict = await self._asker.form(prompts.JUDGE, Verdict, *_told(trajectory)) or Verdict()
            return replace(trajectory, succeeded=verdict.status == "done")
        return trajectory

    async def lessons(self, judged: Trajectory) -> tuple[Lesson, ...]:
        """At most three, from what went well or from what went wrong."""
        prompt = prompts.FROM_SUCCESS if judged.succeeded else prompts.FROM_FAILURE
        return _useful(await self._asker.form(prompt, Lessons, *_told(judged)), 3)

    async def contrasted(self, attempts: Sequence[Trajectory]) -> tuple[Lesson, ...]:
        """At most five, from several attempts at one task beside each other."""
        shown: list[str] = []
        for number, attempt in enumerate(attempts, 1):
            shown.append(f"Attempt {number}, {'done' if attempt.succeeded else 'failed'}:\n")
            shown += [step.text for step in attempt.steps]
        told = (*_wanted(attempts[0]), *shown, _END)
        return _useful(await self._asker.form(prompts.CONTRAST, ComparedLessons, *told), 5)

    async def re_examined(self, trajectory: Trajectory) -> Trajectory:
        """With one more step, which says how the attempt should have gone."""
        better = await self._asker.text(prompts.RE_EXAMINE, *_told(trajectory))
        if better is None:
            return trajectory
        step = Item(f"Re-examined:\n{better}", trajectory.turn_ids)
        return replace(trajectory, steps=(*trajectory.steps, step))

    async def merged(self, older: Sequence[Lesson], newer: Sequence[Lesson]) -> tuple[Lesson, ...]:
        """At most five, out of two lists."""
        told = (f"Older:\n{listed(older)}", f"Newer:\n{listed(newer)}")
        return _useful(await self._asker.form(prompts.MERGE, ComparedLessons, *told), 5)


def listed(lessons: Sequence[Lesson]) -> str:
    """One line each; what a lesson says twice is said once."""
    said = ((lesson.title, lesson.description, lesson.content) for lesson in lessons)
    return "".join(f"- {' – '.join(dict.fromkeys(filter(None, parts)))}\n" for parts in said)


def _told(trajectory: Trajectory) -> tuple[str, ...]:
    return (*_wanted(trajectory), *(step.text for step in trajectory.steps), _END)


def _wanted(trajectory: Trajectory) -> tuple[str, ...]:
    return () if trajectory.task is None else (f"What was wanted: {trajectory.task}\n",)


def _useful(drawn: Lessons | ComparedLessons | None, most: int) -> tuple[Lesson, ...]:
    """The first lessons that say anything, on one line each."""
    said = drawn.lessons if drawn else []
    lessons = [Lesson(_plain(one.title), _plain(one.description), _plain(one.content)) for one in said]
    return tuple(one for one in lessons if one.title or one.description or one.content)[:most]


def _plain(text: str) -> str:
    return " ".join(text.split())
