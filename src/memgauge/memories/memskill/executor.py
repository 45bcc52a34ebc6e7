"""The executor: one call that makes edits of the memories from a span, by the skills chosen for it."""

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Annotated

import msgspec

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.asking import Asker, Prompt
from memgauge.memories.memskill.failures import ENOUGH, told
from memgauge.memories.memskill.memory_bank import MemoryBank, Remembered
from memgauge.memories.memskill.skills import ACTIONS, SEEDS, Skill
from memgauge.memories.memskill.spans import Span
from memgauge.memories.provenance import narrowed
from memgauge.meter.handles import BackboneHandle


class Edit(msgspec.Struct):
    # A plain string, so that "insert" is understood as well.
    action: Annotated[str, msgspec.Meta(extra_json_schema={"enum": list(ACTIONS)})] = ""
    number: int = 0
    text: str = ""


class Edits(msgspec.Struct):
    operations: list[Edit] = []


EXECUTE = Prompt(
    "memskill execute",
    """\
You keep the memory of a long conversation: single statements from which questions about it will be answered when the
conversation itself is gone. You get skills, which lay down how the memories are edited; the memories that are nearest
to what comes, each with its number; the end of what you have seen already, if anything; and new text.
Follow the skills, as far as each applies to the new text, and reply with one JSON object and nothing else:
{"operations": [{"action": "INSERT", "number": 0, "text": "..."}]}
INSERT: a memory more; the number is 0.
UPDATE: the memory of that number, written anew and whole.
DELETE: the memory of that number is taken out; the text is empty.
NOOP: the only edit where the new text gives no occasion for any other; number 0, no text.
Every text stands by itself: names instead of "I" and "she", dates written out (said on 8 May 2023, "yesterday" is
7 May 2023), in the language of the conversation. Write nothing that the text does not say.
""",
)


@dataclass(frozen=True, slots=True)
class Executed:
    """``made``: the memories that edits wrote. ``faulty``: some of the reply, or all, could not be used."""

    made: tuple[Remembered, ...]
    faulty: bool


class Executor:
    """Edits a memory bank."""

    def __init__(self, backbone: BackboneHandle, bank: MemoryBank) -> None:
        self._backbone = backbone
        self._asker = Asker(backbone)
        self._bank = bank

    async def execute(self, span: Span, near: Sequence[Remembered], skills: Sequence[Skill]) -> Executed:
        """Makes the edits that the model wants.

        Only memories that were shown, ``near``, are updated and deleted: an edit of any other is a fault, and its
        text a memory more. After a fault the fresh turns that the edits do not tell of are memories as they are; a
        reply without any edit, NOOP included, is a fault as well.
        """
        said = await self._asker.form(
            EXECUTE, Edits,
            *(skill.text for skill in skills),
            "## Memories\n", *(memory.line for memory in near),
            *(("## Seen before\n", *(turn.line() for turn in span.before)) if span.before else ()),
            "## New text\n", *(turn.line() for turn in span.fresh),
            max_tokens=400 + 2 * span.tokens,
        )  # fmt: skip
        if said is not None and not said.operations:
            self._backbone.fault(
                f"{EXECUTE.name}: the reply held no edit, not even NOOP", json.dumps(msgspec.to_builtins(said))
            )
        faulty = said is None or not said.operations
        shown = {memory.number for memory in near}
        made: dict[int, Remembered] = {}
        for edit in said.operations if said else ():
            memory, wrong = self._make(edit, shown, span, skills)
            if wrong:
                faulty = True
                self._backbone.fault(f"{EXECUTE.name}: {wrong}", json.dumps(msgspec.to_builtins(edit)))
            if memory:
                made[memory.number] = memory
        kept = tuple(memory for memory in made.values() if self._bank.get(memory.number))
        if faulty:
            self._keep_untold(span.fresh, [memory.text for memory in kept])
        return Executed(kept, faulty)

    def _make(self, edit: Edit, shown: Set[int], span: Span, skills: Sequence[Skill]) -> tuple[Remembered | None, str]:
        """Makes one edit; the memory that it wrote, if any, and what was wrong with it."""
        action, text = edit.action.strip().upper(), tokens.sanitize(" ".join(edit.text.split()))
        skill = next((one for one in skills if one.action == action), skills[0]).name
        old = self._bank.get(edit.number) if edit.number in shown else None
        match action:
            case "NOOP":
                return None, ""
            case "DELETE" if old:
                self._bank.delete(old)
                return None, ""
            case "UPDATE" if old and text:
                news = " ".join(word for word in text.split() if word not in old.text.split())
                return self._bank.update(old, text, narrowed(news or text, span.turns), skill), ""
            case "INSERT":
                wrong = "" if text else "INSERT without text"
            case "UPDATE" | "DELETE":
                wrong = f"{action} of memory {edit.number}, " + ("without text" if old else "which was not shown")
            case _:
                wrong = f"no edit is called {edit.action!r}"
        return self._bank.insert(text, narrowed(text, span.turns), skill) if text else None, wrong

    def _keep_untold(self, turns: Sequence[Turn], texts: Sequence[str]) -> None:
        for turn in turns:
            if (told(turn.text, texts) or 0) < ENOUGH:
                self._bank.insert(turn.line().rstrip("\n"), (turn.id,), SEEDS[0].name)
