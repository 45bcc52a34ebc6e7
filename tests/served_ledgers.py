"""Ledgers of served cost grids, written through the real writer, with costs that a test sets by formula."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger_fixtures import answer_record, call_record, unit_record
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import PromptRecord
from memgauge.ledger.writer import FILE_NAME, Ledger

Cell = tuple[int, int]
InputTokens = Callable[[int, int, int], int | None]  # (L, turn from 1, seed) -> input tokens of the answer

PAPER_CELLS: tuple[Cell, ...] = ((15, 50), (15, 200), (100, 100), (400, 50), (400, 200))


@dataclass(frozen=True)
class Memory:
    """A memory of a made-up ledger: its costs, its cells, and at which turn its runs die (None: they finish)."""

    name: str
    cost: InputTokens
    cells: Sequence[Cell] = ((4, 10),)
    seeds: int = 1
    dies_after: int | None = None
    setting: str = "low"
    unit: Mapping[str, Any] | None = None
    call: Mapping[str, Any] | None = None


def full_history(size: int, turn: int, seed: int) -> int:
    """The whole dialogue so far."""
    return size * turn


def served_ledger(directory: Path, memories: Sequence[Memory]) -> Frames:
    """Writes one serve unit per memory, cell and seed: one answer call per turn."""
    with Ledger.create(directory / FILE_NAME, {"spec": "{}"}) as ledger:
        number = 0
        for memory in memories:
            for turns, size in memory.cells:
                for seed in range(memory.seeds):
                    number += 1
                    _serve(ledger, number, memory, (turns, size), seed)
    return Frames(directory)


def _serve(ledger: Ledger, number: int, memory: Memory, cell: Cell, seed: int) -> None:
    turns, size = cell
    fields = {
        "setting": memory.setting, "model": "gpt-oss-20b", "backbone": "endpoint", "effort": "low",
        "embedder": "endpoint", "workload": "synthetic", "cell_turns": turns, "cell_tokens": size,
        "turns": turns, "mean_turn_tokens": size * 1.02, "seed": seed,
    }  # fmt: skip
    item = f"synthetic-{turns}-{size}-{seed}"
    ledger.add_units([unit_record(number, memory.name, "serve", item, **{**fields, **(memory.unit or {})})])
    ledger.start_unit(number, 0.0)
    last = memory.dies_after if memory.dies_after and memory.dies_after < turns else turns
    for turn in range(1, last + 1):
        spent = memory.cost(size, turn, seed)
        usage = {"input_tokens": spent, "output_tokens": 5, "reasoning_tokens": 5, "model": "gpt-oss-20b"}
        ledger.add_call(call_record(number, turn, turn, "answer", **{**usage, **(memory.call or {})}))
    if last < turns:
        fault = {
            "input_tokens": None, "output_tokens": None, "outcome": "http", "status": 400, "reply": None,
            "model": "gpt-oss-20b",
        }  # fmt: skip
        ledger.add_call(call_record(number, last + 1, last + 1, "answer", **fault))
        ledger.end_unit(number, "failed", now=1.0, wall_s=1.0, error="HTTP 400: prompt rejected")
    else:
        ledger.end_unit(number, "done", now=1.0, wall_s=1.0)


def asked(ledger: Ledger, number: int, memory: str, item: str, verdicts: Sequence[float | None]) -> None:
    """Adds a finished recall unit whose answers a judge called right (1), wrong (0) or could not see (None)."""
    fields = {"setting": "low", "model": "gpt-oss-20b", "effort": "low", "workload": "locomo"}
    ledger.add_units([unit_record(number, memory, "recall", item, **fields)])
    ledger.start_unit(number, 0.0)
    for ordinal, _ in enumerate(verdicts, 1):
        ledger.add_answer(answer_record(number, ordinal, ("gold",), "something"))
    ledger.add_scores((number, place, "judge", value) for place, value in enumerate(verdicts, 1))
    ledger.end_unit(number, "done", now=1.0, wall_s=1.0)


def prompt(counted: int, prefix: int, turns_ago: int | None) -> PromptRecord:
    """A prompt of ``counted`` tokens that shares ``prefix`` with one ``turns_ago``."""
    return PromptRecord(None, 0, ("hello",), counted, prefix, turns_ago)
