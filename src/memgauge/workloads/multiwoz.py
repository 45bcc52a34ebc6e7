"""MultiWOZ 2.2: people book hotels, trains and tables. Served only, to hold the cost model against real dialogues.

A dialogue has some fourteen short turns, about 270 tokens in all, so several can be strung together into one
conversation. No state and no act is read: nothing is scored here but cost.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import msgspec

from memgauge.conversation import Conversation, Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import records
from memgauge.workloads.base import Card, Workload
from memgauge.workloads.mending import stripped, unlike

_COMMIT = "fe0c8e65cfcd8462bd33c86e35f21addc84ca82b"
_PATTERN = "dialogues_*.json"
_EXPECTED = "expected MultiWOZ 2.2's dialogues with dialogue_id and turns of speaker and utterance"


class _Turn(msgspec.Struct):
    speaker: str
    utterance: str


class _Dialogue(msgspec.Struct):
    dialogue_id: str
    turns: list[_Turn]


_DIALOGUE = msgspec.json.Decoder(_Dialogue)


class MultiWOZ(Workload):
    """The dialogues of one split, in the order of its files.

    ``path`` is a file or the folder of a split with ``dialogues_001.json`` and so on. ``turns_per_conversation``
    strings whole dialogues together as long as they have no more turns than that; a dialogue is a session.
    """

    card: ClassVar[Card] = Card(
        name="multiwoz",
        title="MultiWOZ 2.2",
        summary="task-oriented dialogues, about 14 turns each, strung together if wanted; for cost, without questions",
        source="https://github.com/budzianowski/multiwoz",
        revision=_COMMIT,
        licence="MIT",
        citation="Zang et al. 2020, MultiWOZ 2.2: A Dialogue Dataset with Additional Annotation Corrections and "
        "State Tracking Baselines, arXiv:2007.12720",
        protocols=("serve",),
        by_hand="data/MultiWOZ_2.2/{train,dev,test} of a checkout",
    )

    def __init__(self, path: str, turns_per_conversation: int | None = None) -> None:
        if turns_per_conversation is not None and turns_per_conversation < 1:
            raise UserError(
                f"workload 'multiwoz': turns_per_conversation is {turns_per_conversation}; expected at least 1"
            )
        taken: Counter[str] = Counter()
        dialogues = [_read(raw, taken) for raw in _dialogues(Path(path))]
        self._most = turns_per_conversation
        self._strung = {_name(group): group for group in _grouped(dialogues, self._most)}

    def items(self) -> Sequence[str]:
        return tuple(self._strung)

    def conversation(self, item: str) -> Conversation:
        if item not in self._strung:
            raise UnknownNameError("MultiWOZ conversation", item, self._strung)
        group = self._strung[item]
        anomalies = sum((Counter(dialogue.anomalies) for dialogue in group), Counter[str]())
        turns = tuple(turn for dialogue in group for turn in dialogue.turns)
        if self._most is not None and len(turns) > self._most:
            anomalies["dialogue longer than turns_per_conversation, kept whole"] += 1
        return Conversation(item, turns, anomalies=anomalies)


def _dialogues(path: Path) -> list[_Dialogue]:
    files = sorted(path.glob(_PATTERN)) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path}: no {_PATTERN} in this folder; expected that of one split, such as MultiWOZ_2.2/dev")
    opened = [records.opened(file, _EXPECTED) for file in files]
    return [found.decoded(index, _DIALOGUE) for found in opened for index in range(len(found))]


def _read(raw: _Dialogue, taken: Counter[str]) -> Conversation:
    anomalies: Counter[str] = Counter()
    stem = raw.dialogue_id.strip().removesuffix(".json")
    name = unlike(stem, taken, "dialogue id used twice, renamed", anomalies)
    turns = []
    for number, said in enumerate(raw.turns, 1):
        if text := stripped(said.utterance, anomalies):
            turns.append(Turn(f"{name}/t{number}", said.speaker.strip().capitalize(), text, session=name))
        else:
            anomalies["turn without text, left out"] += 1
    anomalies["same speaker twice running"] += sum(a.speaker == b.speaker for a, b in pairwise(turns))
    anomalies["dialogue without turns"] += not turns
    return Conversation(name, tuple(turns), anomalies=dict(+anomalies))


def _grouped(dialogues: Sequence[Conversation], most: int | None) -> list[list[Conversation]]:
    """Neighbours together as long as they fit."""
    groups: list[list[Conversation]] = []
    room = 0
    for dialogue in dialogues:
        size = len(dialogue.turns)
        if most is None or not groups or size > room:
            groups.append([dialogue])
            room = (most or 0) - size
        else:
            groups[-1].append(dialogue)
            room -= size
    return groups


def _name(group: Sequence[Conversation]) -> str:
    return group[0].id + (f"+{len(group) - 1}" if len(group) > 1 else "")
