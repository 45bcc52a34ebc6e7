"""A realistic ledger, written through the real writer: six memories, one dialogue, served and questioned.

Costs follow each memory's mechanism (what it recalls is what it sends), answers follow what it recalled. Bigger
numbers are drawn from a seeded generator. One unit fails, one answer ends in an error, one unit was resumed.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memgauge.ledger.records import AnswerRecord, CallRecord, PromptRecord, StepRecord, UnitRecord
from memgauge.ledger.writer import FILE_NAME, Ledger

TURNS = 24
MEMORIES = ("none", "oracle", "full-history", "rolling-window", "dense", "bm25")
CONTROLS = ("none", "oracle")
STARTED = 1_790_000_000.0


@dataclass(frozen=True)
class Asked:
    """A question of the sample dialogue: its golds, the turns (from 1) that answer it, a wrong answer."""

    text: str
    golds: tuple[str, ...]
    evidence: tuple[int, ...]
    wrong: str
    category: str = "single-hop"


QUESTIONS = (
    Asked("Where does Maya keep the spare key?", ("under the blue pot",), (2,), "in the drawer"),
    Asked("Which day is the climbing course?", ("Tuesday",), (4,), "Thursday"),
    Asked("What is the name of Jonas's dog?", ("Pepper",), (5,), "Ginger"),
    Asked("How much was the bicycle?", ("180 euros", "180"), (7, 9), "200 euros", "multi-hop"),
    Asked("What instrument does Maya's sister play?", ("the cello",), (11,), "piano"),
    Asked("Where will they spend the summer?", ("Lofoten in Norway",), (12, 20), "Sweden", "multi-hop"),
    Asked("When does the lease end?", ("31 March",), (15,), "in May", "temporal"),
    Asked("Which soup did Jonas cook <b>twice</b>?", ("pumpkin soup",), (17,), "tomato soup"),
    Asked("What colour is the new tent?", ("orange",), (22,), "green"),
    Asked("What is Maya's passport number?", (), (), "X1234567", "unanswerable"),
)
TURN_TOKENS = [31 + (turn * 17) % 23 for turn in range(1, TURNS + 1)]


def sample_ledger(directory: Path, *, conversations: int = 1, seed: int = 7) -> Path:
    """Writes the ledger of a finished run into ``directory``; returns the path of its file."""
    rng = random.Random(seed)
    path = directory / FILE_NAME
    spec = {"name": "quickstart", "memories": MEMORIES, "workloads": [{"name": "sample"}]}
    meta = {
        "spec": json.dumps(spec),
        "spec_hash": "5f0c2d1e9ab3",
        "memgauge_version": "0.1.0",
        "python_version": "3.11.7",
        "provenance.default.model_sha256": "9c1f0e7b",
    }
    with Ledger.create(path, meta) as ledger:
        units = [
            unit_record(place, memory, protocol, f"sample-{conversation + 1}")
            for place, (conversation, protocol, memory) in enumerate(
                (
                    (conversation, protocol, memory)
                    for conversation in range(conversations)
                    for protocol in ("serve", "recall")
                    for memory in MEMORIES
                ),
                1,
            )
        ]
        ledger.add_units(units)
        for unit in units:
            _play(ledger, unit, rng)
        _fail(ledger, unit_record(len(units) + 1, "none", "serve", seed=1))
    return path


def unit_record(unit: int, memory: str, protocol: str, item: str = "sample-1", **changes: object) -> UnitRecord:
    """A planned unit of the embedded backbone; ``changes`` replace any of its fields."""
    fields: dict[str, object] = {
        "unit": unit, "key": f"key-{unit}", "memory": memory, "memory_options": "{}",
        "control": memory in CONTROLS, "write_every": 1, "setting": "default", "backbone": "embedded",
        "model": "SmolLM2-135M-Instruct", "effort": None, "embedder": "minilm",
        "embedding_model": "all-MiniLM-L6-v2", "workload": "sample", "item": item, "protocol": protocol,
        "seed": 0, "cell_turns": None, "cell_tokens": None, "turns": TURNS,
        "mean_turn_tokens": sum(TURN_TOKENS) / TURNS,
        "questions": len(QUESTIONS) if protocol == "recall" else 0,
    }  # fmt: skip
    return UnitRecord(**{**fields, **changes})  # type: ignore[arg-type]


def call_record(unit: int, seq: int, turn: int, stage: str, **changes: object) -> CallRecord:
    """A completed chat call of one input and one output token; ``changes`` replace any of its fields."""
    fields: dict[str, object] = {
        "unit": unit, "seq": seq, "attempt": 1, "turn": turn, "question": None, "stage": stage,
        "background": False, "kind": "chat", "asked": None, "model": "SmolLM2-135M-Instruct",
        "provider": None, "request_key": b"k", "prompt": PromptRecord(None, 0, ("hello",), 1, 0, None),
        "params": "{}", "reply": "{}", "finish_reason": "stop", "input_tokens": 1, "cached_tokens": None,
        "cache_write_tokens": None, "output_tokens": 1, "reasoning_tokens": None, "embedding_tokens": None,
        "usage_source": "upstream", "started_at": STARTED, "latency_s": 0.5, "ttft_s": None, "attempts": 1,
        "outcome": "ok", "status": 200, "error": None,
    }  # fmt: skip
    return CallRecord(**{**fields, **changes})  # type: ignore[arg-type]


def answer_record(unit: int, ordinal: int, golds: Sequence[str], answer: str | None, **changes: object) -> AnswerRecord:
    """An answer; ``changes`` replace any of its fields."""
    fields: dict[str, object] = {
        "unit": unit, "ordinal": ordinal, "question": f"q{ordinal}", "text": f"Question {ordinal}?",
        "category": None, "golds": json.dumps(list(golds)), "evidence": "[]", "unanswerable": False,
        "answer": answer, "outcome": "ok" if answer is not None else "error",
        "error": None if answer is not None else "HTTP 500 from the upstream", "recalled": None,
        "context_tokens": None,
    }  # fmt: skip
    return AnswerRecord(**{**fields, **changes})  # type: ignore[arg-type]


def _recalled(memory: str, upto: int, evidence: Sequence[int], rng: random.Random) -> list[int]:
    history = list(range(1, upto + 1))
    match memory:
        case "full-history":
            return history
        case "rolling-window":
            return history[-10:]
        case "oracle":
            return list(evidence)
        case "dense" | "bm25":
            hit_rate = 0.85 if memory == "dense" else 0.7
            hits = [turn for turn in evidence if rng.random() < hit_rate]
            others = [turn for turn in history if turn not in hits]
            ranked = hits + rng.sample(others, min(len(others), 5 - len(hits)))
            return rng.sample(ranked, len(ranked))
    return []


def _play(ledger: Ledger, unit: UnitRecord, rng: random.Random) -> None:
    now = STARTED + unit.unit * 3
    attempts = 2 if unit.memory == "bm25" and unit.protocol == "serve" else 1
    for _ in range(attempts):
        ledger.start_unit(unit.unit, now)
    seq, step = 0, 0

    def call(turn: int, stage: str, tokens_in: int, question: str | None, **changes: object) -> float:
        nonlocal seq
        seq += 1
        latency = 0.05 + tokens_in / 900 + rng.random() * 0.08
        usage: dict[str, object] = {"input_tokens": tokens_in, "output_tokens": rng.randint(6, 21)}
        record = {"question": question, "latency_s": latency, "started_at": now, **usage, **changes}
        identity = ledger.add_call(call_record(unit.unit, seq, turn, stage, **record))
        if attempts == 2 and turn <= 6:
            ledger.claim_call(identity, seq)
        return latency

    def embed(turn: int, stage: str, size: int, question: str | None) -> float:
        none = {"input_tokens": None, "output_tokens": None, "model": "all-MiniLM-L6-v2"}
        return call(turn, stage, 40, question, kind="embed", embedding_tokens=size, **none)

    def took(turn: int, stage: str, seconds: float, size: int | None, question: str | None, turns: int = 0) -> None:
        nonlocal step
        step += 1
        ledger.add_step(StepRecord(unit.unit, step, turn, question, stage, turns, size, seconds))

    def ask(turn: int, evidence: Sequence[int], held: int, question: str | None) -> tuple[list[int], int]:
        recalled = _recalled(unit.memory, held, evidence, rng)
        context = sum(TURN_TOKENS[place - 1] + 14 for place in recalled)
        waited = embed(turn, "read", 12, question) if unit.memory == "dense" else 0.0
        took(turn, "read", waited + 0.002, context, question)
        took(turn, "answer", call(turn, "answer", 88 + context, question) + 0.004, None, question)
        return recalled, context

    for turn in range(1, TURNS + 1):
        if unit.protocol == "serve":
            ask(turn, (), turn - 1, None)
        waited = embed(turn, "write", TURN_TOKENS[turn - 1], None) if unit.memory == "dense" else 0.0
        took(turn, "write", waited + 0.001, TURN_TOKENS[turn - 1], None, 1)
    if unit.protocol == "recall":
        for ordinal, asked in enumerate(QUESTIONS, 1):
            recalled, context = ask(TURNS, asked.evidence, TURNS, f"q{ordinal}")
            ledger.add_answer(_answered(unit, ordinal, asked, recalled, context, rng))
    sizes = {"none": 0, "oracle": 0, "rolling-window": 10 * 150, "dense": TURNS * (150 + 1536)}
    written = sum(TURN_TOKENS)
    store = (sizes.get(unit.memory, TURNS * 150), written)
    ledger.end_unit(unit.unit, "done", now=now + 2, wall_s=2.0 + rng.random(), store=store, written_tokens=written)


def _answered(
    unit: UnitRecord, ordinal: int, asked: Asked, recalled: list[int], context: int, rng: random.Random
) -> AnswerRecord:
    knows = bool(asked.evidence) and set(asked.evidence) <= set(recalled)
    clear = rng.random() > len(recalled) / 60  # a small model is lost in a long context
    if not asked.evidence:
        said = "No information available." if clear or unit.memory == "none" else asked.wrong
    elif knows and clear:
        said = asked.golds[0] if rng.random() < 0.5 else f"It is {asked.golds[0]}, as far as they said."
    else:
        said = asked.wrong if unit.memory != "none" else "I do not know."
    broken = unit.memory == "rolling-window" and ordinal == 3 and unit.item == "sample-1"
    return answer_record(
        unit.unit, ordinal, asked.golds, None if broken else said,
        text=asked.text, category=asked.category, evidence=json.dumps([f"t{place}" for place in asked.evidence]),
        unanswerable=not asked.evidence, context_tokens=context,
        recalled=json.dumps([[f"t{place}"] for place in recalled]),
    )  # fmt: skip


def _fail(ledger: Ledger, unit: UnitRecord) -> None:
    ledger.add_units([unit])
    ledger.start_unit(unit.unit, STARTED + 60)
    ledger.add_call(call_record(unit.unit, 1, 1, "answer", outcome="timeout", status=504, input_tokens=None,
                                output_tokens=None, reply=None, error="no answer within 120 s"))  # fmt: skip
    reason = "UpstreamError: no answer within 120 s (POST /v1/chat/completions)"
    ledger.end_unit(unit.unit, "failed", now=STARTED + 61, wall_s=1.0, error=reason)
