"""Extractive: no model at all; picks answers from its context by rule. For tests, cost mechanics and speed.

It reads no meaning: its figures say what a memory handed on, never how well a model would use it. Every block of a
prompt is read once, however often it is sent.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Emit, Json, Message, emit_whole
from memgauge.backbones.counting import PromptCounter, counted_reply, truncated
from memgauge.backbones.rules.answers import answer
from memgauge.backbones.rules.digests import digest, wanted_digest
from memgauge.backbones.rules.facts import facts, listed
from memgauge.backbones.rules.lines import read
from memgauge.backbones.rules.prompts import Asked, asked, forced_tool, newest_section, wanted_schema
from memgauge.backbones.rules.ranking import Hit, Index
from memgauge.backbones.rules.records import recorded, wanted_records
from memgauge.backbones.rules.schema_filler import Source, fill
from memgauge.backbones.rules.sections import filled, wanted_section
from memgauge.backbones.rules.shortened import shortened, wanted_length
from memgauge.backbones.rules.topics import topics
from memgauge.conversation import ABSTENTION

_MENTIONED = 4  # words of a turn that an acknowledgement repeats


class Extractive:
    """A backbone without a model: deterministic, free, and as fast as a dictionary.

    It answers a question at the end of the last user message from the lines before it, acknowledges anything else,
    fills a JSON schema, the arguments of a forced tool call, a tagged section or records with facts of the
    conversation, makes one text of several, and reports exact usage. Honours ``max_tokens``,
    ``max_completion_tokens`` and ``stop``.
    """

    name = "extractive"
    model = "extractive-1"
    paid = False
    window: int | None = None

    def __init__(self) -> None:
        self._index = Index()
        self._counter = PromptCounter()

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """The reply that the rules give."""
        prompt = self._counter.prompt_tokens(request.messages)
        newest = asked(request.messages)
        tool = forced_tool(request.params, request.messages)
        if tool:
            name, parameters = tool
            text = self._json(parameters, request.messages, newest)
        elif (schema := wanted_schema(request.params, request.messages)) is not None:
            text = self._json(schema, request.messages, newest)
        elif section := wanted_section(request.messages):
            text = filled(section, _last_told(request.messages))
        elif form := wanted_records(request.messages):
            text = recorded(form, request.messages)
        elif (texts := wanted_digest(request.messages)) is not None:
            text = digest(texts)
        elif (length := wanted_length(request.messages)) is not None:
            text = shortened(_last_told(request.messages).parts, *length)
        else:
            text = self._text(newest)
        text, finish = _limited(tokens.sanitize(text), request.params)
        identity = blake2b(f"{prompt}\0{newest.text}\0{text}".encode(errors="replace"), digest_size=12).hexdigest()
        message: dict[str, Json]
        if tool:
            call = {"id": f"call_{identity}", "type": "function", "function": {"name": name, "arguments": text}}
            message = {"content": None, "tool_calls": [call]}
            finish = "tool_calls" if finish == "stop" else finish
            output = tokens.count(name) + tokens.count(text)
        else:
            message = {"content": text}
            output = tokens.count(text)
        reply = counted_reply(f"chatcmpl-{identity}", self.model, message, finish, prompt, output)
        if emit:
            await emit_whole(reply.raw, emit)
        return reply

    async def close(self) -> None:
        """Nothing to release."""

    def _text(self, newest: Asked) -> str:
        if newest.question is None:
            return acknowledgement(newest.text)
        return answer(newest.question, self._hits(newest))

    def _hits(self, newest: Asked) -> list[Hit]:
        """The sentences that bear on the question, best first."""
        if newest.question is None:
            return []
        ids = self._index.ids(newest.context)
        return self._index.rank(ids, newest.question.terms, newest.question.subjects)

    def _json(self, schema: Json, messages: Sequence[Message], newest: Asked) -> str:
        told = [message for message in messages if message.role not in ("system", "developer")]
        spoken = [part for message in told for part in newest_section(message)]
        blocks = [self._index.block(number) for number in self._index.ids(spoken)]
        hits = self._hits(newest)
        found = answer(newest.question, hits) if newest.question else ""
        source = Source(
            text="".join(spoken),
            facts=tuple(listed(spoken) or facts(blocks)),
            answer="" if found == ABSTENTION else found,
            question=newest.question.text if newest.question else "",
            names=tuple(dict.fromkeys(s.speaker for block in blocks for s in block.sentences if s.speaker)),
            bearing="".join(newest.context[place] for place in dict.fromkeys(hit.place for hit in hits)),
            topics=topics([read(newest.question.text)] if newest.question else blocks),
            days=tuple(dict.fromkeys(s.said for block in blocks for s in block.sentences if s.said)),
        )
        return json.dumps(fill(schema, source), ensure_ascii=False)


def _last_told(messages: Sequence[Message]) -> Message:
    """The last message that is not the model's own nor an instruction."""
    return next((message for message in reversed(messages) if message.role == "user"), messages[-1])


def acknowledgement(text: str) -> str:
    """A short reply to something that asks nothing: ``I see: pottery class, therapy.``"""
    said = read(text).sentences
    words = [word for s in said for word, stem in zip(s.words, s.stems, strict=True) if stem in s.terms]
    longest = sorted(dict.fromkeys(words), key=lambda word: -len(word))[:_MENTIONED]
    return f"I see: {', '.join(word for word in dict.fromkeys(words) if word in longest)}." if words else "I see."


def _limited(text: str, params: Mapping[str, Json]) -> tuple[str, str]:
    """The text as far as ``stop`` and the token limit let it go, and the reason why it ended."""
    stops = params.get("stop")
    for stop in [stops] if isinstance(stops, str) else stops or ():
        if isinstance(stop, str) and stop:
            text = text.partition(stop)[0]
    limits = [params.get(key) for key in ("max_tokens", "max_completion_tokens")]
    limit = min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)
    if limit is None or tokens.count(text) <= limit:
        return text, "stop"
    return truncated(text, limit), "length"
