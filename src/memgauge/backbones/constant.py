"""Constant: replies at once, always the same. The floor of the harness's speed, and the always-wrong generator."""

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Emit, emit_whole
from memgauge.backbones.counting import PromptCounter, counted_reply


class Constant:
    """A backbone that reads nothing and says ``reply``; its usage is exact, as if it had read the prompt."""

    name = "constant"
    model = "constant"
    paid = False
    window: int | None = None

    def __init__(self, reply: str = "I do not know.") -> None:
        self._reply = reply
        self._reply_tokens = tokens.count(reply)
        self._counter = PromptCounter()

    async def chat(self, request: ChatRequest, emit: Emit | None = None) -> ChatReply:
        """The constant reply."""
        prompt = self._counter.prompt_tokens(request.messages)
        message = {"content": self._reply}
        reply = counted_reply("chatcmpl-constant", self.model, message, "stop", prompt, self._reply_tokens)
        if emit:
            await emit_whole(reply.raw, emit)
        return reply

    async def close(self) -> None:
        """Nothing to release."""
