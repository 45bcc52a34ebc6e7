"""How well the memories remember, in a terminal."""

import io

import pytest
from rich.console import Console

from memgauge.analysis.quality import quality
from memgauge.console.quality import print_quality
from recalled_ledgers import Asked, Said, recalled_ledger


def printed(frames, width=100):
    out = io.StringIO()
    print_quality(quality(frames), Console(file=out, width=width, color_system=None))
    return out.getvalue()


def rows(text):
    return [" ".join(line.split()) for line in text.splitlines()]


JUDGED = [
    Said("Pepper", category="1", verdicts={"standard-1": "C", "strict-1": "W"}),
    Said("salt", category="4", verdicts={"standard-1": "W", "strict-1": "W"}),
    Said(None, category="4"),
]


def test_scores_by_category_and_what_became_of_every_question(tmp_path):
    lines = rows(printed(recalled_ledger(tmp_path, Asked(JUDGED, workload="locomo"))))
    assert "locomo · default: judge accuracy (standard-1) by category" in lines
    for line in ("1 1 1.00", "4 2 0.00", "all 3 0.50", "95 % 0.00–1.00", "LoCoMo F1 0.50", "no answer 1"):
        assert line in lines
    assert lines[lines.index("right used answer") + 1] == "bm25 * 1 1 1"


def test_what_the_judges_prompt_changes_is_said(tmp_path):
    text = " ".join(printed(recalled_ledger(tmp_path, Asked(JUDGED, workload="locomo"))).split())
    assert "The prompt alone moves accuracy by 0.50, from 0.00 (strict-1) to 0.50 (standard-1)" in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_stays_within_a_hundred_columns_however_many_memories(tmp_path, width):
    said = [Said("Pepper", category="single-session-preference"), Said("x", category="temporal-reasoning")]
    units = [Asked(said, f"a-memory-with-a-name-{place}", workload="longmemeval") for place in range(9)]
    text = printed(recalled_ledger(tmp_path, *units), width)
    assert max(map(len, text.splitlines())) <= min(width, 100)
    for place in range(9):
        assert f"a-memory-with-a-name-{place}" in text


def test_a_run_without_questions_prints_nothing(tmp_path):
    assert printed(recalled_ledger(tmp_path, Asked([]))) == ""
