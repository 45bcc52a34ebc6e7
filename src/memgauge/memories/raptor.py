"""RAPTOR: turns clustered and summarised, layer upon layer, and searched at all heights (paper 2, M6; 2401.18059)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from sys import maxsize
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.embedders.base import Vectors
from memgauge.memories import raptor_clusters
from memgauge.memories.asking import Asker, Prompt
from memgauge.memories.base import Card, Footprint, Item, Recalled
from memgauge.memories.nearest import Nearest, unit_rows
from memgauge.memories.together import together
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.workloads.chunks import FEWEST_TOKENS, cut

LAYERS = 5
FEW = raptor_clusters.DIMENSIONS + 1  # nodes of a layer upon which no further one is built
CLUSTER_TOKENS = 3500
_WORDS_PER_TOKEN = 0.6

_SUMMARY = (
    "Summarise these lines of a conversation, or summaries of parts of it, which are about related things, in at most"
    " {words} words. Keep what somebody may ask about later: who did, said, owns, likes or plans what, with whom,"
    " where, how many, and when. Call people by their names, and write times as dates, counted from the date in"
    " brackets before a line. Reply with the summary alone."
)


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a turn (``layer`` 0), or the summary of a cluster of the layer below.

    ``first`` and ``last`` are the numbers of the oldest and newest turn under it, ``children`` how many nodes.
    """

    item: Item
    layer: int
    first: int
    last: int
    children: int = 0


class Raptor:
    """One call per cluster: a tree of c₁, c₂, … clusters in its layers takes c₁ + c₂ + … calls, all of them manage.

    A layer is built upon one of more than eleven nodes, up to the fifth. Each costs one embedding call; a write and a
    read cost one each. Nothing is added to a tree: where turns were written since, it is built anew from all turns,
    ``lazy`` at the next read or ``eager`` after the write, once ``rebuild_every`` turns have come. Until then they are
    found as leaves beside the tree. A conversation of T turns that is read after every turn is thus built T times.

    A turn is a leaf, a long one several (at sentences, of at most ``leaf_tokens``). A read takes the nodes nearest to
    the query, at whatever height, up to ``k`` of them and ``budget_tokens`` (paper: 2000, about twenty nodes; code:
    3500 and ten), in the order of the conversation, a summary before what it is of. It is evidence of every turn under
    it, though it cannot hold all they say: Recall@k is flattered by what is high in the tree.

    Paper 2 tidies up without figures of its own: of summaries of the top layer whose cosine is at least ``dedup`` the
    newest alone stays, and a summary loses half of its similarity with every ``half_life_turns`` turns that came after
    its newest.
    """

    card: ClassVar[Card] = Card(
        name="raptor",
        title="RAPTOR",
        summary="turns clustered and summarised into a tree that is searched at all heights",
        paper_id="M6",
    )

    def __init__(
        self,
        backbone: BackboneHandle,
        embedder: EmbedderHandle,
        context_tokens: int | None = None,
        k: int = 20,
        budget_tokens: int = 2000,
        build: str = "lazy",
        rebuild_every: int = 1,
        leaf_tokens: int = 100,
        summary_tokens: int = 100,
        dedup: float | None = None,
        half_life_turns: float | None = None,
    ) -> None:
        if build not in ("lazy", "eager"):
            raise ValueError(f"build is 'lazy' or 'eager', not {build!r}")
        if min(k, budget_tokens, rebuild_every, summary_tokens) < 1 or leaf_tokens < FEWEST_TOKENS:
            raise ValueError(
                "k, budget_tokens, rebuild_every and summary_tokens are at least 1,"
                f" leaf_tokens at least {FEWEST_TOKENS}"
            )
        if half_life_turns is not None and half_life_turns <= 0:
            raise ValueError("half_life_turns is more than 0")
        self._backbone, self._embedder = backbone, embedder
        self._asker = Asker(backbone)
        self._k, self._lazy, self._rebuild_every = k, build == "lazy", rebuild_every
        window = maxsize if context_tokens is None else context_tokens
        self._budget_tokens, self._cluster_tokens = min(budget_tokens, window), min(CLUSTER_TOKENS, window)
        self._leaf_tokens = leaf_tokens
        words = round(_WORDS_PER_TOKEN * summary_tokens)
        self._prompt = Prompt("summary", _SUMMARY.format(words=words), summary_tokens)
        self._dedup, self._half_life = dedup, half_life_turns
        self._leaves: list[Node] = []
        self._leaf_index = Nearest(embedder)
        self._turns = 0
        self._tree = Tree((), np.zeros((0, 0), np.float32))
        self._unbuilt = 0  # turns written since the tree was built
        self._builds = 0

    @classmethod
    def require(cls, options: Mapping[str, Any]) -> None:
        """Raises MissingExtraError where UMAP or scikit-learn is not installed."""
        raptor_clusters.require()

    async def start(self) -> None:
        """Compiles UMAP before anything is timed."""
        await raptor_clusters.warmed_up()

    async def write(self, turns: Sequence[Turn]) -> None:
        """Embeds the turns' leaves in one call."""
        leaves = [
            Node(Item(text, (turn.id,)), 0, number, number)
            for number, turn in enumerate(turns, self._turns)
            for text in _parts(turn, self._leaf_tokens)
        ]
        await self._leaf_index.add([leaf.item.text for leaf in leaves])
        self._leaves.extend(leaves)
        self._turns += len(turns)
        self._unbuilt += len(turns)

    async def manage(self) -> None:
        """Builds the tree anew, where it is built eagerly and enough was written since."""
        if not self._lazy and self._unbuilt >= self._rebuild_every:
            await self._build()

    async def read(self, query: str, at: datetime | None = None) -> Recalled:
        """The nodes nearest to the query, of any layer; equal similarities go to the higher, then to the later one."""
        if self._lazy and self._unbuilt >= self._rebuild_every:
            with self._backbone.detour("manage"):
                await self._build()
        if not self._leaves:
            return Recalled()
        nodes = [*self._leaves, *self._tree.summaries]
        similarity = self._similarity(unit_rows(await self._embedder.embed([query]))[0])
        best: list[int] = []
        left = self._budget_tokens
        for place in np.lexsort((-np.arange(len(nodes)), -similarity))[: self._k].tolist():
            left -= tokens.count(nodes[place].item.text)
            if left < 0:
                break
            best.append(place)
        told = sorted(best, key=lambda place: (nodes[place].first, -nodes[place].layer, place))
        return Recalled(
            tuple(nodes[place].item for place in told), ranked=tuple(nodes[place].item.turn_ids for place in best)
        )

    def state(self) -> Mapping[str, float]:
        """What a build costs, and what it has left behind."""
        summaries = self._tree.summaries
        layers = max((node.layer for node in summaries), default=0)
        return {
            "leaves": len(self._leaves), "summaries": len(summaries), "layers": layers, "links": self._links,
            "builds": self._builds, "unbuilt": self._unbuilt,
        }  # fmt: skip

    def footprint(self) -> Footprint:
        """The nodes, their links at four bytes each, and their float32 vectors."""
        nodes = (node.item.text for node in (*self._leaves, *self._tree.summaries))
        return Footprint.of_text(nodes, self._leaf_index.bytes + self._tree.vectors.nbytes + 4 * self._links)

    async def close(self) -> None:
        """Forgets everything."""
        self._leaves.clear()

    @property
    def _links(self) -> int:
        return sum(node.children for node in self._tree.summaries)

    async def _build(self) -> None:
        """Builds the tree from the leaves, a layer at a time. An upstream's failure leaves the old tree standing."""
        layer, vectors = self._leaves, self._leaf_index.vectors
        index = Nearest(self._embedder)
        summaries: list[Node] = []
        for height in range(1, LAYERS + 1):
            if len(layer) <= FEW:
                break
            lengths = tokens.count_each([node.item.text for node in layer])
            groups = await raptor_clusters.grouped(vectors, lengths, self._cluster_tokens)
            members = [[layer[place] for place in group] for group in groups]
            told = await together(map(self._summary, members))
            # Where there is no summary nothing is missing: what it would be of stands in the tree itself.
            layer = [_above(text, nodes, height) for text, nodes in zip(told, members, strict=True) if text]
            await index.add([node.item.text for node in layer])
            vectors = index.vectors[len(summaries) :]
            summaries.extend(layer)
        tree = Tree(tuple(summaries), index.vectors)
        self._tree = tree if self._dedup is None else tree.without_duplicates(self._dedup)
        self._builds += 1
        self._unbuilt = 0

    async def _summary(self, nodes: Sequence[Node]) -> str | None:
        return await self._asker.text(self._prompt, *(node.item.text for node in nodes))

    def _similarity(self, query: Vectors) -> NDArray[np.float32]:
        """Of the leaves, then of the summaries, which fade."""
        leaves, summaries = _cosines(self._leaf_index.vectors, query), _cosines(self._tree.vectors, query)
        if self._half_life is not None:
            age = self._turns - 1 - np.array([node.last for node in self._tree.summaries], np.float32)
            summaries = summaries - np.abs(summaries) * (1 - 0.5 ** (age / self._half_life))
        return np.concatenate([leaves, summaries])


@dataclass(frozen=True, slots=True)
class Tree:
    """Everything above the leaves: the summaries, lowest layer first, and their vectors of length 1."""

    summaries: tuple[Node, ...]
    vectors: Vectors

    def without_duplicates(self, alike: float) -> "Tree":
        """Without the summaries of the top layer that a newer one, of a cosine of at least ``alike``, stands for."""
        top = max((node.layer for node in self.summaries), default=0)
        newest_first = sorted(range(len(self.summaries)), key=lambda place: (-self.summaries[place].last, -place))
        kept: list[int] = []
        for place in newest_first:
            if self.summaries[place].layer == top:
                rivals = [other for other in kept if self.summaries[other].layer == top]
                if rivals and float(np.max(self.vectors[rivals] @ self.vectors[place])) >= alike:
                    continue
            kept.append(place)
        kept.sort()
        return Tree(tuple(self.summaries[place] for place in kept), self.vectors[kept])


def _parts(turn: Turn, most: int) -> list[str]:
    """The turn as a line of the prompt, or several, each with its date and speaker, of about ``most`` tokens."""
    line = turn.line()
    if tokens.count(line) <= most:
        return [line]
    room = max(FEWEST_TOKENS, most - tokens.count(replace(turn, text="").line()))
    return [replace(turn, text=part.text).line() for part in cut(turn.text, room)] or [line]


def _above(summary: str, nodes: Sequence[Node], layer: int) -> Node:
    turn_ids = tuple(dict.fromkeys(turn_id for node in nodes for turn_id in node.item.turn_ids))
    item = Item(" ".join(summary.split()), turn_ids)
    return Node(item, layer, min(node.first for node in nodes), max(node.last for node in nodes), len(nodes))


def _cosines(vectors: Vectors, query: Vectors) -> NDArray[np.float32]:
    # No text could be embedded, so that none is nearer than another; or there is no text.
    return vectors @ query if vectors.shape[1] else np.zeros(len(vectors), np.float32)
