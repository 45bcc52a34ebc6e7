"""The user's own conversations: turns or chat messages in JSON or JSONL, with or without questions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from memgauge.conversation import ABSTENTION, Conversation, Question, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import entries
from memgauge.workloads.base import Card, Workload
from memgauge.workloads.entries import Entry

_MAX_BYTES = 1 << 28  # a transcript is held in memory; a quarter of a gigabyte is some 50 million tokens
_TURN_LISTS = ("turns", "messages", "conversations")
_EXPECTED = (
    'expected turns {"speaker", "text"}, questions {"question", "answer"}, or conversations '
    '{"messages": [{"role", "content"}]} or {"conversations": [{"from", "value"}]}'
)


class Transcript(Workload):
    """The conversations of a file.

    Known forms, told apart by their keys:

    - turns ``{"speaker", "text"}`` with optional ``id``, ``time`` (ISO 8601) and ``session``, and among them
      questions ``{"question", "answer" or "answers"}`` with optional ``evidence``, ``category``, ``id``,
      ``unanswerable`` and ``trap``: one conversation;
    - OpenAI's ``{"messages": [{"role", "content"}]}``, ShareGPT's ``{"conversations": [{"from", "value"}]}`` or
      ``{"turns": […]}``, each with optional ``id`` and ``questions``: one conversation per object.

    As one JSON document, a JSON list, or JSONL. Turns without an id are ``t1``, ``t2``, …
    """

    card: ClassVar[Card] = Card(
        name="transcript",
        title="Your own transcript",
        summary="turns as JSONL, OpenAI messages or ShareGPT, with or without questions",
        source="a file of yours",
        revision="as given",
        licence="yours",
        citation="none",
        protocols=("serve", "recall"),
    )

    def __init__(self, path: str) -> None:
        self._conversations = conversations(_read(Path(path)), path, Path(path).stem)

    def items(self) -> Sequence[str]:
        return tuple(self._conversations)

    def conversation(self, item: str) -> Conversation:
        if item not in self._conversations:
            raise UnknownNameError("conversation", item, self._conversations)
        return self._conversations[item]


def conversations(content: bytes, origin: str, name: str) -> dict[str, Conversation]:
    """The conversations in ``content`` by id; one without an id of its own is called after ``name``."""
    found = entries.of(content, origin)
    if not any(map(_turn_list, found)):
        said = [entry for entry in found if "question" not in entry.value]
        asked = [entry for entry in found if "question" in entry.value]
        return {name: _conversation(name, said, asked, origin)}
    result: dict[str, Conversation] = {}
    for number, entry in enumerate(found, 1):
        if (turn_list := _turn_list(entry)) is None:
            entry.fail("a lone turn or question beside whole conversations; expected one kind only")
        conversation_id = _label(entry, "id") or (name if len(found) == 1 else f"{name}-{number}")
        if conversation_id in result:
            entry.fail(f"conversation id {conversation_id!r} occurs twice; expected an id of its own")
        said, asked = entry.listed(turn_list), entry.listed("questions")
        result[conversation_id] = _conversation(conversation_id, said, asked, entry.where)
    return result


def _turn_list(entry: Entry) -> str | None:
    """The key under which a whole conversation holds its turns; ``None`` for a lone turn or question."""
    return next((key for key in _TURN_LISTS if key in entry.value), None)


def _read(path: Path) -> bytes:
    try:
        if not path.exists():
            raise UserError(f"{path}: no such file; expected a transcript in JSON or JSONL")
        if not path.is_file():
            raise UserError(f"{path}: not a file; expected a transcript in JSON or JSONL")
        if (size := path.stat().st_size) > _MAX_BYTES:
            raise UserError(f"{path}: {size} bytes; a transcript may have {_MAX_BYTES}, so split it")
        return path.read_bytes()
    except OSError as fault:
        raise UserError(f"{path}: {fault.strerror or fault}") from None


def _conversation(conversation_id: str, said: Iterable[Entry], asked: Iterable[Entry], where: str) -> Conversation:
    anomalies: Counter[str] = Counter()
    turns: dict[str, Turn] = {}
    latest: datetime | None = None
    for entry in said:
        turn = _turn(entry, f"t{len(turns) + 1}", anomalies)
        if turn is None:
            continue
        if turn.id in turns:
            entry.fail(f"turn id {turn.id!r} occurs twice; expected ids of their own")
        if turn.time and latest:
            if (turn.time.tzinfo is None) != (latest.tzinfo is None):
                entry.fail("a time with a zone beside times without; expected one kind only")
            if turn.time < latest:
                entry.fail(f"time {turn.time.isoformat()} is before the turn above; expected turns in order")
        latest = turn.time or latest
        turns[turn.id] = turn
    if not turns:
        raise UserError(f"{where}: no turns; {_EXPECTED}")
    questions: dict[str, Question] = {}
    for index, entry in enumerate(asked):
        question = _question(entry, f"{conversation_id}/q{index}", turns)
        if question.id in questions:
            entry.fail(f"question id {question.id!r} occurs twice; expected ids of their own")
        questions[question.id] = question
    return Conversation(conversation_id, tuple(turns.values()), tuple(questions.values()), anomalies=dict(anomalies))


def _turn(entry: Entry, default_id: str, anomalies: Counter[str]) -> Turn | None:
    """The turn, or ``None`` for a message that nobody said: a system prompt, or a bare tool call."""
    value = entry.value
    if "role" in value or "content" in value:
        speaker, text = _words(entry, "role"), _content(entry, anomalies)
    elif "from" in value or "value" in value:
        speaker, text = _words(entry, "from"), _words(entry, "value")
    elif "speaker" in value or "text" in value:
        speaker, text = _words(entry, "speaker"), _words(entry, "text")
    else:
        entry.fail(_EXPECTED)
    if speaker in ("system", "developer"):
        anomalies["system message, left out"] += 1
        return None
    if text is None:
        anomalies["message without text, left out"] += 1
        return None
    return Turn(_label(entry, "id") or default_id, speaker, text, _time(entry), _label(entry, "session"))


def _content(entry: Entry, anomalies: Counter[str]) -> str | None:
    """The text of an OpenAI message, whose content may be a list of parts, or absent beside a tool call."""
    content = entry.value.get("content")
    if not content and entry.value.get("tool_calls"):
        return None
    if not isinstance(content, list):
        return _words(entry, "content")
    texts = []
    for part in entry.listed("content"):
        if isinstance(text := part.value.get("text"), str):
            texts.append(text)
        else:
            anomalies["part of a message without text, left out"] += 1
    return "\n".join(texts).strip() or None


def _question(entry: Entry, default_id: str, turns: dict[str, Turn]) -> Question:
    unanswerable = entry.value.get("unanswerable", False)
    if not isinstance(unanswerable, bool):
        entry.fail(f"unanswerable: expected true or false, got {entries.kind(unanswerable)}")
    answers = _each(entry, "answer") + _each(entry, "answers")
    if unanswerable:
        answers = (ABSTENTION, *answers)
    if not answers:
        entry.fail('expected "answer" or "answers" beside "question"')
    evidence = tuple(dict.fromkeys(_each(entry, "evidence")))
    for turn_id in evidence:
        if turn_id not in turns:
            entry.fail(f"evidence names no turn: {turn_id!r}; expected turn ids such as {next(iter(turns))!r}")
    return Question(
        id=_label(entry, "id") or default_id,
        text=_words(entry, "question"),
        answers=answers,
        category=_label(entry, "category"),
        evidence=evidence,
        time=_time(entry),
        unanswerable=unanswerable,
        trap=_label(entry, "trap"),
    )


def _words(entry: Entry, key: str) -> str:
    """A text that must be there and must not be blank."""
    value = entry.value.get(key)
    if not isinstance(value, str):
        got = entries.kind(value) if key in entry.value else "nothing"
        entry.fail(f"{key}: expected text, got {got}")
    if not value.strip():
        entry.fail(f"{key} is empty; expected text")
    return value.strip()


def _label(entry: Entry, key: str) -> str | None:
    """A short text or number that may be missing."""
    value = entry.value.get(key)
    return None if value is None else _plain(entry, key, value)


def _each(entry: Entry, key: str) -> tuple[str, ...]:
    """One or several short texts or numbers that may be missing."""
    value = entry.value.get(key)
    if isinstance(value, list):
        return tuple(_plain(entry, f"{key}[{index}]", each) for index, each in enumerate(value))
    return () if value is None else (_plain(entry, key, value),)


def _plain(entry: Entry, key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        entry.fail(f"{key}: expected text or a number, got {entries.kind(value)}")
    if not (text := str(value).strip()):
        entry.fail(f"{key} is empty; expected text or a number")
    return text


def _time(entry: Entry) -> datetime | None:
    value = entry.value.get("time")
    if value is None:
        return None
    expected = "expected ISO 8601, such as 2025-03-04T18:30"
    if not isinstance(value, str):
        entry.fail(f"time: {expected}, got {entries.kind(value)}")
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        entry.fail(f"time {value[:40]!r}: {expected}")
