"""What a prompt shares with the unit's earlier ones: for storing it as a delta, and for pricing prompt caches.

A prompt is a sequence of pieces (tokens.pieces). The index keeps the latest prompt of every stage whole, and a
digest of every prefix that was ever sent. A prompt that extends an earlier one costs work only for its new
pieces; comparing the old ones is a tuple comparison of identical strings.
"""

from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate

from memgauge import tokens
from memgauge.ledger.records import PromptRecord
from memgauge.prefix import common_prefix

_DIGEST_BYTES = 16
_REMEMBERED_PREFIXES = 1 << 14  # of a unit, some 3 MB; those of the latest prompts come on top


@dataclass(slots=True)
class _Trail:
    """The latest prompt of one stage. ``digests[i]`` and ``sums[i]`` are of its first i + 1 pieces.

    ``base`` and ``keep`` are what it is stored as a delta on.
    """

    root: bytes
    pieces: tuple[str, ...]
    digests: list[bytes]
    sums: list[int]
    turn: int
    base: int | None = None
    keep: int = 0
    call: int = 0


class PromptIndex:
    """The prompts of one unit, in the order they were sent."""

    def __init__(self) -> None:
        self._trails: dict[str, _Trail] = {}
        # Digest of a prefix -> (turn, call) of a call that sent it, as recent as the trails do not know better.
        self._sent: dict[bytes, tuple[int, int]] = {}
        self._room = _REMEMBERED_PREFIXES

    def observe(self, root: str, pieces: tuple[str, ...], *, stage: str, turn: int) -> "Observed":
        """Compares a prompt with the earlier ones.

        ``root`` is what must be equal besides the text for a provider's cache to be of use: the model and the
        tools. The prompt counts as sent when ``Observed.sent`` is called.
        """
        root_digest = _digest(b"", root)
        shared, nearest = 0, None
        matches: list[tuple[int, _Trail]] = []
        for trail in self._trails.values():
            if trail.root != root_digest:
                continue
            length = common_prefix(trail.pieces, pieces)
            matches.append((length, trail))
            if length > shared or nearest is None:
                shared, nearest = length, trail
        digests = nearest.digests[:shared] if nearest else []
        sums = nearest.sums[:shared] if nearest else []
        last = digests[-1] if digests else root_digest
        for piece in pieces[shared:]:
            last = _digest(last, piece)
            digests.append(last)
        counts = tokens.count_each(pieces[shared:])
        sums.extend(list(accumulate(counts, initial=sums[-1] if sums else 0))[1:])

        length = self._longest_sent(digests, shared)
        source = self._latest(digests, length, matches)
        prefix = sums[length - 1] if length else 0
        if nearest is not None and length == shared:
            partial = _partial(nearest.pieces, pieces, shared)
            prefix += partial
            if partial and source is None:
                source = (nearest.turn, nearest.call)
        base = _base(source[1], length, matches) if source and length else None
        record = PromptRecord(
            base=base,
            keep=length,
            new=pieces[length:],
            counted_tokens=sums[-1] if sums else 0,
            prefix_tokens=prefix,
            prefix_turns_ago=turn - source[0] if source and prefix else None,
        )
        trail = _Trail(root_digest, pieces, digests, sums, turn, base, length)
        return Observed(self, stage, trail, nearest, shared, record, last)

    def _longest_sent(self, digests: list[bytes], low: int) -> int:
        """Pieces of the longest prefix ever sent; every prefix of a sent prefix was sent, so bisection finds it."""
        if low >= len(digests) or digests[low] not in self._sent:
            return low
        high = len(digests)
        while low < high:
            middle = (low + high + 1) // 2
            if digests[middle - 1] in self._sent:
                low = middle
            else:
                high = middle - 1
        return low

    def _latest(self, digests: list[bytes], length: int, matches: list[tuple[int, _Trail]]) -> tuple[int, int] | None:
        """Turn and call of the latest prompt that begins with the first ``length`` pieces."""
        if not length:
            return None
        known = [(trail.turn, trail.call) for shared, trail in matches if shared >= length]
        if digests[length - 1] in self._sent:
            known.append(self._sent[digests[length - 1]])
        return max(known, default=None)

    def _add(self, stage: str, trail: _Trail, nearest: _Trail | None, shared: int) -> None:
        mark = (trail.turn, trail.call)
        replaced = self._trails.get(stage)
        if replaced is not None:
            # From here on only ``_sent`` knows how recent the replaced prompt's own tail is.
            if replaced is nearest:
                kept = shared
            else:
                kept = common_prefix(replaced.pieces, trail.pieces) if replaced.root == trail.root else 0
            self._mark(replaced.digests[kept:], (replaced.turn, replaced.call))
        self._mark(trail.digests[shared:], mark)
        self._trails[stage] = trail
        if len(self._sent) > self._room:
            self._forget()

    def _forget(self) -> None:
        """Drops the older half of the prefixes: no provider's cache holds what was last sent so long ago.

        A prefix is at least as recent as whatever it begins, so that what remains still holds every prefix of what it
        holds, as bisection needs it.
        """
        for trail in self._trails.values():
            self._mark(trail.digests, (trail.turn, trail.call))
        middle = sorted(self._sent.values())[len(self._sent) // 2]
        self._sent = {digest: mark for digest, mark in self._sent.items() if mark >= middle}
        self._room = max(_REMEMBERED_PREFIXES, len(self._sent) + _REMEMBERED_PREFIXES // 2)

    def _mark(self, digests: list[bytes], mark: tuple[int, int]) -> None:
        for digest in digests:
            if self._sent.get(digest, mark) <= mark:
                self._sent[digest] = mark


@dataclass(frozen=True, slots=True)
class Observed:
    """A prompt compared with the earlier ones: ``record`` goes into the ledger, ``digest`` is of root and text."""

    index: PromptIndex
    stage: str
    trail: _Trail
    nearest: _Trail | None  # the earlier prompt that it shares its first ``shared`` pieces with
    shared: int
    record: PromptRecord
    digest: bytes

    def sent(self, call: int) -> None:
        """The prompt went upstream as ``call``: later prompts may share its prefix."""
        self.trail.call = call
        self.index._add(self.stage, self.trail, self.nearest, self.shared)


def _base(call: int, length: int, matches: list[tuple[int, _Trail]]) -> int | None:
    """The call to store a prompt as a delta on, where ``call`` begins with its first ``length`` pieces.

    Where that one has them from a call before it, the same will do: so a head that all prompts of a unit share does
    not string them up into a chain.
    """
    return next((trail.base for _, trail in matches if trail.call == call and trail.keep >= length), call)


def _partial(before: tuple[str, ...], now: tuple[str, ...], at: int) -> int:
    """Tokens that the first differing pieces share at their start, counted to the last whole word."""
    if at >= len(before) or at >= len(now):
        return 0
    old, new = before[at], now[at]
    if old[:1] != new[:1]:
        return 0
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    # A token may begin with the space before a word, so the last whole word ends before a space.
    word_end = low if low == len(old) == len(new) else max(old.rfind(" ", 0, low), 0)
    return tokens.count(old[:word_end]) if word_end else 0


def _digest(before: bytes, piece: str) -> bytes:
    return blake2b(before + piece.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
