"""Judge: puts the recorded answer to a question before a judge model, once per rubric and repeat (METRICS, P4)."""

from dataclasses import dataclass

from memgauge.backbones.base import ChatRequest, Message, UpstreamError
from memgauge.ledger.records import VerdictRecord
from memgauge.meter.meter import UnitMeter
from memgauge.protocols.rubrics import Rubric
from memgauge.protocols.verdict import SCHEMA, Verdict, parse

TRIES = 3
_VERDICT_TOKENS = 512
_AGAIN = 'That was no verdict. Reply only with {"reason": "...", "verdict": "CORRECT"} or the same with "WRONG".'


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to be judged, as the ledger has it."""

    unit: int
    ordinal: int
    turn: int
    question_id: str
    question: str
    category: str | None
    golds: tuple[str, ...]
    unanswerable: bool
    answer: str


async def judge(meter: UnitMeter, answered: Answered, rubric: Rubric, repeat: int) -> VerdictRecord:
    """Asks until there is a verdict, TRIES times at most; then the verdict is an error, neither right nor wrong."""
    messages: tuple[Message, ...] = (
        Message("system", (rubric.system(answered.category, answered.unanswerable),)),
        Message("user", (rubric.user(answered.question, answered.golds, answered.answer),)),
    )
    # The seed tells repeats apart: another sample where the server samples, and never the same call twice.
    params = {"response_format": SCHEMA, "max_tokens": _VERDICT_TOKENS, "seed": repeat}
    why = ""
    with meter.scope(answered.turn, "judge", answered.question_id, parallel=True):
        for _ in range(TRIES):
            try:
                reply = await meter.chat(ChatRequest(messages, params))
            except UpstreamError as fault:
                if fault.status == 400 and "response_format" in params:
                    # Not every server knows JSON schemas; the instructions ask for the same form.
                    params = {"max_tokens": _VERDICT_TOKENS, "seed": repeat}
                    continue
                return _record(answered, rubric, repeat, None, f"{fault.kind}: {fault}")
            if (verdict := parse(reply.text)) is not None:
                return _record(answered, rubric, repeat, verdict, verdict.why)
            why = f"no verdict in: {reply.text[:200]}"
            messages += (Message("assistant", (reply.text,)), Message("user", (_AGAIN,)))
    return _record(answered, rubric, repeat, None, why)


def _record(answered: Answered, rubric: Rubric, repeat: int, verdict: Verdict | None, why: str) -> VerdictRecord:
    return VerdictRecord(
        unit=answered.unit,
        ordinal=answered.ordinal,
        rubric=rubric.label,
        repeat=repeat,
        verdict=verdict.verdict if verdict else None,
        outcome="ok" if verdict else "error",
        why=why,
    )
