"""Ledgers of questions and answers that a test states one by one, with a judge's verdicts on them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ledger_fixtures import answer_record, call_record, unit_record
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import PromptRecord, VerdictRecord
from memgauge.ledger.writer import FILE_NAME, Ledger


@dataclass(frozen=True)
class Said:
    """An answer (None: an error), its golds, and what the judge said of it: ``C``, ``W`` or ``E`` per repeat.

    With ``lines`` the call that gave it is recorded, with these as the recalled items of its prompt.
    """

    answer: str | None
    golds: Sequence[str] = ("Pepper",)
    evidence: Sequence[str] = ("t1",)
    recalled: Sequence[Sequence[str]] | None = (("t1",),)
    category: str | None = None
    unanswerable: bool = False
    verdicts: dict[str, str] = field(default_factory=dict)
    question: str | None = None
    text: str | None = None
    why: str = "because"
    lines: Sequence[str] | None = None


@dataclass(frozen=True)
class Asked:
    """A finished unit of one memory and conversation; ``unit`` replaces fields of its row."""

    answers: Sequence[Said]
    memory: str = "bm25"
    item: str = "talk-1"
    workload: str = "sample"
    store: tuple[int, int] = (600, 100)
    written: int = 100
    status: str = "done"
    unit: dict[str, Any] = field(default_factory=dict)


def recalled_ledger(directory: Path, *units: Asked) -> Frames:
    """Writes one recall unit for each of ``units``."""
    directory.mkdir(parents=True, exist_ok=True)
    with Ledger.create(directory / FILE_NAME, {"spec": "{}"}) as ledger:
        for number, asked in enumerate(units, 1):
            _play(ledger, number, asked)
    return Frames(directory)


def _play(ledger: Ledger, number: int, asked: Asked) -> None:
    fields = {"workload": asked.workload, "questions": len(asked.answers), **asked.unit}
    ledger.add_units([unit_record(number, asked.memory, "recall", asked.item, **fields)])
    ledger.start_unit(number, 0.0)
    for ordinal, said in enumerate(asked.answers, 1):
        changes = {
            "category": said.category, "evidence": json.dumps(said.evidence), "unanswerable": said.unanswerable,
            "recalled": None if said.recalled is None else json.dumps(said.recalled),
            "question": said.question or f"q{ordinal}", "text": said.text or f"Question {ordinal}?",
        }  # fmt: skip
        if said.lines is not None:
            pieces = ("\x02system", "Answer.", "\x02user", "Remembered:\n", *said.lines, "Question: …")
            prompt = PromptRecord(None, 0, pieces, 1, 0, None)
            ledger.add_call(
                call_record(number, ordinal, 1, "answer", question=changes["question"], prompt=prompt, input_tokens=120)
            )
        ledger.add_answer(answer_record(number, ordinal, said.golds, said.answer, **changes))
        for rubric, votes in said.verdicts.items():
            for repeat, vote in enumerate(votes, 1):
                verdict = {"C": "correct", "W": "wrong", "E": None}[vote]
                outcome = "error" if verdict is None else "ok"
                ledger.add_verdict(VerdictRecord(number, ordinal, rubric, repeat, verdict, outcome, said.why))
    ledger.end_unit(
        number, asked.status, now=1.0, wall_s=1.0, store=asked.store, written_tokens=asked.written,
        error=None if asked.status == "done" else "the upstream went away",
    )  # fmt: skip
