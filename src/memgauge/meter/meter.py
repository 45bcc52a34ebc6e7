"""The meter: attributes, sends, replays and records every model call of a unit.

Built-in memories reach it through handles, outside products through the gateway; both call ``UnitMeter.chat``
and ``UnitMeter.embed``, so both give the same rows.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec
import numpy as np

from memgauge import tokens
from memgauge.backbones.base import (
    Backbone,
    ChatReply,
    ChatRequest,
    Emit,
    Message,
    UpstreamError,
    Usage,
    emit_whole,
)
from memgauge.embedders.base import Embedder, EmbedReply
from memgauge.ledger.records import PromptRecord
from memgauge.ledger.writer import Ledger
from memgauge.meter.budget import Budget, Pricer
from memgauge.meter.call import Call, canonical
from memgauge.meter.overrides import output_limit, overridden
from memgauge.meter.prompts import PromptIndex
from memgauge.meter.replay import Replay
from memgauge.meter.scope import Scope
from memgauge.spec import Setting

# Begins the piece that stands for a message's role and its fields that are not text.
MESSAGE_MARK = "\x02"
# The attempt under which a judge's calls stand: they are none of the unit's own.
JUDGED = 0
# Set aside in a budget where neither the caller nor the setting limits the reply (paper 1, appendix A).
UNLIMITED_OUTPUT = 32_768
# How far a model's own tokenizer may exceed o200k, for the worst case of a call.
TOKENIZER_MARGIN = 1.5

Reply = TypeVar("Reply", ChatReply, EmbedReply)

_parallel_scope: ContextVar[tuple["UnitMeter", Scope] | None] = ContextVar("parallel_scope", default=None)


class Meter:
    """What all units of one setting share: the ledger, the models behind it, and the budget."""

    def __init__(
        self,
        ledger: Ledger,
        setting: Setting,
        backbone: Backbone,
        embedder: Embedder,
        *,
        budget: Budget | None = None,
        price_chat: Pricer | None = None,
        price_embedding: Pricer | None = None,
    ) -> None:
        self.ledger = ledger
        self.setting = setting
        self.backbone = backbone
        self.embedder = embedder
        self.budget = budget or Budget()
        self.price_chat = price_chat or (_unpriced if backbone.paid else _free)
        self.price_embedding = price_embedding or (_unpriced if embedder.paid else _free)

    def open(self, unit: int, *, attempt: int = 1, seed: int | None = None) -> "UnitMeter":
        """Opens a unit that ``Ledger.start_unit`` has started; what its dead attempts completed is replayed."""
        replay = Replay(self.ledger.recorded_calls(unit) if attempt > 1 else ())
        return UnitMeter(self, unit, attempt, seed, replay)

    def reopen(self, unit: int) -> "UnitMeter":
        """Opens a unit that is done, for judging its answers: calls go on from the last judge's, as attempt 0."""
        replay = Replay(self.ledger.recorded_calls(unit))
        return UnitMeter(self, unit, JUDGED, None, replay, seq=self.ledger.last_seq(unit, JUDGED))


class UnitMeter:
    """The meter of one unit. ``key`` is the secret that a product's calls carry as their API key."""

    def __init__(
        self, meter: Meter, unit: int, attempt: int, seed: int | None, replay: Replay, *, seq: int = 0
    ) -> None:
        self.unit = unit
        self.key = f"mg-{unit}-{secrets.token_urlsafe(24)}"
        self._meter = meter
        self._attempt = attempt
        self._seed = seed
        self._replay = replay
        self._prompts = PromptIndex()
        self._scope: Scope | None = None
        self._last_turn = 0
        self._seq = seq

    @property
    def setting(self) -> Setting:
        """The setting that decides what is sent."""
        return self._meter.setting

    @property
    def model(self) -> str:
        """The model that answers, whatever a caller asks for."""
        return self._meter.backbone.model

    @property
    def embedding_model(self) -> str:
        """The embedding model, whatever a caller asks for."""
        return self._meter.embedder.model

    @contextmanager
    def scope(self, turn: int, stage: str, question: str | None = None, *, parallel: bool = False) -> Iterator[None]:
        """Attributes the calls made inside to a turn and stage.

        A unit has at most one open scope, since a product's calls carry nothing but their unit. ``parallel``
        scopes may be many: they hold for the calls of the task that opened them, and for no others.
        """
        scope = Scope(turn, stage, question)
        self._last_turn = turn
        if parallel:
            token = _parallel_scope.set((self, scope))
            try:
                yield
            finally:
                _parallel_scope.reset(token)
            return
        if self._scope is not None:
            raise RuntimeError(f"unit {self.unit} is already in {self._scope}")
        self._scope = scope
        try:
            yield
        finally:
            self._scope = None

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """Completes ``request`` under the setting; the reply is on disk before it is returned.

        With ``emit`` the reply is streamed as it comes. Raises UpstreamError, recorded, where the upstream gave
        no completion, and BudgetExceeded where the call was not sent.
        """
        params, asked = overridden(self.setting, self.model, request.params, self._seed)
        scope = self._where()
        # A provider's cache holds for one model and one set of tools, which precede the messages.
        root = canonical([self.model, params.get("tools")])
        observed = self._prompts.observe(root, _pieces(request.messages), stage=scope.stage, turn=scope.turn)
        call = Call(
            self._meter.ledger, self.unit, self._attempt, self._next(), scope, "chat",
            observed.record, observed.digest, observed, params, asked, self.model,
        )  # fmt: skip
        if recorded := self._replay.take("chat", call.request_key):
            call.replayed(recorded.call)
            raw = msgspec.json.decode(recorded.reply)
            if emit is not None:
                await emit_whole(raw, emit)
            return _reply_of(raw, recorded.model, recorded.provider, recorded.finish_reason)
        limit = output_limit(params) or UNLIMITED_OUTPUT
        ask = partial(self._meter.backbone.chat, ChatRequest(request.messages, params), emit)
        return await self._send(call, ask, self._meter.price_chat, limit)

    async def embed(self, texts: Sequence[str], asked: Mapping[str, Any] | None = None) -> EmbedReply:
        """Embeds ``texts`` with the setting's embedder; ``asked`` is what a caller wanted besides the texts."""
        params = {"model": self.embedding_model}
        replaced = {name: value for name, value in (asked or {}).items() if params.get(name) != value}
        prompt = PromptRecord(None, 0, tuple(texts), tokens.count_all(texts), 0, None)
        call = Call(
            self._meter.ledger, self.unit, self._attempt, self._next(), self._where(), "embed",
            prompt, _digest(texts), None, params, replaced, self.embedding_model,
        )  # fmt: skip
        if recorded := self._replay.take("embed", call.request_key):
            call.replayed(recorded.call)
            vectors = self._meter.ledger.vectors(self.embedding_model, texts)
            return EmbedReply(vectors, Usage(source="tokenizer"), recorded.model, recorded.provider)

        async def ask() -> EmbedReply:
            reply = await self._meter.embedder.embed(texts)
            self._meter.ledger.add_vectors(self.embedding_model, texts, np.asarray(reply.vectors, np.float32))
            return reply

        return await self._send(call, ask, self._meter.price_embedding, 0)

    async def _send(self, call: Call, ask: Callable[[], Awaitable[Reply]], price: Pricer, output_limit: int) -> Reply:
        """Sends a call within the budget, and records what became of it before anybody hears of it."""
        worst_input = int(call.prompt.counted_tokens * TOKENIZER_MARGIN) + 64
        reservation = self._meter.budget.reserve(worst_input + output_limit, price(worst_input, output_limit))
        spent: tuple[int | None, float | None] = (None, None)
        call.start()
        try:
            reply = await ask()
        except UpstreamError as fault:
            call.failed(fault)
            spent = _spent(fault.usage, price, unknown=(0, 0.0))
            await self._meter.ledger.committed()
            raise
        except asyncio.CancelledError:
            call.interrupted()
            raise
        else:
            call.completed(reply)
            spent = _spent(reply.usage, price, unknown=(None, None))
            await self._meter.ledger.committed()
            return reply
        finally:
            reservation.settle(*spent)

    def _where(self) -> Scope:
        own = _parallel_scope.get()
        if own is not None and own[0] is self:
            return own[1]
        return self._scope or Scope(self._last_turn, "manage", background=True)

    def _next(self) -> int:
        self._seq += 1
        return self._seq


def _pieces(messages: Sequence[Message]) -> tuple[str, ...]:
    """A prompt as one sequence: before the text of each message, a piece for its role and other fields."""
    sequence: list[str] = []
    for message in messages:
        sequence.append(_mark(message.role) if not message.extra else _full_mark(message))
        sequence.extend(message.parts)
    return tuple(sequence)


def _mark(role: str) -> str:
    return _MARKS.get(role) or f"{MESSAGE_MARK}{role}"


def _full_mark(message: Message) -> str:
    return f"{MESSAGE_MARK}{message.role} {canonical(message.extra)}"


_MARKS = {role: f"{MESSAGE_MARK}{role}" for role in ("system", "user", "assistant", "tool", "developer")}


def _digest(texts: Sequence[str]) -> bytes:
    digest = blake2b(digest_size=16)
    for text in texts:
        body = text.encode("utf-8", "surrogatepass")
        digest.update(len(body).to_bytes(8, "little") + body)
    return digest.digest()


def _reply_of(raw: Mapping[str, Any], model: str, provider: str | None, finish_reason: str | None) -> ChatReply:
    message = raw["choices"][0]["message"] if raw.get("choices") else {}
    return ChatReply(
        message.get("content") or "",
        Usage.from_wire(raw.get("usage")),
        model,
        finish_reason,
        provider,
        raw=raw,
    )


def _spent(usage: Usage, price: Pricer, unknown: tuple[int | None, float | None]) -> tuple[int | None, float | None]:
    """Tokens and dollars that a call took from the budget."""
    read = (usage.input, usage.cached, usage.cache_write, usage.embedding)
    written = (usage.output, usage.reasoning)
    if all(figure is None for figure in (*read, *written)):
        return unknown
    tokens_in, tokens_out = (sum(figure or 0 for figure in figures) for figures in (read, written))
    return tokens_in + tokens_out, price(tokens_in, tokens_out)


def _free(tokens_in: int, tokens_out: int) -> float | None:
    return 0.0


def _unpriced(tokens_in: int, tokens_out: int) -> float | None:
    return None
