"""What tests share: a scripted backbone, a unit's row, and a meter on a fresh ledger."""

from collections.abc import Sequence
from pathlib import Path

from memgauge.backbones.base import ChatReply, ChatRequest, Emit, UpstreamError, Usage, completion, emit_whole
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import Ledger
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.spec import Setting


class Scripted:
    """A backbone that gives the queued replies in turn; an exception in the queue is raised."""

    name = "scripted"
    model = "scripted-1"
    window = None

    def __init__(self, *replies: str | Exception, paid: bool = False, usage: Usage | None = None) -> None:
        self.paid = paid
        self.requests: list[ChatRequest] = []
        self._replies = list(replies)
        self._usage = usage

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        self.requests.append(request)
        reply = self._replies.pop(0) if self._replies else "ok"
        if isinstance(reply, Exception):
            raise reply
        usage = self._usage or Usage(input=100, cached=20, output=len(reply.split()), reasoning=3)
        raw = completion(
            f"chat-{len(self.requests)}", self.model, {"content": reply}, "stop",
            {"prompt_tokens": 120, "completion_tokens": len(reply.split()) + 3,
             "prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 3}},
        )  # fmt: skip
        if emit is not None:
            await emit_whole(raw, emit)
        return ChatReply(reply, usage, self.model, raw=raw)

    async def close(self) -> None:
        """Nothing to release."""


def refusal(message: str = "overloaded", status: int = 503) -> UpstreamError:
    """An upstream that says no."""
    return UpstreamError(message, status=status)


def unit_record(unit: int = 1, **changes: object) -> UnitRecord:
    """A unit's row with plain values."""
    row: dict[str, object] = {
        "unit": unit, "key": f"unit-{unit}", "memory": "bm25", "memory_options": "{}", "control": False,
        "write_every": 1, "setting": "test", "backbone": "scripted", "model": "scripted-1", "effort": None,
        "embedder": "hashing", "embedding_model": "hashing-256", "workload": "sample", "item": "sample",
        "protocol": "recall", "seed": 0, "cell_turns": None, "cell_tokens": None, "turns": 2,
        "mean_turn_tokens": 5.0, "questions": 1,
    }  # fmt: skip
    return UnitRecord(**{**row, **changes})  # type: ignore[arg-type]


def new_ledger(path: Path, units: Sequence[UnitRecord] = ()) -> Ledger:
    """A ledger with one planned unit, unless others are given."""
    ledger = Ledger.create(path, {"name": "test"})
    ledger.add_units(units or [unit_record()])
    return ledger


def open_unit(ledger: Ledger, backbone: Scripted, setting: Setting | None = None, unit: int = 1) -> UnitMeter:
    """Starts a unit as the runner does, and opens its meter."""
    attempt = ledger.start_unit(unit, 0.0)
    return Meter(ledger, setting or Setting(), backbone, Hashing()).open(unit, attempt=attempt, seed=0)
