"""The meter: attributes, sends, replays and records every model call of a unit.

Built-in memories reach it through handles, outside products through the gateway; both call ``UnitMeter.chat``
and ``UnitMeter.embed``, so both give the same rows.
"""

import asyncio
import secrets
import time
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
    another_attempt,
    emit_whole,
    text_of,
)
from memgauge.embedders.base import Embedder, EmbedReply
from memgauge.ledger.flights import Flight, Flights
from memgauge.ledger.records import FaultRecord, PromptRecord
from memgauge.ledger.writer import Ledger
from memgauge.meter.bound import Bound, of_chat, of_texts
from memgauge.meter.budget import Budget, Pricer
from memgauge.meter.call import Call, canonical, request_key
from memgauge.meter.circuit import EndpointCircuit, UnitCircuit
from memgauge.meter.overrides import overridden
from memgauge.meter.passage import Passage
from memgauge.meter.prompts import PromptIndex
from memgauge.meter.replay import Replay
from memgauge.meter.scope import Scope
from memgauge.meter.stops import Stop
from memgauge.spec import Setting

# Begins the piece that stands for a message's role and its fields that are not text.
MESSAGE_MARK = "\x02"
# The attempt under which a judge's calls stand: they are none of the unit's own.
JUDGED = 0

_NO_BOUND = Bound(0, 0)

Reply = TypeVar("Reply", ChatReply, EmbedReply)
Alike = Callable[[ChatRequest], ChatRequest]

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
        flights: Flights | None = None,
    ) -> None:
        self.ledger = ledger
        self.setting = setting
        self.backbone = backbone
        self.embedder = embedder
        self.budget = budget or Budget()
        self.price_chat = price_chat or (_unpriced if backbone.paid else _free)
        self.price_embedding = price_embedding or (_unpriced if embedder.paid else _free)
        self.flights = flights
        self._width: int | None = None  # of the embedder's vectors, once one has been seen
        self.circuits = {
            "chat": EndpointCircuit(f"the endpoint of {backbone.model}"),
            "embed": EndpointCircuit(f"the endpoint of {embedder.model}"),
        }

    def open(
        self,
        unit: int,
        *,
        attempt: int = 1,
        seed: int | None = None,
        budget: Budget | None = None,
        alike: Alike | None = None,
    ) -> "UnitMeter":
        """Opens a unit that ``Ledger.start_unit`` has started; what its dead attempts completed is replayed.

        ``budget`` is the unit's own, within the run's. ``alike`` is what its memory says of its requests, if it does.
        """
        replay = Replay(self.ledger.recorded_calls(unit) if attempt > 1 else ())
        return UnitMeter(self, unit, attempt, seed, replay, budget=budget, alike=alike)

    def check_vectors(self, reply: EmbedReply, texts: int) -> None:
        """Raises UpstreamError where vectors cannot be compared with those before: one per text, all of one width."""
        count, width = reply.vectors.shape
        known = self._width or self.embedder.dimensions or width
        if count == texts and width == known and np.isfinite(reply.vectors).all():
            self._width = known
            return
        wrong = (
            f"{count} vectors of {width} dimensions" if (count, width) != (texts, known) else "vectors without numbers"
        )
        raise UpstreamError(
            f"{self.embedder.model} gave {wrong}, where {texts} of {known} were expected",
            status=502, kind="malformed", usage=reply.usage,
        )  # fmt: skip

    def reopen(self, unit: int) -> "UnitMeter":
        """Opens a unit that is done, for judging its answers: calls go on from the last judge's, as attempt 0."""
        replay = Replay(self.ledger.recorded_calls(unit, judged=True))
        return UnitMeter(self, unit, JUDGED, None, replay, seq=self.ledger.last_seq(unit, JUDGED))


class UnitMeter:
    """The meter of one unit. ``key`` is the secret that a product's calls carry as their API key."""

    def __init__(
        self,
        meter: Meter,
        unit: int,
        attempt: int,
        seed: int | None,
        replay: Replay,
        *,
        seq: int = 0,
        budget: Budget | None = None,
        alike: Alike | None = None,
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
        self._own_budget = budget
        self._alike = alike
        self._circuit = UnitCircuit()
        self._faults = 0
        self._detours: list[tuple[str, float]] = []
        # Our last word: a product hears it as an error among others, the run must hear it as its end.
        self.refusal: Stop | None = None
        self._refused = asyncio.Event()
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

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

    @property
    def embedding_dimensions(self) -> int | None:
        """Length of the embedding model's vectors; None where it shows only in the first one."""
        return self._meter.embedder.dimensions

    @contextmanager
    def staged(self, stage: str) -> Iterator[None]:
        """Attributes this task's calls to ``stage`` of the turn at hand: a product told the stage by its key."""
        here = self._where()
        scope = Scope(here.turn, stage, here.question, here.background)
        token = _parallel_scope.set((self, scope))
        try:
            yield
        finally:
            _parallel_scope.reset(token)

    @contextmanager
    def detour(self, stage: str) -> Iterator[None]:
        """``staged``, with the time that it takes: work of another stage that a memory has put off until now."""
        started = time.perf_counter()
        try:
            with self.staged(stage):
                yield
        finally:
            self._detours.append((stage, time.perf_counter() - started))

    def detours(self) -> list[tuple[str, float]]:
        """Stage and seconds of every detour since this was last asked."""
        taken, self._detours = self._detours, []
        return taken

    def fault(self, what: str, reply: str | None = None, lost_turns: int = 0) -> None:
        """Enters what went wrong inside the memory, at the turn and stage at hand; the memory goes on."""
        here = self._where()
        self._faults += 1
        self._meter.ledger.add_fault(
            FaultRecord(self.unit, self._faults, here.turn, here.question, here.stage, what, reply, lost_turns)
        )

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
        no completion, and a Stop where the call was not sent.
        """
        params, asked = overridden(self.setting, self.model, request.params, self._seed)
        scope = self._where()
        # A provider's cache holds for one model and one set of tools, which precede the messages.
        root = canonical([self.model, params.get("tools")])
        pieces = _pieces(request.messages)
        observed = self._prompts.observe(root, pieces, stage=scope.stage, turn=scope.turn)
        call = Call(
            self._meter.ledger, self.unit, self._attempt, self._next(), scope, "chat",
            observed.record, self._key(request, observed.digest, params), observed, params, asked, self.model,
        )  # fmt: skip
        if recorded := self._replay.take("chat", call.request_key):
            call.replayed(recorded.call)
            raw = msgspec.json.decode(recorded.reply)
            if emit is not None:
                await emit_whole(raw, emit)
            return _reply_of(raw, recorded.model, recorded.provider, recorded.finish_reason)
        bound = of_chat(request.messages, pieces, params) if self._bounded(self._meter.backbone.paid) else _NO_BOUND
        ask = partial(self._meter.backbone.chat, ChatRequest(request.messages, params), emit)
        return await self._send(call, ask, self._meter.price_chat, bound)

    async def embed(self, texts: Sequence[str], asked: Mapping[str, Any] | None = None) -> EmbedReply:
        """Embeds ``texts`` with the setting's embedder; ``asked`` is what a caller wanted besides the texts."""
        params = {"model": self.embedding_model}
        replaced = {name: value for name, value in (asked or {}).items() if params.get(name) != value}
        prompt = PromptRecord(None, 0, tuple(texts), tokens.count_all(texts), 0, None)
        call = Call(
            self._meter.ledger, self.unit, self._attempt, self._next(), self._where(), "embed",
            prompt, request_key("embed", _digest(texts), params), None, params, replaced, self.embedding_model,
        )  # fmt: skip
        if recorded := self._replay.take("embed", call.request_key):
            call.replayed(recorded.call)
            vectors = self._meter.ledger.vectors(self.embedding_model, texts)
            # Some clients add usage up: a replayed reply has one, too.
            usage = Usage(embedding=prompt.counted_tokens, source="tokenizer")
            return EmbedReply(vectors, usage, recorded.model, recorded.provider)

        async def ask() -> EmbedReply:
            reply = await self._meter.embedder.embed(texts)
            self._meter.check_vectors(reply, len(texts))
            self._meter.ledger.add_vectors(self.embedding_model, texts, np.asarray(reply.vectors, np.float32))
            return reply

        bound = of_texts(texts) if self._bounded(self._meter.embedder.paid) else _NO_BOUND
        return await self._send(call, ask, self._meter.price_embedding, bound)

    async def _send(self, call: Call, ask: Callable[[], Awaitable[Reply]], price: Pricer, bound: Bound) -> Reply:
        """Sends a call within the budget, and records what became of it before anybody hears of it."""
        flight = Flight(
            self.unit, self._attempt, call.seq, call.scope.turn, bound.input, bound.output, call.scope.stage, call.kind,
            call.model,
        )  # fmt: skip
        passage = Passage(self._budget, price, bound, self._meter.flights, flight)
        try:
            self._meter.circuits[call.kind].check()
            self._circuit.check()
            await passage.begin()
        except Stop as refusal:
            self._refuse(refusal)
            raise
        mine = another_attempt.set(passage.again)
        self._under_way += 1
        self._quiet.clear()
        call.start()
        try:
            reply = await ask()
        except asyncio.CancelledError:
            passage.over(passage.told or Usage())
            call.interrupted(passage.told or Usage(), passage.at_most)
            self._meter.ledger.commit()
            passage.landed()
            raise
        except Exception as raised:
            # A backbone that breaks in its own code has made a call all the same.
            fault = raised if isinstance(raised, UpstreamError) else _broken(raised)
            passage.over(fault.usage, free=fault.costs_nothing)
            call.failed(fault, passage.at_most)
            self._note(call.kind, fault)
            await self._meter.ledger.committed()
            passage.landed()
            if passage.refusal is not None:
                self._refuse(passage.refusal)
                raise passage.refusal from fault
            raise fault from raised.__cause__
        else:
            passage.over(reply.usage)
            call.completed(reply, passage.at_most)
            self._note(call.kind, None)
            await self._meter.ledger.committed()
            passage.landed()
            return reply
        finally:
            another_attempt.reset(mine)
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()

    async def refused(self) -> None:
        """Returns when a call has been refused for good (``refusal``), and what else was under way is on record."""
        await self._refused.wait()
        await self._quiet.wait()

    def _refuse(self, refusal: Stop) -> None:
        self.refusal = refusal
        self._refused.set()

    @property
    def _budget(self) -> Budget:
        return self._own_budget or self._meter.budget

    def _note(self, kind: str, fault: UpstreamError | None) -> None:
        self._meter.circuits[kind].note(fault)
        if self._attempt != JUDGED:
            self._circuit.note(fault)

    def _bounded(self, paid: bool) -> bool:
        """Whether anybody asks how much a call can use at most."""
        return paid or self._budget.capped

    def _key(self, request: ChatRequest, digest: bytes, params: Mapping[str, Any]) -> bytes:
        """What a request is known by when it comes again in another attempt."""
        if self._alike is None:
            return request_key("chat", digest, params)
        alike = self._alike(ChatRequest(request.messages, params))
        root = canonical([self.model, alike.params.get("tools")])
        return request_key("chat", _digest((root, *_pieces(alike.messages))), alike.params)

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
        text_of(message.get("content")),
        Usage.from_wire(raw.get("usage")),
        model,
        finish_reason,
        provider,
        raw=raw,
    )


def _broken(raised: Exception) -> UpstreamError:
    return UpstreamError(f"the model failed: {type(raised).__name__}: {raised}", status=502, kind="malformed")


def _free(tokens_in: int, tokens_out: int, cached: int) -> float | None:
    return 0.0


def _unpriced(tokens_in: int, tokens_out: int, cached: int) -> float | None:
    return None
