"""Circuits: where calls fail one after the other, asking on only costs time, money and the unit's place in a table."""

from memgauge.backbones.base import UpstreamError
from memgauge.meter.stops import Stop

# Calls in a row, each with all its attempts, after which an endpoint counts as down.
DOWN_AFTER = 10
# A unit is given up when so many of its calls failed, and they are more than this share of all that it sent.
UNIT_FAILURES, UNIT_SHARE = 10, 0.2

# Error statuses that are about the request and say nothing of the server.
ABOUT_THE_REQUEST = (400, 409, 413, 415, 422)


class EndpointDown(Stop):
    """The upstream has not answered for DOWN_AFTER calls in a row."""


class UnitGivenUp(Stop):
    """Too many calls of one unit failed."""

    whole_run = False


class EndpointCircuit:
    """Watches the calls of all units to one model."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._failed_in_a_row = 0
        self._last = ""

    def check(self) -> None:
        """Raises EndpointDown where the endpoint is taken to be down."""
        if self._failed_in_a_row >= DOWN_AFTER:
            raise EndpointDown(f"{self._what} is down: {DOWN_AFTER} calls in a row failed; the last: {self._last}")

    def note(self, fault: UpstreamError | None) -> None:
        """A call was answered, or failed for good."""
        if fault is None:
            self._failed_in_a_row = 0
        elif _upstreams_own(fault):
            self._failed_in_a_row += 1
            self._last = str(fault)


class UnitCircuit:
    """Watches the calls of one unit."""

    def __init__(self) -> None:
        self._sent = 0
        self._failed = 0
        self._last = ""

    def check(self) -> None:
        """Raises UnitGivenUp where too many calls failed."""
        if self._failed >= UNIT_FAILURES and self._failed > UNIT_SHARE * self._sent:
            raise UnitGivenUp(f"{self._failed} of {self._sent} calls failed; the last: {self._last}")

    def note(self, fault: UpstreamError | None) -> None:
        """A call was answered, or failed for good."""
        self._sent += 1
        if fault is not None and _upstreams_own(fault):
            self._failed += 1
            self._last = str(fault)


def _upstreams_own(fault: UpstreamError) -> bool:
    """Whether a fault says something of the server, rather than of the request."""
    return fault.kind not in ("context", "refused") and fault.status not in ABOUT_THE_REQUEST
