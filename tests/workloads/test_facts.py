"""The fact that a question's gold comes from is found among thousands, or none is named."""

import pytest

from memgauge.workloads.facts import Facts

CONTEXT = """Here is a list of facts:
0. Ida Holm is a citizen of Peru.
1. chess was created in the country of Peru.
2. Lars Berg is a citizen of Peru.
3. The capital of Peru is Washington, D.C..
4. TinyOS was developed by Ida Holm.
5. chess was created in the country of Norway.
6. The capital of Norway is Lima.
7. The author of Norway is Lima.
8. Norway is a citizen of New Peru.
"""


@pytest.mark.parametrize(
    ("question", "gold", "line"),
    [
        ("Which country was chess created in?", "Peru", "chess was created in the country of Peru"),
        ("Which country was chess created in?", "Norway", "chess was created in the country of Norway"),
        ("What is the country of citizenship of Lars Berg?", "Peru", "Lars Berg is a citizen of Peru"),
        ("Which city is the capital of Peru?", "Washington, D.C.", "The capital of Peru is Washington, D.C."),
        ("Who is the developer of TinyOS?", "Ida Holm", "TinyOS was developed by Ida Holm"),
        ("What is the capital of Norway?", "Lima", "The capital of Norway is Lima"),
    ],
)
def test_the_line_whose_words_the_question_repeats_is_meant(question: str, gold: str, line: str) -> None:
    fact = Facts(CONTEXT).answering(question, [gold])
    assert fact is not None
    assert fact.text == line
    assert line in CONTEXT[fact.start : fact.end]
    assert CONTEXT[fact.start].isdigit()


@pytest.mark.parametrize(
    ("question", "golds"),
    [
        ("Which country was chess created in?", ["Chile"]),  # no line ends so
        ("Which country was football created in?", ["Peru"]),  # none is about football
        ("Where was Ida?", ["eru"]),  # not a word of its own
        ("Who?", []),
        ("Who?", [""]),
    ],
)
def test_no_line_is_taken_where_none_is_meant(question: str, golds: list[str]) -> None:
    assert Facts(CONTEXT).answering(question, golds) is None


def test_of_two_lines_that_fit_alike_none_is_taken() -> None:
    twice = "0. chess was created in Peru.\n1. chess was created in Peru.\n"
    assert Facts(twice).answering("Where was chess created?", ["Peru"]) is None


def test_a_context_without_numbered_lines_has_no_facts() -> None:
    assert Facts("Once upon a time in Peru.").answering("Where?", ["Peru"]) is None
