"""ReadAgent: pages with gists; the model looks up pages before it answers (Lee et al. 2024, arXiv 2402.09727; M3)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import msgspec

from memgauge import tokens
from memgauge.conversation import Turn, spoken
from memgauge.memories import readagent_prompts as prompts
from memgauge.memories.asking import Asker
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.memories.paging import Pager
from memgauge.memories.together import together
from memgauge.memories.window import recalled_within
from memgauge.meter.handles import BackboneHandle

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Page:
    """A page in full and in short; both are the same where no gist could be made."""

    full: Item
    gist: Item

    def with_copy(self, other: "_Page") -> "_Page":
        """One page of both, under the gist of this one."""
        ids = tuple(dict.fromkeys(self.full.turn_ids + other.full.turn_ids))
        return _Page(Item(self.full.text + other.full.text, ids), Item(self.gist.text, ids))


class ReadAgent:
    """Closes a page every 280 to 600 words, keeps its gist, and at read lets the model choose pages to open.

    A write costs at most two calls per page that it closes: one for the break, unless there is only one place for it,
    one for the gist. A read costs one call (``look_up="parallel"``: up to ``pages`` pages at once) or at most ``pages``
    (``"sequential"``: one page per call, until the model stops), and none while no page is closed. Managing is free.

    The reference reads a document that is finished; here turns come one by one. A page is closed when the open one
    reaches ``page_words``, so the reference's rule for a short rest (below 350 words no call) never applies: the rest
    stays open, is recalled verbatim, and is no candidate of the look-up. A break is chosen without a view of the page
    before, as in the paper's prompt, and of what comes after, which is not there yet.

    Recalled are all gists, the chosen pages in full in their place (``shown="all"``), or the chosen pages alone
    (``"pages"``, paper 2), then the open page. ``ranked`` has the chosen pages in the order of choice, the open turns,
    newest first, then the gists, newest first: a gist names all turns of its page, so that recall over all that was
    recalled is 1 with ``shown="all"``, and only Recall@k with a small k says what was looked up.

    Where the window is full, the oldest gists are left out first. A page without a gist, or with one that is longer
    than itself, is shown in full. A look-up whose reply names no page that exists opens the newest pages.
    """

    card: ClassVar[Card] = Card(
        name="readagent",
        title="ReadAgent",
        summary="pages with gists; the model chooses pages to read again",
        paper_id="M3",
        parallel_reads=True,
    )

    def __init__(
        self,
        backbone: BackboneHandle,
        context_tokens: int | None = None,
        look_up: str = "parallel",
        pages: int = 5,
        gist: str = "short",
        shown: str = "all",
        dedup: bool = False,
        page_words: int = 600,
        earliest_break: int = 280,
    ) -> None:
        for name, value, known in (
            ("look_up", look_up, ("parallel", "sequential")),
            ("gist", gist, ("short", "sentence")),
            ("shown", shown, ("all", "pages")),
        ):
            if value not in known:
                raise ValueError(f"{name} is {' or '.join(known)}, not {value!r}")
        if pages < 1 or not 1 <= earliest_break <= page_words:
            raise ValueError("pages is at least 1, and earliest_break between 1 and page_words")
        self._backbone = backbone
        self._asker = Asker(backbone)
        self._window = context_tokens
        self._sequential = look_up == "sequential"
        self._most = pages
        self._gist_prompt = prompts.ONE_SENTENCE_GIST if gist == "sentence" else prompts.GIST
        self._look_up_prompt = prompts.next_look_up(pages) if self._sequential else prompts.look_up(pages)
        self._chosen = prompts.chosen(pages)
        self._gists_shown = shown == "all"
        self._dedup = dedup
        self._pager = Pager(backbone, page_words, earliest_break)
        self._pages: list[_Page] = []

    async def write(self, turns: Sequence[Turn]) -> None:
        """Adds the turns to the open page; makes the gists of pages that are full, side by side."""
        closed = [page for turn in turns for page in await self._pager.add(turn)]
        self._pages += await together(map(self._page, closed))

    async def _page(self, full: Item) -> _Page:
        said = await self._asker.text(self._gist_prompt, full.text)
        if said is None:
            return _Page(full, full)
        gist = Item(said, full.turn_ids)
        if tokens.count(gist.text) > tokens.count(full.text):
            self._backbone.fault(f"{self._gist_prompt.name}: the reply is longer than the page", said)
            return _Page(full, full)
        return _Page(full, gist)

    async def manage(self) -> None:
        """With ``dedup``, makes one page of those whose gists have the same words (paper 2)."""
        if not self._dedup:
            return
        alike: dict[object, _Page] = {}
        for page in self._pages:
            key = page if page.gist is page.full else tuple(_WORD.findall(page.gist.text.lower()))
            alike[key] = alike[key].with_copy(page) if key in alike else page
        self._pages = list(alike.values())

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """Looks up pages, and recalls them among the gists of all."""
        if not self._pages:
            chosen: list[int] | None = []
        elif self._sequential:
            chosen = await self._one_by_one(_asked(query, at))
        else:
            chosen = await self._at_once(_asked(query, at))
        if chosen is None:
            chosen = list(range(len(self._pages)))[: -self._most - 1 : -1]
        return self._recalled(chosen)

    async def _at_once(self, asked: Sequence[str]) -> list[int] | None:
        """Places of the pages to open; None where the reply was of no use."""
        reply = await self._asker.form(self._look_up_prompt, self._chosen, *self._look_up_parts(asked))
        if reply is None:
            return None
        named = list(dict.fromkeys(number - 1 for number in reply.pages))
        found = [place for place in named if 0 <= place < len(self._pages)]
        if len(found) < len(named):
            missing = [str(place + 1) for place in named if place not in found]
            self._note(f"{self._look_up_prompt.name}: there is no page {', '.join(missing)}", reply)
        return found[: self._most] if found or not named else None

    async def _one_by_one(self, asked: Sequence[str]) -> list[int] | None:
        opened: list[int] = []
        while len(opened) < self._most:
            parts = self._look_up_parts(asked, opened)
            reply = await self._asker.form(self._look_up_prompt, prompts.Next, *parts)
            if reply is None:
                return opened or None
            if not 0 <= reply.page <= len(self._pages):
                self._note(f"{self._look_up_prompt.name}: there is no page {reply.page}", reply)
                return opened or None
            if reply.page == 0 or reply.page - 1 in opened:
                break
            opened.append(reply.page - 1)
        return opened

    def _look_up_parts(self, asked: Sequence[str], opened: Sequence[int] = ()) -> list[str]:
        """The newest gists that fit, numbered; the pages opened; what is asked: so a prefix stays the same."""
        again = [f"Read again, [page {place + 1}]\n{self._pages[place].full.text}" for place in opened]
        left = self._window
        if left is not None:
            left -= self._look_up_prompt.max_tokens + tokens.count_all((self._look_up_prompt.text, *again, *asked))
        gists: list[str] = []
        for number in range(len(self._pages), 0, -1):
            text = f"[page {number}] {self._pages[number - 1].gist.text}"
            if left is not None:
                if (size := tokens.count(text)) > left:
                    continue
                left -= size
            gists.append(text)
        return [*reversed(gists), *again, *asked]

    def _recalled(self, chosen: Sequence[int]) -> Recalled:
        full = [((place,), self._pages[place].full) for place in chosen]
        rest = [((len(self._pages), place), item) for place, item in enumerate(self._pager.open)]
        gists = [((place,), page.gist) for place, page in enumerate(self._pages) if self._gists_shown]
        return recalled_within(self._window, [*full, *reversed(rest), *reversed(gists)])

    def state(self) -> Mapping[str, float]:
        """Pages, the tokens of their gists, which every read sends, and of the open page."""
        return {
            "pages": len(self._pages),
            "gist_tokens": tokens.count_all(page.gist.text for page in self._pages),
            "open_tokens": tokens.count_all(item.text for item in self._pager.open),
        }

    def footprint(self) -> Footprint:
        """Pages in full, their gists, and the open page."""
        items = [item for page in self._pages for item in dict.fromkeys((page.full, page.gist))]
        return Footprint.of_text(item.text for item in [*items, *self._pager.open])

    async def close(self) -> None:
        """Forgets everything."""
        self._pages.clear()
        self._pager.clear()

    def _note(self, what: str, reply: msgspec.Struct) -> None:
        self._backbone.fault(what, msgspec.json.encode(reply).decode())


def _asked(query: str, at: datetime | None) -> tuple[str, ...]:
    return (*((f"Asked on {spoken(at)}.\n",) if at else ()), f"Question: {query}")
