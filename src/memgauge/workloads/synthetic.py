"""The cost grid: dialogues of N turns at L ± 15 % tokens per turn, a fixed number of them per cell (paper 1, B)."""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import msgspec

from memgauge import __version__, places, tokens
from memgauge.backbones.base import Backbone
from memgauge.conversation import Cell, Conversation, Question, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import grammar, model_writer
from memgauge.workloads.atomic import replacing
from memgauge.workloads.base import Card, Outline, Workload
from memgauge.workloads.lengths import SHORTEST, bounds

PAPER_CELLS = ((15, 50), (15, 200), (100, 100), (400, 50), (400, 200))

_QUESTIONS = 10  # per dialogue, at most one per turn
_AT_ONCE = 4  # dialogues that a model writes side by side


class _Item(NamedTuple):
    turns: int
    tokens: int
    seed: int

    @property
    def id(self) -> str:
        return f"N{self.turns}-L{self.tokens}-s{self.seed}"


class _Cached(msgspec.Struct, frozen=True):
    """A dialogue on disk, with the key under which it was written."""

    model: str
    turns: int
    tokens: int
    seed: int
    texts: list[str]


class Synthetic(Workload):
    """``seeds`` dialogues for each of ``cells`` (N turns, L tokens per turn).

    An integer ``seeds`` stands for that many, from 0. The ``grammar`` writes offline, with ten questions per
    dialogue; a ``model`` writes without questions, and each of its dialogues is kept in ``cache_dir``, so that
    it is the same for every memory and every run. Turns carry no time.
    """

    card: ClassVar[Card] = Card(
        name="synthetic",
        title="Synthetic cost grid",
        summary="two-speaker dialogues of N turns at L ± 15 % tokens, by grammar or by a model",
        source="https://arxiv.org/abs/2608.11879",
        revision=__version__,
        licence="Apache-2.0",
        citation="Total Recall at What Cost?, arXiv:2608.11879, appendix B (the grid; the text is our own)",
        protocols=("serve", "recall"),
    )

    def __init__(
        self,
        cells: Sequence[Sequence[int]] = PAPER_CELLS,
        seeds: int | Sequence[int] = 8,
        writer: Literal["grammar", "model"] = "grammar",
        cache_dir: str | None = None,
    ) -> None:
        numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
        if not numbers or len(set(numbers)) < len(numbers):
            raise _fault(f"seeds must be a number from 1, or a list of different numbers, not {seeds!r}")
        if not cells:
            raise _fault("cells is empty; expected a list of [turns, tokens per turn]")
        self._of_id: dict[str, _Item] = {}
        for cell in cells:
            turns, length = _checked(cell)
            self._of_id |= {item.id: item for seed in numbers if (item := _Item(turns, length, seed))}
        self._writer = writer
        self._cache = Path(cache_dir) if cache_dir else places.cache_dir() / "synthetic"
        self._made: dict[str, Conversation] = {}

    def items(self) -> Sequence[str]:
        return tuple(self._of_id)

    def conversation(self, item: str) -> Conversation:
        if item not in self._of_id:
            raise UnknownNameError("synthetic dialogue", item, self._of_id)
        if item not in self._made:
            if self._writer == "model":
                raise _fault(f"{item} has not been written yet; prepare() writes it")
            self._made[item] = _by_grammar(self._of_id[item])
        return self._made[item]

    def outline(self, item: str) -> Outline:
        if self._writer == "grammar" or item in self._made:
            return super().outline(item)
        turns, length, _ = self._of_id[item]
        return Outline(turns, length, questions=0, cell=Cell(turns, length))

    async def prepare(self, writer: Backbone | None) -> None:
        if self._writer == "grammar":
            return
        if writer is None:
            raise _fault('writer = "model" needs a backbone that writes the dialogues')
        places_left = asyncio.Semaphore(_AT_ONCE)

        async def make(item: _Item) -> None:
            async with places_left:
                texts = self._kept(writer.model, item)
                if texts is None:
                    texts = await model_writer.written(writer, *item)
                    self._keep(writer.model, item, texts)
                self._made[item.id] = _by_model(item, texts)

        try:
            async with asyncio.TaskGroup() as group:
                for item in self._of_id.values():
                    group.create_task(make(item))
        except ExceptionGroup as faults:
            raise faults.exceptions[0] from None

    def _kept(self, model: str, item: _Item) -> list[str] | None:
        """The texts on disk; ``None`` where there are none, or not those of this dialogue."""
        try:
            kept = msgspec.json.decode(self._path(model, item).read_bytes(), type=_Cached)
        except (OSError, msgspec.DecodeError, RecursionError):
            return None
        low, high = bounds(item.tokens)
        sound = (
            (kept.model, kept.turns, kept.tokens, kept.seed, len(kept.texts)) == (model, *item, item.turns)
            and all(low <= tokens.count(text) <= high for text in kept.texts)
        )  # fmt: skip
        return kept.texts if sound else None

    def _keep(self, model: str, item: _Item, texts: list[str]) -> None:
        path = self._path(model, item)
        try:
            with replacing(path) as file:
                file.write(msgspec.json.encode(_Cached(model, *item, texts)))
        except OSError as fault:
            raise UserError(f"{path}: cannot be written: {fault.strerror or fault}") from None

    def _path(self, model: str, item: _Item) -> Path:
        # Two models whose names differ in signs alone must not share a folder.
        name = re.sub(r"[^A-Za-z0-9]+", "-", model).strip("-")[:60]
        return self._cache / f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}" / f"{item.id}.json"


def _by_grammar(item: _Item) -> Conversation:
    said = grammar.dialogue(*item)
    turns = tuple(Turn(f"t{number}", turn.speaker, turn.text) for number, turn in enumerate(said, 1))
    draw = grammar.Draw(f"questions {item.id}")
    asked = min(_QUESTIONS, len(said))
    questions = []
    for number in range(asked):
        # One turn out of each of as many equal stretches, so that the evidence is of every age.
        first, beyond = number * len(said) // asked, (number + 1) * len(said) // asked
        position = first + draw.below(beyond - first)
        fact = draw.pick(said[position].facts)
        questions.append(
            Question(
                id=f"{item.id}/q{number}",
                text=fact.question,
                answers=(fact.answer,),
                category="temporal" if fact.temporal else "single-hop",
                evidence=(turns[position].id,),
            )
        )
    return Conversation(item.id, turns, tuple(questions), Cell(item.turns, item.tokens))


def _by_model(item: _Item, texts: Sequence[str]) -> Conversation:
    speakers = model_writer.speakers(*item)
    turns = (Turn(f"t{index + 1}", speakers[index % 2], text) for index, text in enumerate(texts))
    return Conversation(item.id, tuple(turns), cell=Cell(item.turns, item.tokens))


def _checked(cell: Sequence[int]) -> tuple[int, int]:
    if len(cell) != 2 or cell[0] < 1 or cell[1] < SHORTEST:
        raise _fault(f"cell {list(cell)} must be [turns from 1, tokens per turn from {SHORTEST}]")
    return cell[0], cell[1]


def _fault(what: str) -> UserError:
    return UserError(f"workload 'synthetic': {what}")
