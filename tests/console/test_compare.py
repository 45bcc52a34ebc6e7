"""Two runs held against each other, in a terminal."""

import io

import pytest
from rich.console import Console

from memgauge.analysis.compare import compare
from memgauge.console.compare import FLIPS, print_compared
from recalled_ledgers import Asked, Said, recalled_ledger

RIGHT, WRONG = Said("Pepper"), Said("Ginger")


def printed(directory, before, after, width=100):
    a, b = (recalled_ledger(directory / name, Asked(said)) for name, said in (("a", before), ("b", after)))
    out = io.StringIO()
    found = compare(a, b, names=("main", "branch"))
    print_compared(found, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def rows(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_what_changed_and_what_flipped(tmp_path):
    lines = rows(printed(tmp_path, [RIGHT, RIGHT, WRONG, RIGHT], [RIGHT, WRONG, RIGHT, WRONG]))
    assert lines[0] == "bm25, main → branch, sample · default"
    assert lines[1].startswith(
        "4 questions of both about 1 conversation; without an answer: 0 → 0; right is what the rule"
    )
    exact = next(line for line in lines if line.startswith("exact match"))
    # 3 of 4 against 2 of 4; one better, two worse
    assert exact.startswith("exact match 0.750 0.500 −0.250 [")
    assert exact.endswith(" 1 2 4")
    assert "1 question wrong → right:" in lines
    assert "✓ talk-1 q3 Question 3?" in lines
    assert "gold: Pepper · A: Ginger · B: Pepper" in lines
    assert "2 questions right → wrong:" in lines


def test_a_run_held_against_itself_shows_no_change(tmp_path):
    text = printed(tmp_path, [RIGHT, WRONG], [RIGHT, WRONG])
    assert "No question flipped." in text
    assert "+" not in text
    assert "−" not in text
    assert "unchanged: exact match, token F1" in text


def test_only_the_first_flips_are_listed(tmp_path):
    text = printed(tmp_path, [RIGHT] * (FLIPS + 5), [WRONG] * (FLIPS + 5))
    assert f"{FLIPS + 5} questions right → wrong, the first {FLIPS}:" in text
    assert text.count("gold: Pepper") == FLIPS


def test_questions_that_one_side_alone_answered_are_named_with_the_reason(tmp_path):
    text = printed(tmp_path, [RIGHT, RIGHT], [RIGHT, Said(None)])
    assert "1 question only A answered: q2: HTTP 500 from the upstream" in text
    assert "without an answer: 0 → 1" in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_stays_within_a_hundred_columns(tmp_path, width):
    long = "a very long answer that goes on and on " * 9
    golds = (long,)
    text = printed(tmp_path, [Said(long, golds=golds), RIGHT], [Said("no", golds=golds), WRONG], width)
    assert max(map(len, text.splitlines())) <= min(width, 100)
