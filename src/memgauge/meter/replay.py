"""Answers recorded by an attempt that died, handed out again so that nothing is paid twice."""

from collections import defaultdict, deque
from collections.abc import Iterable

from memgauge.ledger.records import RecordedCall


class Replay:
    """The completed calls of a unit's earlier attempts, by request; the n-th request gets the n-th answer."""

    def __init__(self, calls: Iterable[RecordedCall] = ()) -> None:
        self._calls: dict[tuple[str, bytes], deque[RecordedCall]] = defaultdict(deque)
        for call in calls:
            self._calls[call.kind, call.request_key].append(call)

    def take(self, kind: str, request_key: bytes) -> RecordedCall | None:
        """The next recorded answer to this very request, or None where it must be asked afresh."""
        waiting = self._calls.get((kind, request_key))
        return waiting.popleft() if waiting else None

    @property
    def left(self) -> int:
        """How many recorded calls were not asked for again."""
        return sum(map(len, self._calls.values()))
