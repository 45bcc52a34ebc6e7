import io

import pytest
from rich.console import Console

from ledger_fixtures import sample_ledger
from memgauge.analysis.summary import summarize
from memgauge.ledger.frames import Frames
from memgauge.report.terminal import print_summary


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return summarize(Frames(sample_ledger(tmp_path_factory.mktemp("run"))))


def _printed(summary, width):
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=width, color_system=None))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_stays_within_a_hundred_columns(summary, width):
    assert max(map(len, _printed(summary, width).splitlines())) <= min(width, 100)


@pytest.mark.parametrize("width", [80, 100])
def test_no_memory_takes_more_than_one_line(summary, width):
    rows = [line for line in _printed(summary, width).splitlines() if line.startswith("rolling-window * ")]
    assert len(rows) == 1
    assert "turn 12" in rows[0]
    assert "1 of 10" in rows[0]


def test_it_says_without_colour_what_it_says(summary):
    text = _printed(summary, 100)
    assert "is the cheapest that still knows." in text
    assert "reference" in text
    assert "° control: bounds the table" in text
    assert "* rolling-window is not ranked: 10 % ended in an error" in text
    assert "no basis for claims about answer quality" in text
    assert "local, no price" in text
    assert "failed: none serve sample-1" in text
    assert "\x1b" not in text
