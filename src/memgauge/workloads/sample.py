"""A small conversation that ships with memgauge: two friends, a move and a bakery, and ten questions."""

from collections.abc import Sequence
from importlib import resources
from typing import ClassVar

from memgauge import __version__
from memgauge.conversation import Conversation
from memgauge.errors import UnknownNameError
from memgauge.workloads import transcript
from memgauge.workloads.base import Card, Workload


class Sample(Workload):
    """22 turns over four sittings. Of the nine answers, four stand before the last ten turns and four in them."""

    card: ClassVar[Card] = Card(
        name="sample",
        title="Sample conversation",
        summary="two friends over two months, 22 turns, 10 questions; ships with memgauge",
        source="https://pypi.org/project/memgauge/",
        revision=__version__,
        licence="Apache-2.0",
        citation="written for memgauge",
        protocols=("serve", "recall"),
    )

    def __init__(self) -> None:
        content = (resources.files("memgauge.workloads") / "data" / "sample.json").read_bytes()
        self._conversations = transcript.conversations(content, "sample.json", "sample")

    def items(self) -> Sequence[str]:
        return tuple(self._conversations)

    def conversation(self, item: str) -> Conversation:
        if item not in self._conversations:
            raise UnknownNameError("conversation", item, self._conversations)
        return self._conversations[item]
