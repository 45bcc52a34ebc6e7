"""How ReadAgent cuts a conversation into pages as it comes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.asking import Asker
from memgauge.memories.base import Item
from memgauge.memories.readagent_prompts import BREAK, Break
from memgauge.meter.handles import BackboneHandle


@dataclass(frozen=True, slots=True)
class _Paragraph:
    item: Item
    words: int


class Pager:
    """Holds the open page; when it has ``page_words``, the model says after which paragraph it ends.

    A paragraph is a turn, or a line of a turn that is longer than a page. A page may end behind any paragraph at which
    it has ``earliest_break`` words; where there is one such place only, nobody is asked. The rest stays open.
    """

    def __init__(self, backbone: BackboneHandle, page_words: int, earliest_break: int) -> None:
        self._backbone = backbone
        self._asker = Asker(backbone)
        self._page_words = page_words
        self._earliest_break = earliest_break
        self._open: list[_Paragraph] = []

    @property
    def open(self) -> list[Item]:
        """The paragraphs of the page that is not full."""
        return [paragraph.item for paragraph in self._open]

    async def add(self, turn: Turn) -> list[Item]:
        """Takes in a turn; gives the pages that it fills."""
        closed: list[Item] = []
        for paragraph in self._paragraphs(turn):
            self._open.append(paragraph)
            while sum(each.words for each in self._open) >= self._page_words:
                closed.append(await self._close())
        return closed

    def clear(self) -> None:
        """Forgets the open page."""
        self._open.clear()

    def _paragraphs(self, turn: Turn) -> Iterator[_Paragraph]:
        words = _words(turn.text)
        if words < self._page_words:
            yield _Paragraph(Item.of(turn), words)
            return
        for line in filter(None, tokens.pieces(turn.line())):
            yield _Paragraph(Item(line, (turn.id,)), _words(line))

    async def _close(self) -> Item:
        ends, words = [], 0
        for end, paragraph in enumerate(self._open, 1):
            words += paragraph.words
            if words >= self._earliest_break or end == len(self._open):
                ends.append(end)
        end = await self._break(ends) if len(ends) > 1 else ends[0]
        page, self._open = self.open[:end], self._open[end:]
        ids = dict.fromkeys(turn_id for item in page for turn_id in item.turn_ids)
        return Item("".join(item.text for item in page), tuple(ids))

    async def _break(self, ends: Sequence[int]) -> int:
        """The end that the model chooses; the last where its reply names none of them."""
        said: list[str] = []
        for end, item in enumerate(self.open, 1):
            said.append(item.text)
            if end in ends:
                said.append(f"[label {ends.index(end) + 1}]\n")
        chosen = await self._asker.form(BREAK, Break, *said)
        if chosen is None:
            return ends[-1]
        if not 1 <= chosen.label <= len(ends):
            what = f"{BREAK.name}: there is no label {chosen.label}"
            self._backbone.fault(what, msgspec.json.encode(chosen).decode())
            return ends[-1]
        return ends[chosen.label - 1]


def _words(text: str) -> int:
    """Words between blanks; two tokens make one where a language writes no blanks."""
    return max(len(text.split()), tokens.count(text) // 2)
