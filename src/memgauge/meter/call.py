"""One call on its way through the meter: what is known when it is asked, and what becomes of it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memgauge.backbones.base import ChatReply, UpstreamError, Usage
from memgauge.backbones.wire import encode
from memgauge.embedders.base import EmbedReply
from memgauge.ledger.records import CallRecord, PromptRecord
from memgauge.ledger.writer import Ledger
from memgauge.meter.prompts import Observed
from memgauge.meter.scope import Scope

AtMost = tuple[int, int]  # tokens read and written that attempts of unknown usage can have used
NOTHING: AtMost = (0, 0)


def canonical(value: Any) -> str:
    """JSON with sorted keys: equal values give equal texts, so that they are stored once and recognised."""
    return encode(value, sort=True).decode()


def request_key(kind: str, prompt_digest: bytes, params: Mapping[str, Any]) -> bytes:
    """Tells whether two requests of a unit are the same: kind, model, prompt and parameters."""
    return blake2b(prompt_digest + encode([kind, params], sort=True), digest_size=16).digest()


@dataclass(slots=True)
class Call:
    """A request as it will stand in the ledger. Exactly one of the closing methods is called, once."""

    ledger: Ledger
    unit: int
    attempt: int
    seq: int
    scope: Scope
    kind: str
    prompt: PromptRecord
    request_key: bytes
    observed: Observed | None
    params: Mapping[str, Any]
    asked: Mapping[str, Any]
    model: str
    _started_at: float = 0.0
    _started: float = 0.0

    def start(self) -> None:
        """The request goes upstream now."""
        self._started_at, self._started = time.time(), time.perf_counter()

    def completed(self, reply: ChatReply | EmbedReply, at_most: AtMost = NOTHING) -> None:
        """The upstream answered."""
        if isinstance(reply, ChatReply):
            raw, finish_reason, ttft_s = canonical(reply.raw), reply.finish_reason, reply.ttft_s
        else:
            raw, finish_reason, ttft_s = "{}", None, None
        self._record(
            "ok", reply.usage, model=reply.model, provider=reply.provider, attempts=reply.attempts,
            latency_s=reply.latency_s, reply=raw, finish_reason=finish_reason, ttft_s=ttft_s, status=200,
            at_most=at_most,
        )  # fmt: skip

    def failed(self, fault: UpstreamError, at_most: AtMost = NOTHING) -> None:
        """The upstream gave no answer."""
        self._record(
            fault.kind, fault.usage, attempts=fault.attempts, status=fault.status, error=str(fault), at_most=at_most
        )

    def interrupted(self, usage: Usage, at_most: AtMost = NOTHING) -> None:
        """The run was stopped while the upstream was at work; ``usage`` is of attempts that had failed before."""
        self._record("interrupted", usage, error="stopped before the upstream answered", at_most=at_most)

    def replayed(self, call: int) -> None:
        """The answer is on record already: no row, no charge."""
        self.ledger.claim_call(call, self.seq)
        if self.observed is not None:
            self.observed.sent(call)

    def _record(
        self,
        outcome: str,
        usage: Usage,
        *,
        model: str | None = None,
        provider: str | None = None,
        attempts: int = 1,
        latency_s: float | None = None,
        reply: str | None = None,
        finish_reason: str | None = None,
        ttft_s: float | None = None,
        status: int | None = None,
        error: str | None = None,
        at_most: AtMost = NOTHING,
    ) -> None:
        call = self.ledger.add_call(
            CallRecord(
                unit=self.unit, seq=self.seq, attempt=self.attempt, turn=self.scope.turn,
                question=self.scope.question, stage=self.scope.stage, background=self.scope.background,
                kind=self.kind, asked=canonical(self.asked) if self.asked else None,
                model=model or self.model, provider=provider, request_key=self.request_key, prompt=self.prompt,
                params=canonical(self.params), reply=reply, finish_reason=finish_reason,
                input_tokens=usage.input, cached_tokens=usage.cached, cache_write_tokens=usage.cache_write,
                output_tokens=usage.output, reasoning_tokens=usage.reasoning, embedding_tokens=usage.embedding,
                usage_source=usage.source, started_at=self._started_at,
                latency_s=time.perf_counter() - self._started if latency_s is None else latency_s,
                ttft_s=ttft_s, attempts=attempts, outcome=outcome, status=status, error=error,
                input_at_most=at_most[0], output_at_most=at_most[1],
            )
        )  # fmt: skip
        if self.observed is not None:
            self.observed.sent(call)
