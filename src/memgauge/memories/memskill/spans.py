"""Cuts a stream of turns into spans of so many tokens, each beginning with the end of the one before."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memgauge import tokens
from memgauge.conversation import Turn

_CHARACTERS = 4  # of a token, about: where a long turn is first cut


@dataclass(frozen=True, slots=True)
class Span:
    """``turns``, or parts of long ones under the same id; the first ``seen`` of them stood in the span before."""

    turns: tuple[Turn, ...]
    seen: int = 0

    @property
    def before(self) -> tuple[Turn, ...]:
        """What the span before had already."""
        return self.turns[: self.seen]

    @property
    def fresh(self) -> tuple[Turn, ...]:
        """What no span had before; never empty."""
        return self.turns[self.seen :]

    @property
    def tokens(self) -> int:
        """Of all its lines."""
        return tokens.count_all(turn.line() for turn in self.turns)


class Spans:
    """Spans of at most ``size`` tokens, which overlap by whole turns of at most ``overlap`` tokens together.

    A span is closed by the first turn that no longer fits. A turn of more than ``size - overlap`` tokens is cut. With
    a ``size`` of 0 a span is a session, whatever its length, and nothing overlaps; where turns name no session, it is
    what was added together.
    """

    def __init__(self, size: int, overlap: int) -> None:
        self._size, self._overlap = size, overlap
        self._turns: list[Turn] = []
        self._sizes: list[int] = []
        self._seen = 0

    @property
    def open(self) -> tuple[Turn, ...]:
        """What stands in no span yet."""
        return tuple(self._turns[self._seen :])

    @property
    def open_tokens(self) -> int:
        """Of the lines that stand in no span yet."""
        return sum(self._sizes[self._seen :])

    def add(self, turns: Iterable[Turn]) -> Iterator[Span]:
        """The spans that ``turns`` close, in order."""
        for turn in turns:
            for part in self._parts(turn):
                size = tokens.count(part.line())
                if self._turns and self._closed_by(part, size):
                    yield self._close()
                self._turns.append(part)
                self._sizes.append(size)
        if not self._size and self._turns and self._turns[-1].session is None:
            yield self._close()

    def _closed_by(self, turn: Turn, size: int) -> bool:
        if self._size:
            return sum(self._sizes) + size > self._size
        return turn.session != self._turns[-1].session

    def _close(self) -> Span:
        span = Span(tuple(self._turns), self._seen)
        first = len(self._turns)
        while self._size and sum(self._sizes[first - 1 :]) <= self._overlap:
            first -= 1
        self._turns, self._sizes = self._turns[first:], self._sizes[first:]
        self._seen = len(self._turns)
        return span

    def _parts(self, turn: Turn) -> Iterator[Turn]:
        """The turn, or parts of it that fit a span beside the overlap, cut behind white space where there is any."""
        most = self._size - self._overlap
        if not self._size or tokens.count(turn.line()) <= most:
            yield turn
            return
        rest = turn.text
        while rest:
            length = min(len(rest), most * _CHARACTERS)
            while length > 1 and tokens.count(replace(turn, text=rest[:length]).line()) > most:
                length //= 2
            if length < len(rest):
                length = _behind_a_blank(rest, length)
            yield replace(turn, text=rest[:length])
            rest = rest[length:]


def _behind_a_blank(text: str, length: int) -> int:
    """At most ``length``, behind the last white space of its second half."""
    return next((i for i in range(length, length // 2, -1) if text[i - 1].isspace()), length)
