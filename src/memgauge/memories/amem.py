"""A-MEM: every turn becomes a note; notes link and rewrite each other as they come (paper 2, M4; arXiv 2502.12110)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

import msgspec

from memgauge.conversation import Turn
from memgauge.memories.amem_prompts import CONSTRUCT, EVOLVE, SEARCH, Described, Evolution, Keywords
from memgauge.memories.asking import Asker
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.memories.nearest import Hit, Nearest
from memgauge.memories.together import together
from memgauge.memories.window import recalled_within
from memgauge.meter.handles import BackboneHandle, EmbedderHandle

_AT_ONCE = 100  # notes embedded in one call: endpoints take some 300,000 tokens, and turns can be long


@dataclass(frozen=True, slots=True)
class Note:
    """A turn and what was made of it. ``links`` are the places of other notes, which never change."""

    turn_id: str
    line: str
    context: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """What is embedded, shown to the backbone, and recalled."""
        fields = {"context": self.context, "keywords": ", ".join(self.keywords), "tags": ", ".join(self.tags)}
        return self.line + "".join(f"  {name}: {said}\n" for name, said in fields.items() if said)


class AMem:
    """Two calls per turn: one describes it in ``write``, one lets it evolve among its neighbours in ``manage``.

    The first note has no neighbour and does not evolve: T turns take 2T − 1 calls, of which T − 1 in manage, and one
    embedding call per write. An evolution links the added note to neighbours, gives it other tags, and rewrites the
    context and tags of neighbours, which are known by numbers of their own. Vectors of notes that changed are renewed
    after every ``reembed_every`` evolutions that changed anything, in embedding calls of manage. A read takes the
    nearest ``k`` notes and, after them, up to ``k`` notes that these link to, as far as they fit the window. A note is
    evidence of its own turn only: what other turns put into its context is hearsay.

    ``query_keywords`` searches by keywords that the backbone makes of the question, one call per read, as the authors'
    benchmark does. Paper 2 describes ``links="similarity"`` (a note links to its neighbours without being asked) and
    a detector without which nothing evolves, whose threshold it does not give: ``evolve_from`` is the least cosine
    with the nearest neighbour.
    """

    card: ClassVar[Card] = Card(
        name="amem",
        title="A-MEM",
        summary="every turn a note with keywords, context and tags; notes link and rewrite each other",
        paper_id="M4",
        parallel_reads=True,
    )

    def __init__(
        self,
        backbone: BackboneHandle,
        embedder: EmbedderHandle,
        k: int = 10,
        neighbours: int = 5,
        reembed_every: int = 100,
        query_keywords: bool = False,
        links: str = "model",
        evolve_from: float | None = None,
        context_tokens: int | None = None,
    ) -> None:
        if min(k, neighbours, reembed_every) < 1:
            raise ValueError("k, neighbours and reembed_every are at least 1")
        if links not in ("model", "similarity"):
            raise ValueError(f"links are made by 'model' or by 'similarity', not by {links!r}")
        self._backbone = backbone
        self._asker = Asker(backbone)
        self._nearest = Nearest(embedder)
        self._context_tokens = context_tokens
        self._k = k
        self._neighbours = neighbours
        self._reembed_every = reembed_every
        self._query_keywords = query_keywords
        self._links_all = links == "similarity"
        self._evolve_from = evolve_from
        self._notes: list[Note] = []
        self._settled = 0  # notes that have been through evolution
        self._evolutions = 0
        self._stale: set[int] = set()  # notes that read differently from what was embedded

    async def write(self, turns: Sequence[Turn]) -> None:
        """Describes the turns, all at once, and embeds the notes in one call."""
        notes = await together(map(self._construct, turns))
        await self._nearest.add([note.text for note in notes])
        self._notes.extend(notes)

    async def manage(self) -> None:
        """Lets the notes that came since evolve, one after the other."""
        while self._settled < len(self._notes):
            if self._settled:
                await self._evolve(self._settled)
            self._settled += 1

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The nearest notes and those that they link to, as they were said; ``ranked`` has the nearest first."""
        if self._query_keywords and self._notes:
            query = await self._keywords(query)
        hits = [hit.place for hit in await self._nearest.nearest(query, self._k)]
        linked = dict.fromkeys(link for place in hits for link in self._notes[place].links if link not in hits)
        ranking = ((place, self._notes[place]) for place in (*hits, *list(linked)[: self._k]))
        items = (((place,), Item(note.text, (note.turn_id,))) for place, note in ranking)
        return recalled_within(self._context_tokens, items)

    def state(self) -> Mapping[str, float]:
        """What drives the cost of evolution and of recalled context."""
        links = sum(len(note.links) for note in self._notes)
        return {
            "notes": len(self._notes), "links": links, "evolutions": self._evolutions, "stale": len(self._stale),
        }  # fmt: skip

    def footprint(self) -> Footprint:
        """The notes, their links at four bytes each, and their float32 vectors."""
        links = sum(len(note.links) for note in self._notes)
        return Footprint.of_text((note.text for note in self._notes), self._nearest.bytes + 4 * links)

    async def close(self) -> None:
        """Forgets everything."""
        self._notes.clear()

    async def _construct(self, turn: Turn) -> Note:
        line = turn.line()
        said = await self._asker.form(CONSTRUCT, Described, line) or Described()
        return Note(turn.id, line, _plain(said.context), _distinct(said.keywords), _distinct(said.tags))

    async def _evolve(self, place: int) -> None:
        near = self._nearest_before(place)
        if self._links_all:
            self._revise(place, replace(self._notes[place], links=tuple(hit.place for hit in near)))
        if self._evolve_from is not None and near[0].similarity < self._evolve_from:
            return
        shown = {hit.place + 1: hit.place for hit in near}
        parts = [f"Note {number}:\n{self._notes[where].text}" for number, where in shown.items()]
        said = await self._asker.form(EVOLVE, Evolution, *parts, f"Added note:\n{self._notes[place].text}")
        if said is None or not self._apply(place, said, shown):
            return
        self._evolutions += 1
        if self._evolutions % self._reembed_every == 0:
            await self._renew(sorted(self._stale))
            self._stale.clear()

    def _nearest_before(self, place: int) -> list[Hit]:
        """The neighbours of a note among those before it: what came in the same write stands behind it already."""
        later = len(self._notes) - place
        hits = self._nearest.nearest_to(self._nearest.vectors[place], self._neighbours + later)
        return [hit for hit in hits if hit.place < place][: self._neighbours]

    def _apply(self, place: int, said: Evolution, shown: Mapping[int, int]) -> bool:
        """Does what the backbone said, as far as it is about notes that were ``shown``; whether anything changed."""
        named = [*said.linked_notes, *(revised.note for revised in said.revised_notes)]
        if unknown := sorted({number for number in named if number not in shown}):
            what = f"evolve: the reply named notes that were not shown: {', '.join(map(str, unknown))}"
            self._backbone.fault(what, msgspec.json.encode(said).decode())
        note = self._notes[place]
        links = dict.fromkeys([*note.links, *(shown[number] for number in said.linked_notes if number in shown)])
        changed = self._revise(place, replace(note, links=tuple(links), tags=_distinct(said.tags) or note.tags))
        for revised in said.revised_notes:
            if revised.note in shown:
                old = self._notes[shown[revised.note]]
                context, tags = _plain(revised.context) or old.context, _distinct(revised.tags) or old.tags
                changed |= self._revise(shown[revised.note], replace(old, context=context, tags=tags))
        return changed

    def _revise(self, place: int, note: Note) -> bool:
        """Puts a note in another's place; whether it differs."""
        old, self._notes[place] = self._notes[place], note
        if note.text != old.text:
            self._stale.add(place)
        return note != old

    async def _renew(self, places: Sequence[int]) -> None:
        for start in range(0, len(places), _AT_ONCE):
            batch = places[start : start + _AT_ONCE]
            await self._nearest.replace({place: self._notes[place].text for place in batch})

    async def _keywords(self, query: str) -> str:
        said = await self._asker.form(SEARCH, Keywords, query)
        return ", ".join(_distinct(said.keywords)) or query if said else query


def _plain(text: str) -> str:
    """One line, with single blanks."""
    return " ".join(text.split())


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plain for text in texts if (plain := _plain(text))))
