"""How long a server asks to be left alone, by the headers of its refusal."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")


def asked_wait_s(headers: Mapping[str, str], status: int, now: float | None = None) -> float | None:
    """Seconds to wait, or None where the headers (lower-case names) do not say.

    ``retry-after-ms``, then ``retry-after`` in seconds or as a date; for 429 also the latest reset of those
    ``x-ratelimit-*`` budgets that are used up. ``now`` is Unix time.
    """
    now = time.time() if now is None else now
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return max(0.0, milliseconds / 1000)
    if after := headers.get("retry-after"):
        seconds = _number(after)
        if seconds is None:
            seconds = _until(after, now)
        if seconds is not None:
            return max(0.0, seconds)
    if status != 429:
        return None
    resets = (
        _reset_s(text, now)
        for name, text in headers.items()
        if name.startswith("x-ratelimit-reset") and _number(headers.get(name.replace("reset", "remaining"), "0")) == 0
    )
    return max((reset for reset in resets if reset is not None), default=None)


def _reset_s(text: str, now: float) -> float | None:
    """A reset in seconds, as OpenAI writes it (``6m0s``, ``20ms``), or as Unix seconds or milliseconds."""
    number = _number(text)
    if number is not None:
        since = number / 1000 - now if number > 1e11 else number - now if number > 1e9 else number
        return max(0.0, since)
    match = _DURATION.fullmatch(text.strip())
    if match is None or not match[0]:
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _until(date: str, now: float) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return when.timestamp() - datetime.fromtimestamp(now, UTC).timestamp()


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
