"""What is written into a ledger, one class per table that the left wing fills row by row."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """One planned unit; see schema.TABLES for each field."""

    unit: int
    key: str
    memory: str
    memory_options: str
    control: bool
    write_every: int
    setting: str
    backbone: str
    model: str
    effort: str | None
    embedder: str
    embedding_model: str
    workload: str
    item: str
    protocol: str
    seed: int
    cell_turns: int | None
    cell_tokens: int | None
    turns: int
    mean_turn_tokens: float
    questions: int


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """A prompt as a delta: the first ``keep`` pieces of call ``base``, then the texts ``new``."""

    base: int | None
    keep: int
    new: Sequence[str]
    counted_tokens: int
    prefix_tokens: int
    prefix_turns_ago: int | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One request that went upstream; see schema.TABLES for each field."""

    unit: int
    seq: int
    attempt: int
    turn: int
    question: str | None
    stage: str
    background: bool
    kind: str
    asked: str | None
    model: str
    provider: str | None
    request_key: bytes
    prompt: PromptRecord
    params: str
    reply: str | None
    finish_reason: str | None
    input_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    embedding_tokens: int | None
    usage_source: str
    started_at: float
    latency_s: float
    ttft_s: float | None
    attempts: int
    outcome: str
    status: int | None
    error: str | None
    input_at_most: int = 0
    output_at_most: int = 0


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One thing the protocol did; see schema.TABLES for each field."""

    unit: int
    step: int
    turn: int
    question: str | None
    stage: str
    turns: int
    tokens: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """What went wrong inside a memory, which went on; see schema.TABLES for each field."""

    unit: int
    fault: int
    turn: int
    question: str | None
    stage: str
    what: str
    reply: str | None
    lost_turns: int


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One question put to one memory; see schema.TABLES for each field."""

    unit: int
    ordinal: int
    question: str
    text: str
    category: str | None
    golds: str
    evidence: str
    unanswerable: bool
    answer: str | None
    outcome: str
    error: str | None
    recalled: str | None
    context_tokens: int | None


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """What a judge said of one answer; see schema.TABLES for each field."""

    unit: int
    ordinal: int
    rubric: str
    repeat: int
    verdict: str | None
    outcome: str
    why: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A completed call read back from the ledger, for replay."""

    call: int
    request_key: bytes
    kind: str
    model: str
    provider: str | None
    reply: str
    finish_reason: str | None
    attempts: int
    outcome: str
