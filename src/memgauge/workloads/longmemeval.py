"""LongMemEval: 500 questions, each with chat sessions of its own in which the answer hides.

S has some fifty sessions per question, M some five hundred, the oracle file only those with the answer. One
record is one conversation with one question. The source's session ids tell which session holds the answer, so
they are replaced: turn ``s12/t3`` is the third of the twelfth session, and what stands before the slash is the
session at which retrieval can be scored too. Dates differ between the three files: never compare across them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal

import msgspec

from memgauge.conversation import ABSTENTION, Conversation, Question, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import fetch, records
from memgauge.workloads.base import Card, DataFile, Workload
from memgauge.workloads.mending import Gold, golds, stripped, unlike

Variant = Literal["s", "m", "oracle"]
Release = Literal["cleaned", "original"]
QuestionType = Literal[
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
]

_REVISION = "98d7416c24c778c2fee6e6f3006e7a073259d48f"
_SITE = "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned"


def _file(name: str, sha256: str, size: int, optional: bool) -> DataFile:
    return DataFile(name, f"{_SITE}/resolve/{_REVISION}/{name}", sha256, size, optional)


_FILES: Mapping[Variant, DataFile] = {
    "s": _file(
        "longmemeval_s_cleaned.json",
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        277_383_467,
        optional=False,
    ),
    "m": _file(
        "longmemeval_m_cleaned.json",
        "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
        2_737_100_077,
        optional=True,
    ),
    "oracle": _file(
        "longmemeval_oracle.json",
        "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
        15_388_478,
        optional=True,
    ),
}
# Sessions of a record, by which a file is told apart where its name says nothing: the oracle's have 1 to 6, S has
# about 50, M about 500.
_MOST_SESSIONS: tuple[tuple[Variant, int], ...] = (("oracle", 15), ("s", 150))

_EXPECTED = "expected LongMemEval's records with question_id, question_type, question, answer and haystack_sessions"
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \(\w{3}\) (\d{2}):(\d{2})")
_KEPT = 4  # conversations held at a time: one of M is some six megabytes of text


class _Turn(msgspec.Struct):
    role: str
    content: str
    has_answer: bool | None = None  # only turns of sessions with the answer say it


class _Head(msgspec.Struct):
    """What is read of every record when a file is opened."""

    question_id: str
    question_type: QuestionType


class _Record(_Head):
    question: str
    answer: Gold
    haystack_dates: list[str | None]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    question_date: str | None = None
    answer_session_ids: list[str] = []
    session_ids_inferred: bool = False  # set in a file put together from third-party logs


_HEAD = msgspec.json.Decoder(_Head)
_RECORD = msgspec.json.Decoder(_Record)


@dataclass(frozen=True, slots=True)
class Haystack:
    """A record as it is played, and the key to its sessions.

    ``sources`` gives the source's id of each session label (``s12``); ``answer_sessions`` are the labels of those
    that the source names as holding the answer, also where it marks no turn of them.
    """

    conversation: Conversation
    sources: Mapping[str, str]
    answer_sessions: tuple[str, ...]


class LongMemEval(Workload):
    """The records of one file.

    ``variant`` says which one, and is checked where ``path`` brings a file of the user's own. ``release`` is
    ``cleaned`` (2025) or ``original`` (2024, of which no pinned copy is known, so it is taken as stated).
    ``types`` keeps only questions of those types. A question's category is its type, and ``unanswerable`` marks
    the 30 that ask for what was never said: together they tell which of the five rubrics judges it.
    """

    card: ClassVar[Card] = Card(
        name="longmemeval",
        title="LongMemEval",
        summary="500 questions of six types, each with its own chat sessions: about 115k tokens in S, 1.5M in M",
        source=_SITE,
        revision=_REVISION,
        licence="MIT",
        citation="Wu et al. 2025, LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory, "
        "arXiv:2410.10813",
        protocols=("recall", "serve"),
        files=tuple(_FILES.values()),
    )

    def __init__(
        self,
        path: str | None = None,
        variant: Variant | None = None,
        release: Release = "cleaned",
        types: Sequence[QuestionType] | None = None,
    ) -> None:
        self._records = _opened(path, variant or "s")
        self._release_flaw = _release_flaw(self._records, release)
        if path and variant:
            _check_variant(self._records, variant)
        self._of_item: dict[str, int] = {}
        self._renamed: set[str] = set()
        taken: Counter[str] = Counter()
        for index in range(len(self._records)):
            head = self._records.decoded(index, _HEAD)
            item = unlike(head.question_id.strip(), taken, "", Counter())
            if types is None or head.question_type in types:
                self._of_item[item] = index
                if item != head.question_id.strip():
                    self._renamed.add(item)
        if not self._of_item:
            raise UserError(f"workload 'longmemeval': no question of the types {', '.join(types or ())} in the file")
        self._kept = lru_cache(maxsize=_KEPT)(self._made)

    def items(self) -> Sequence[str]:
        return tuple(self._of_item)

    def conversation(self, item: str) -> Conversation:
        return self.haystack(item).conversation

    def haystack(self, item: str) -> Haystack:
        """The record called ``item`` with the key to its sessions, for scoring apart from any memory."""
        return self._kept(item)

    def _made(self, item: str) -> Haystack:
        if item not in self._of_item:
            raise UnknownNameError("LongMemEval question", item, self._of_item)
        anomalies: Counter[str] = Counter()
        if self._release_flaw:
            anomalies[self._release_flaw] += 1
        if item in self._renamed:
            anomalies["question id used twice, renamed"] += 1
        index = self._of_item[item]
        record = self._records.decoded(index, _RECORD)
        counts = {len(record.haystack_dates), len(record.haystack_session_ids), len(record.haystack_sessions)}
        if len(counts) > 1:
            raise self._records.fault(index, "as many haystack_dates and haystack_session_ids as haystack_sessions")
        return _read(item, record, anomalies)


def _opened(path: str | None, variant: Variant) -> records.Records:
    if path:
        return records.opened(Path(path), _EXPECTED)
    file = _FILES[variant]
    absent = f"not there yet; run: {fetch.to_get(LongMemEval.card, file)} (or set the option path)"
    return records.opened(fetch.location(LongMemEval.card, file), _EXPECTED, absent)


def _release_flaw(found: records.Records, release: Release) -> str | None:
    """What is wrong with the stated release, as far as the file tells."""
    pinned = found.sha256() in {file.sha256 for file in _FILES.values()}
    if release == "original":
        if pinned:
            raise UserError(f"{found.path}: this is the cleaned release; expected the original one")
        return "release as stated, not verified"
    return None if pinned else "other release"


def _check_variant(found: records.Records, variant: Variant) -> None:
    sessions = len(found.decoded(0, _RECORD).haystack_sessions)
    looks_like = next((name for name, most in _MOST_SESSIONS if sessions <= most), "m")
    if looks_like != variant:
        raise UserError(
            f"{found.path}: expected variant {variant!r}, but its first record has {sessions} sessions, "
            f"as {looks_like!r} has"
        )


def _read(item: str, record: _Record, anomalies: Counter[str]) -> Haystack:
    anomalies["record put together from logs, session ids inferred"] += record.session_ids_inferred
    asked = _time(record.question_date)
    anomalies["question without a readable date"] += asked is None
    turns: list[Turn] = []
    evidence: list[str] = []
    sources: dict[str, str] = {}
    answer_sessions: list[str] = []
    for number, index in enumerate(_in_order(record.haystack_dates, anomalies), 1):
        session, source = f"s{number}", record.haystack_session_ids[index]
        time = _time(record.haystack_dates[index])
        said, marked = _said(session, time, record.haystack_sessions[index], anomalies)
        turns += said
        evidence += marked
        sources[session] = source
        expected = source in record.answer_session_ids
        if expected:
            answer_sessions.append(session)
        anomalies["answer session without a marked turn"] += expected and not marked
        anomalies["marked turn outside the answer sessions"] += len(marked) if not expected else 0
        late = bool(marked and time and asked and time > asked)
        anomalies["evidence dated after the question, kept"] += late
    anomalies["answer session that is not there"] += len(set(record.answer_session_ids) - set(sources.values()))
    anomalies["record without turns, kept"] += not turns
    question = _question(item, record, tuple(evidence), asked, anomalies)
    conversation = Conversation(item, tuple(turns), (question,), anomalies=dict(+anomalies))
    return Haystack(conversation, sources, tuple(answer_sessions))


def _in_order(dates: Sequence[str | None], anomalies: Counter[str]) -> list[int]:
    """The indices of the sessions in the order they took place: the oracle file has them in no order."""
    times = [_time(date) for date in dates]
    anomalies["session without a readable date"] += times.count(None)
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return list(range(len(times)))
    anomalies["session dated before the one above, moved"] += sum(b < a for a, b in pairwise(known))
    return sorted(range(len(known)), key=known.__getitem__)


def _said(
    session: str, time: datetime | None, raw: Sequence[_Turn], anomalies: Counter[str]
) -> tuple[list[Turn], list[str]]:
    """The turns of a session, and the ids of those that hold the answer."""
    turns: list[Turn] = []
    marked: list[str] = []
    for number, turn in enumerate(raw, 1):
        turn_id, text = f"{session}/t{number}", stripped(turn.content, anomalies)
        if not text:
            anomalies["turn without text, left out"] += 1
            anomalies["marked turn without text, left out"] += bool(turn.has_answer)
            continue
        turns.append(Turn(turn_id, turn.role.strip(), text, time, session))
        if turn.has_answer:
            marked.append(turn_id)
    roles = [turn.role for turn in raw]
    anomalies["session that the assistant opens"] += roles[:1] == ["assistant"]
    anomalies["session of an odd number of turns"] += len(raw) % 2
    anomalies["same speaker twice running"] += sum(a == b for a, b in pairwise(roles))
    return turns, marked


def _question(
    item: str, record: _Record, evidence: tuple[str, ...], asked: datetime | None, anomalies: Counter[str]
) -> Question:
    unanswerable = record.question_id.strip().endswith("_abs")
    answers = golds(record.answer, anomalies)
    anomalies["question without an answer"] += not answers
    anomalies["question without evidence"] += not evidence
    return Question(
        id=item,
        text=stripped(record.question, anomalies),
        # What the source gives for an unanswerable question says why: a judge wants to read it.
        answers=(ABSTENTION, *answers) if unanswerable else answers,
        category=record.question_type,
        evidence=evidence,
        time=asked,
        unanswerable=unanswerable,
    )


def _time(raw: str | None) -> datetime | None:
    """``2023/05/30 (Tue) 23:40`` as a time; ``None`` where it is no such text."""
    match = _DATE.fullmatch(raw.strip()) if raw else None
    try:
        return datetime(*map(int, match.groups())) if match else None  # type: ignore[arg-type]
    except ValueError:
        return None
