"""Faults that the user can mend. Each carries one line that says what is wrong and what to do."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class UserError(Exception):
    """A fault in what the user gave (spec, file, flag, endpoint). The CLI prints it on one line and exits 2."""

    exit_code = 2

    def __str__(self) -> str:
        """One line, whatever it quotes: what a file holds must not steer a terminal."""
        return _CONTROLS.sub(" ", super().__str__())


class UnknownNameError(UserError):
    """A name that is in no registry; suggests the closest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class MissingExtraError(UserError):
    """An optional part is not installed."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} is not installed; run: {remedy}")
