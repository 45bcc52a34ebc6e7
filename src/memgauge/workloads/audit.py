"""The audit of LoCoMo's gold answers by others: which are wrong, and how.

It was made by a model and reviewed by people, so it is a second opinion and not the truth. A wrong citation
leaves the answer right; every other kind makes the score of the question meaningless.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from memgauge.errors import UserError
from memgauge.workloads import records
from memgauge.workloads.base import DataFile

_COMMIT = "9493fb4b4af4256ed17a18e8fd0b3cfdeec29539"
FILE = DataFile(
    name="locomo_audit_errors.json",
    url=f"https://raw.githubusercontent.com/dial481/locomo-audit/{_COMMIT}/errors.json",
    sha256="f298ef46263fada20688a1d672be37d4f488c6da3b19343eea55ae5c1b5fe55e",
    bytes=150_552,
    optional=True,
)
CORRUPTING = frozenset({"HALLUCINATION", "TEMPORAL_ERROR", "ATTRIBUTION_ERROR", "AMBIGUOUS", "INCOMPLETE"})

_EXPECTED = "expected the audit's list of question_id, question and error_type"


class Entry(msgspec.Struct):
    """One finding. ``question_id`` is ``locomo_<dialogue>_qa<question>``, both counted from 0 in LoCoMo's file."""

    question_id: str
    question: str
    error_type: str


_ENTRY = msgspec.json.Decoder(Entry)


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of a file, by question id."""

    path: Path
    entries: dict[str, Entry]

    def of(self, dialogue: int, question: int, text: str) -> str | None:
        """The kind of error found in a gold, by the places of its dialogue and question.

        ``None`` where nothing was found, or where the entry is about another text: then the audit was made of
        another file.
        """
        entry = self.entries.get(f"locomo_{dialogue}_qa{question}")
        return entry.error_type if entry and entry.question.strip() == text.strip() else None


def read(path: Path, absent: str = "no such file") -> Audit:
    """The audit at ``path``. Raises UserError where it is something else; ``absent`` is the remedy."""
    found = records.opened(path, _EXPECTED, absent)
    entries: dict[str, Entry] = {}
    for index in range(len(found)):
        entry = found.decoded(index, _ENTRY)
        if entry.question_id in entries:
            raise UserError(f"{path}: record {index + 1}: {entry.question_id} occurs twice")
        entries[entry.question_id] = entry
    return Audit(path, entries)
