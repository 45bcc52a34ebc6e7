"""MemoryAgentBench: one long context is taken in chunk by chunk, then many questions are asked about it.

A chunk is a turn (``c0001``, ``c0002``, …) said by the user. The category of a question is its source
(``factconsolidation_sh_6k``), which tells by what rule it is scored. Evidence is known where it can be found
again: for LongMemEval's questions by the turns that the source marks, for single-hop facts by the line that says
the gold. Of multi-hop questions only the last fact could be told, so they have none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

from memgauge.conversation import ABSTENTION, Conversation, Question, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import chunks, fetch, mab_rows, mab_tasks
from memgauge.workloads.base import Card, DataFile, Workload
from memgauge.workloads.chunks import Chunk
from memgauge.workloads.facts import Facts
from memgauge.workloads.mab_rows import Row, Rows
from memgauge.workloads.mab_tasks import Split
from memgauge.workloads.mending import Gold, golds, unlike

_REVISION = "7ea066982b140a19337e17e60d45d4076e042faf"
_SITE = "https://huggingface.co/datasets/ai-hyz/MemoryAgentBench"


def _file(title: str, sha256: str, size: int) -> DataFile:
    name = f"{title}-00000-of-00001.parquet"
    return DataFile(name, f"{_SITE}/resolve/{_REVISION}/data/{name}", sha256, size)


_FILES: Mapping[Split, DataFile] = {
    "AR": _file("Accurate_Retrieval", "56c3cd80fb6731a3e53cd1a6be3148f54df60ff2d290ee50e28f8acebf9655c1", 20_024_386),
    "TTL": _file("Test_Time_Learning", "5338753be48f925d03318eed66117286e3489025fabe050a547bd086cd7d79c0", 3_947_476),
    "LRU": _file(
        "Long_Range_Understanding", "5ab175461954db67770d4a4cb69e569b513ebb96aceb9ee79b57f67488bcd539", 49_342_452
    ),
    "CR": _file("Conflict_Resolution", "24d5c3f09ce0ce15625cb9f8a98f44f0d864ca6c94d7b4ad04eb697ca3a5ff45", 1_491_588),
}
_SIZE = re.compile(r"_(\d+)(k?)$", re.IGNORECASE)
_SINGLE_HOP = "factconsolidation_sh"


class MemoryAgentBench(Workload):
    """The contexts of the four splits: AR, TTL, LRU and CR.

    ``path`` is a file (Parquet, JSON or JSONL) or a folder of them; ``split`` keeps one split, ``sources`` only the
    sources of these names, where ``*`` stands for anything. ``chunk_tokens`` is the most o200k tokens of a chunk,
    ``max_questions`` the most questions per context, from the first. The sizes of one source come in rising order,
    so ``factconsolidation_*`` is the sweep over content length.
    """

    card: ClassVar[Card] = Card(
        name="memoryagentbench",
        title="MemoryAgentBench",
        summary="long contexts taken in once and asked about many times: retrieval, learning from examples, "
        "long-range understanding, conflicting facts",
        source=_SITE,
        revision=_REVISION,
        licence="MIT",
        citation="Hu et al. 2025, Evaluating Memory in LLM Agents via Incremental Multi-Turn Interactions, "
        "arXiv:2507.05257",
        protocols=("recall", "serve"),
        files=tuple(_FILES.values()),
    )

    def __init__(
        self,
        path: str | None = None,
        split: Split | None = None,
        sources: Sequence[str] | None = None,
        chunk_tokens: int = 4096,
        max_questions: int | None = None,
    ) -> None:
        if chunk_tokens < chunks.FEWEST_TOKENS:
            raise _fault(f"chunk_tokens is {chunk_tokens}; expected at least {chunks.FEWEST_TOKENS}")
        if max_questions is not None and max_questions < 1:
            raise _fault(f"max_questions is {max_questions}; expected at least 1")
        for source in sources or ():
            mab_tasks.check_scored(source)
        self._chunk_tokens, self._max_questions = chunk_tokens, max_questions
        files = mab_rows.opened(Path(path)) if path else list(_fetched(split))
        self._of_item = _listed(files, split, sources)
        self._made: dict[str, Conversation] = {}

    def items(self) -> Sequence[str]:
        return tuple(self._of_item)

    def conversation(self, item: str) -> Conversation:
        if item not in self._of_item:
            raise UnknownNameError("MemoryAgentBench context", item, self._of_item)
        if item not in self._made:
            rows, index = self._of_item[item]
            self._made[item] = _conversation(item, rows.row(index), self._chunk_tokens, self._max_questions)
        return self._made[item]


def _fetched(split: Split | None) -> Iterator[Rows]:
    for name, file in _FILES.items():
        if split in (None, name):
            absent = f"not there yet; run: {fetch.to_get(MemoryAgentBench.card, file)} (or set the option path)"
            yield from mab_rows.opened(fetch.location(MemoryAgentBench.card, file), absent)


def _listed(files: Sequence[Rows], split: Split | None, wanted: Sequence[str] | None) -> dict[str, tuple[Rows, int]]:
    """Where each context is, by item id: its source, numbered where a source has several."""
    there = [(source, rows, index) for rows in files for index, source in enumerate(rows.sources)]
    known = [found for found in there if (task := mab_tasks.of(found[0])) and split in (None, task.split)]
    names = sorted({source for source, _, _ in there})
    if not known:
        raise _fault(f"no source {f'of split {split}' if split else 'that is known'} among: {', '.join(names)[:300]}")
    for name in wanted or ():
        if not any(_same(source, name) for source, _, _ in known):
            raise UnknownNameError("MemoryAgentBench source", name, {source for source, _, _ in known})
    chosen = [found for found in known if wanted is None or any(_same(found[0], name) for name in wanted)]
    stems = list(dict.fromkeys(_SIZE.sub("", source) for source, _, _ in chosen))
    chosen.sort(key=lambda found: (stems.index(_SIZE.sub("", found[0])), _size(found[0])))
    times = Counter(source for source, _, _ in chosen)
    taken: Counter[str] = Counter()
    listed = {}
    for source, rows, index in chosen:
        taken[source] += 1
        listed[f"{source}#{taken[source]}" if times[source] > 1 else source] = (rows, index)
    return listed


def _same(source: str, name: str) -> bool:
    # The published name "longmemeval_s*" has a star of its own, which stands for itself as well.
    return source == name or fnmatchcase(source, name)


def _size(source: str) -> float:
    match = _SIZE.search(source)
    return int(match[1]) * (1000 if match[2] else 1) if match else float("inf")


def _conversation(item: str, row: Row, chunk_tokens: int, max_questions: int | None) -> Conversation:
    if len(row.questions) != len(row.answers):
        raise _fault(f"{item}: {len(row.questions)} questions and {len(row.answers)} answers; expected as many")
    cut = chunks.cut(row.context, chunk_tokens)
    if not cut:
        raise _fault(f"{item}: the context is empty")
    anomalies: Counter[str] = Counter()
    names = [f"c{number:04}" for number in range(1, len(cut) + 1)]
    turns = tuple(Turn(name, "User", chunk.text) for name, chunk in zip(names, cut, strict=True))
    questions = tuple(_questions(item, row, dict(zip(cut, names, strict=True)), max_questions, anomalies))
    return Conversation(item, turns, questions, anomalies=dict(+anomalies))


def _questions(
    item: str, row: Row, named: Mapping[Chunk, str], most: int | None, anomalies: Counter[str]
) -> Iterator[Question]:
    source = row.metadata.source
    task = mab_tasks.of(source)
    assert task is not None  # only known sources are listed
    facts = Facts(row.context) if source.startswith(_SINGLE_HOP) else None
    ids = row.metadata.qa_pair_ids or []
    taken: Counter[str] = Counter()
    anomalies["question asked twice, kept"] += len(row.questions) - len(set(row.questions))
    for index, raw in enumerate(row.questions[:most]):
        if not raw.strip():
            anomalies["question without text, left out"] += 1
            continue
        own_id = (ids[index] or "").strip() if index < len(ids) else ""
        anomalies["question without an id, named by its place"] += not own_id
        answers = golds(_flat(row.answers[index]), anomalies)
        anomalies["question without an answer"] += not answers
        if facts is not None:
            fact = facts.answering(raw, answers)
            spans = [(fact.start, fact.end)] if fact else []
            anomalies["fact that says the gold, not found"] += fact is None
        else:
            spans = _marked(row, index, anomalies)
        asked = task.ask(raw)
        unanswerable = task.prefix == "longmemeval" and own_id.endswith("_abs")
        held = {chunk: None for span in spans for chunk in chunks.holding(tuple(named), *span)}
        yield Question(
            id=unlike(own_id or f"{item}/q{index}", taken, "question id used twice, renamed", anomalies),
            text=asked.text,
            answers=(ABSTENTION, *answers) if unanswerable else answers,
            category=source,
            evidence=tuple(named[chunk] for chunk in named if chunk in held),
            time=asked.time,
            unanswerable=unanswerable,
        )


def _flat(answers: Gold) -> Gold:
    """A list of one gold as that gold: this source wraps every answer in a list."""
    return answers[0] if isinstance(answers, list) and len(answers) == 1 else answers


def _marked(row: Row, index: int, anomalies: Counter[str]) -> list[tuple[int, int]]:
    """Where in the context the turns stand that the source marks as holding the answer of question ``index``."""
    haystacks = row.metadata.haystack_sessions or []
    sessions = haystacks[index] if index < len(haystacks) else None
    spans = []
    for said in (said for session in sessions or () for said in session if said.has_answer):
        if found := _place(said.content or "", row.context):
            spans.append(found)
        else:
            anomalies["marked turn that is not in the context"] += 1
    return spans


def _place(content: str, context: str) -> tuple[int, int] | None:
    # The published contexts are Python's print of a list, in which a text is escaped.
    for text in (repr(content)[1:-1], content):
        if content.strip() and (start := context.find(text)) >= 0:
            return start, start + len(text)
    return None


def _fault(what: str) -> UserError:
    return UserError(f"workload 'memoryagentbench': {what}")
