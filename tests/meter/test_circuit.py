"""An endpoint that fails call after call is asked no more, and a unit that fails too often is given up."""

import pytest

from memgauge.backbones.base import UpstreamError
from memgauge.meter.circuit import DOWN_AFTER, UNIT_FAILURES, EndpointCircuit, EndpointDown, UnitCircuit, UnitGivenUp

GONE = UpstreamError("cannot reach it", status=502, kind="connection")
BUSY = UpstreamError("busy", status=503)
BAD = UpstreamError("bad request", status=400)
LONG = UpstreamError("too long", status=400, kind="context")


def test_an_endpoint_is_down_after_so_many_failures_in_a_row() -> None:
    circuit = EndpointCircuit("the endpoint of m")
    for number in range(DOWN_AFTER):
        circuit.check()
        circuit.note(GONE if number % 2 else BUSY)
    with pytest.raises(EndpointDown, match=r"the endpoint of m is down: 10 calls in a row failed; the last: cannot"):
        circuit.check()


def test_one_answer_shows_that_it_is_up() -> None:
    circuit = EndpointCircuit("m")
    for _ in range(3):
        for _ in range(DOWN_AFTER - 1):
            circuit.note(BUSY)
        circuit.note(None)
    circuit.check()


def test_what_is_wrong_with_a_request_says_nothing_of_the_endpoint() -> None:
    endpoint, unit = EndpointCircuit("m"), UnitCircuit()
    for fault in [BAD, LONG] * 50:
        endpoint.note(fault)
        unit.note(fault)
    endpoint.check()
    unit.check()


def test_a_unit_is_given_up_when_its_failures_are_many_and_more_than_its_share() -> None:
    circuit = UnitCircuit()
    for _ in range(4 * UNIT_FAILURES + 1):
        circuit.note(None)
    for _ in range(UNIT_FAILURES):
        circuit.note(BUSY)
    circuit.check()  # 10 of 51: less than a fifth
    circuit.note(BUSY)
    with pytest.raises(UnitGivenUp, match="11 of 52 calls failed; the last: busy") as caught:
        circuit.check()
    assert not caught.value.whole_run
