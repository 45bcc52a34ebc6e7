"""LoCoMo: ten long two-person dialogues over months, with 1,986 questions in five categories.

The source has flaws. Each is mended or left out by a rule stated where it happens, and counted by kind in
``Conversation.anomalies``. Of a dialogue only the turns and the questions are read: its summaries,
observations and events are other systems' notes, and the annotators' image search strings were never said.

Categories go by number, since papers swap the names. The official ones are 1 multi-hop, 2 temporal,
3 open-domain, 4 single-hop, 5 adversarial; nearly all figures published are over 1 to 4.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from memgauge.conversation import ABSTENTION, Conversation, Question, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import audit as audits
from memgauge.workloads import fetch
from memgauge.workloads.audit import Audit
from memgauge.workloads.base import Card, DataFile, Workload
from memgauge.workloads.mending import Gold, golds, stripped

if TYPE_CHECKING:
    from memgauge.workloads.subset import Facets

_COMMIT = "3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376"
_FILE = DataFile(
    name="locomo10.json",
    url=f"https://raw.githubusercontent.com/snap-research/locomo/{_COMMIT}/data/locomo10.json",
    sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
    bytes=2_805_274,
)

# The official names, for reading only.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
# The four dialogues of paper 1: what ``subset = 4`` computes from the pinned file.
SUBSETS = {"total-recall": ("conv-26", "conv-42", "conv-44", "conv-48")}

_UNANSWERABLE = 5
_SESSION = re.compile(r"session_(\d{1,6})")
_SESSION_DATE = re.compile(r"session_(\d{1,6})_date_time")
_LOOSE_TURN_ID = re.compile(r"D:?0*(\d+):0*(\d+)")
_EVIDENCE_BREAK = re.compile(r"[;,\s]+")
_DATE = re.compile(r"(\d{1,2}):(\d{2}) ([ap]m) on (\d{1,2}) ([A-Z][a-z]+),? (\d{4})")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class _Turn(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str
    img_url: Any = None
    blip_caption: str | None = None


class _Question(msgspec.Struct):
    question: str
    category: int
    evidence: list[str]
    answer: Gold = None
    adversarial_answer: Gold = None


class _Dialogue(msgspec.Struct):
    sample_id: str
    conversation: dict[str, Any]
    qa: list[_Question]


class LoCoMo(Workload):
    """The dialogues of ``locomo10.json``, whole, with their questions.

    ``dialogues`` keeps only those ids (``conv-26``), ``categories`` only questions of those numbers.
    ``captions`` says in a turn's text what its photo shows. ``subset`` keeps the dialogues of a named one
    (``total-recall``), or as many as it says, chosen to be nearest to the whole; ``evidence_bins`` and
    ``span_bins`` are the lowest numbers of the bins by which that is measured. ``audit`` leaves out questions
    whose gold was found wrong: the path of the audit, or true for the fetched one. Question ids count every
    question of the source, so they do not depend on the options.
    """

    card: ClassVar[Card] = Card(
        name="locomo",
        title="LoCoMo",
        summary="10 dialogues of two people over months, 5,882 turns, 1,986 questions in five categories "
        "(1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial)",
        source="https://github.com/snap-research/locomo",
        revision=_COMMIT,
        licence="CC BY-NC 4.0",
        citation="Maharana et al. 2024, Evaluating Very Long-Term Conversational Memory of LLM Agents, "
        "arXiv:2402.17753",
        protocols=("recall", "serve"),
        files=(_FILE, audits.FILE),
    )

    def __init__(
        self,
        path: str | None = None,
        dialogues: Sequence[str] | None = None,
        categories: Sequence[int] | None = None,
        captions: bool = True,
        subset: str | int | None = None,
        evidence_bins: Sequence[int] = (1, 2),
        span_bins: Sequence[int] = (1, 2),
        audit: str | bool | None = None,
    ) -> None:
        if dialogues is not None and subset is not None:
            raise UserError("workload 'locomo': dialogues and subset both choose; set one of them")
        for category in categories or ():
            if category not in CATEGORIES:
                raise UserError(f"workload 'locomo': no category {category}; known: 1, 2, 3, 4, 5")
        self._categories = None if categories is None else {str(category) for category in categories}
        self._captions = captions
        file = Path(path) if path else fetch.location(self.card, _FILE)
        self._source, self._other_release = _read(file, given=path is not None)
        found = self._source
        places = {dialogue.sample_id: place for place, dialogue in enumerate(found)}
        if subset is not None:
            dialogues = self._chosen(subset, evidence_bins, span_bins)
        for dialogue_id in dialogues or ():
            if dialogue_id not in places:
                raise UnknownNameError("LoCoMo dialogue", dialogue_id, places)
        self._audit = _audit(audit, found)
        wanted = [dialogue_id for dialogue_id in places if dialogues is None or dialogue_id in dialogues]
        self._loaded = {
            dialogue_id: self._load(found[places[dialogue_id]], places[dialogue_id]) for dialogue_id in wanted
        }

    def items(self) -> Sequence[str]:
        return tuple(self._loaded)

    def conversation(self, item: str) -> Conversation:
        if item not in self._loaded:
            raise UnknownNameError("LoCoMo dialogue", item, self._loaded)
        return self._loaded[item]

    def facets(self) -> "dict[str, tuple[Facets, ...]]":
        """What ``subset.nearest`` chooses by, of every dialogue of the file and every category."""
        return {dialogue.sample_id: _facets(dialogue) for dialogue in self._source}

    def _chosen(self, subset: str | int, evidence_bins: Sequence[int], span_bins: Sequence[int]) -> tuple[str, ...]:
        """The dialogues of ``subset``: by its name, or so many that are nearest to the whole."""
        if isinstance(subset, str):
            if subset not in SUBSETS:
                raise UnknownNameError("LoCoMo subset", subset, SUBSETS)
            return SUBSETS[subset]
        from memgauge.workloads.subset import nearest  # loads numpy

        return nearest(self.facets(), subset, evidence_bins, span_bins).items

    def _load(self, source: _Dialogue, place: int) -> Conversation:
        anomalies: Counter[str] = Counter()
        if self._other_release:
            anomalies["other release"] += 1
        turns = _turns(source, self._captions, anomalies)
        questions = _asked(source, {turn.id for turn in turns}, anomalies)
        if self._audit:
            questions = _sound(questions, source, place, self._audit, anomalies)
        if self._categories is not None:
            questions = [question for question in questions if question.category in self._categories]
        return Conversation(source.sample_id, tuple(turns), tuple(questions), anomalies=dict(+anomalies))


def _read(path: Path, given: bool) -> tuple[list[_Dialogue], bool]:
    """The dialogues of the file, and whether it is another release than the pinned one."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        remedy = "no such file" if given else "not there yet; run: memgauge data fetch locomo (or set the option path)"
        raise UserError(f"{path}: {remedy}") from None
    except OSError as fault:
        raise UserError(f"{path}: {fault.strerror or fault}") from None
    expected = "expected LoCoMo's list of dialogues with sample_id, conversation and qa"
    try:
        dialogues = msgspec.json.decode(content, type=list[_Dialogue])
    except (msgspec.DecodeError, RecursionError) as fault:
        raise UserError(f"{path}: {expected}: {fault}") from None
    repeated = [name for name, n in Counter(d.sample_id for d in dialogues).items() if n > 1]
    if repeated or not dialogues:
        raise UserError(f"{path}: {expected}: {f'{repeated[0]} occurs twice' if repeated else 'it is empty'}")
    for dialogue in dialogues:
        _type_sessions(dialogue, path)
    return dialogues, hashlib.sha256(content).hexdigest() != _FILE.sha256


def _facets(source: _Dialogue) -> "tuple[Facets, ...]":
    """By the turns that a question names, also where there is no such turn: so the paper's figures come out."""
    from memgauge.workloads.subset import Facets

    found = []
    for raw in source.qa:
        named = {turn_id for text in raw.evidence for part in _EVIDENCE_BREAK.split(text) if (turn_id := _mended(part))}
        sessions = {turn_id.partition(":")[0] for turn_id in named}
        found.append(Facets(str(raw.category), len(named), len(sessions)))
    return tuple(found)


def _audit(option: str | bool | None, found: Sequence[_Dialogue]) -> Audit | None:
    if option is None or option is False:
        return None
    if option is True:
        absent = f"not there yet; run: {fetch.to_get(LoCoMo.card, audits.FILE)} (or give the path as audit)"
        audit = audits.read(fetch.location(LoCoMo.card, audits.FILE), absent)
    else:
        audit = audits.read(Path(option))
    if not any(
        audit.of(place, index, raw.question)
        for place, dialogue in enumerate(found)
        for index, raw in enumerate(dialogue.qa)
    ):
        raise UserError(f"{audit.path}: no entry names a question of this LoCoMo file; expected its audit")
    return audit


def _sound(
    questions: Sequence[Question], source: _Dialogue, place: int, audit: Audit, anomalies: Counter[str]
) -> list[Question]:
    """The questions whose gold the audit does not call wrong."""
    kept = []
    for index, question in enumerate(questions):
        kind = audit.of(place, index, source.qa[index].question)
        if kind in audits.CORRUPTING:
            anomalies[f"gold audited as {kind}, question left out"] += 1
            continue
        if kind:
            anomalies[f"gold audited as {kind}, question kept"] += 1
        kept.append(question)
    return kept


def _type_sessions(dialogue: _Dialogue, path: Path) -> None:
    """Replaces the raw sessions of ``dialogue`` by lists of turns."""
    sessions = [key for key in dialogue.conversation if _SESSION.fullmatch(key)]
    if not any(dialogue.conversation[key] for key in sessions):
        raise UserError(f"{path}: {dialogue.sample_id}: expected session_1, session_2, … with turns")
    for key in sessions:
        try:
            dialogue.conversation[key] = msgspec.convert(dialogue.conversation[key], list[_Turn])
        except msgspec.ValidationError as fault:
            raise UserError(f"{path}: {dialogue.sample_id}: {key}: {fault}") from None


def _turns(source: _Dialogue, captions: bool, anomalies: Counter[str]) -> list[Turn]:
    # Sessions are the lists of turns that exist: conv-26 has dates for sixteen sessions that do not.
    conversation = source.conversation
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    dated = {int(match[1]) for key in conversation if (match := _SESSION_DATE.fullmatch(key))}
    anomalies["date of a session without turns"] += len(dated - set(numbers))
    turns: list[Turn] = []
    seen: Counter[str] = Counter()
    for number in numbers:
        session = f"session_{number}"
        time = _time(conversation.get(f"{session}_date_time"))
        anomalies["session without a readable date"] += time is None
        for raw in conversation[session]:
            text = _text(raw, captions, anomalies)
            if not text:
                anomalies["turn without text, left out"] += 1
                continue
            turn_id = raw.dia_id.strip()
            seen[turn_id] += 1
            if seen[turn_id] > 1:  # evidence means the first one
                anomalies["turn id used twice, renamed"] += 1
                turn_id = f"{turn_id}#{seen[turn_id]}"
            turns.append(Turn(turn_id, raw.speaker.strip(), text, time, session))
    return turns


def _text(raw: _Turn, captions: bool, anomalies: Counter[str]) -> str:
    text = stripped(raw.text, anomalies)
    caption = (raw.blip_caption or "").strip()
    anomalies["photo known by its caption only"] += bool(caption)
    anomalies["caption without a photo's address"] += bool(caption) and not raw.img_url
    return f"{text} (shares a photo: {caption})".strip() if caption and captions else text


def _asked(source: _Dialogue, turn_ids: set[str], anomalies: Counter[str]) -> list[Question]:
    questions = []
    for index, raw in enumerate(source.qa):
        questions.append(_question(f"{source.sample_id}/q{index}", raw, turn_ids, anomalies))
    times_asked = Counter((question.text, question.category, question.answers, question.trap) for question in questions)
    anomalies["question asked twice, kept"] += sum(times_asked.values()) - len(times_asked)
    answerable = {question.text for question in questions if not question.unanswerable}
    anomalies["question both answerable and not, kept"] += sum(
        question.unanswerable and question.text in answerable for question in questions
    )
    return questions


def _question(question_id: str, raw: _Question, turn_ids: set[str], anomalies: Counter[str]) -> Question:
    unanswerable = raw.category == _UNANSWERABLE
    answers = golds(raw.answer, anomalies)
    trap = next(iter(golds(raw.adversarial_answer, anomalies)), None)
    if unanswerable:
        anomalies["unanswerable question with a gold of its own"] += bool(answers)
        answers = (ABSTENTION, *answers)
    else:
        anomalies["question without an answer"] += not answers
    return Question(
        id=question_id,
        text=stripped(raw.question, anomalies),
        answers=answers,
        category=str(raw.category),
        evidence=_evidence(raw.evidence, turn_ids, anomalies),
        unanswerable=unanswerable,
        trap=trap if unanswerable else None,
    )


def _evidence(raw: Sequence[str], turn_ids: set[str], anomalies: Counter[str]) -> tuple[str, ...]:
    """The turn ids that ``raw`` names, mended where they are readable, each once, without those of no turn."""
    if not raw:
        anomalies["question without evidence"] += 1
    found: dict[str, None] = {}
    for text in raw:
        parts = [part for part in _EVIDENCE_BREAK.split(text) if part]
        anomalies["several turn ids in one text, split"] += len(parts) > 1
        for part in parts:
            turn_id = part if part in turn_ids else _mended(part)
            if turn_id is None:
                anomalies["evidence that names no id, dropped"] += 1
            elif turn_id not in turn_ids:
                anomalies["evidence that names no turn, dropped"] += 1
            elif turn_id in found:
                anomalies["turn id named twice as evidence"] += 1
            else:
                anomalies["misspelt turn id, mended"] += turn_id != part
                found[turn_id] = None
    return tuple(found)


def _mended(part: str) -> str | None:
    match = _LOOSE_TURN_ID.fullmatch(part)
    return f"D{match[1]}:{match[2]}" if match else None


def _time(raw: object) -> datetime | None:
    """``1:56 pm on 8 May, 2023`` as a time; ``None`` where it is no such text.

    Not by ``strptime``, which expects the names of the months in the user's language.
    """
    match = _DATE.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if not match or match[5] not in _MONTHS:
        return None
    hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
    try:
        return datetime(int(match[6]), _MONTHS.index(match[5]) + 1, int(match[4]), hour, int(match[2]))
    except ValueError:
        return None
