"""Rubrics: which words a judge is given for which kind of question."""

from pathlib import Path

import pytest

from memgauge.errors import UserError
from memgauge.protocols import rubrics


def test_there_are_at_least_three_to_put_side_by_side_and_each_is_versioned() -> None:
    assert {"generous", "standard", "strict", "longmemeval"} <= set(rubrics.names())
    labels = [rubrics.load(name).label for name in rubrics.names()]
    assert all(label.rpartition("-")[2].isdigit() for label in labels)
    assert len(set(labels)) == len(labels)


def test_longmemeval_has_five_rules_of_its_own() -> None:
    rubric = rubrics.load("longmemeval")
    kinds = ["single-session-user", "temporal-reasoning", "knowledge-update", "single-session-preference"]
    rules = {rubric.system(kind, unanswerable=False) for kind in kinds}
    rules.add(rubric.system("multi-session", unanswerable=True))
    assert len(rules) == 5
    several, one = (rubric.system(kind, unanswerable=False) for kind in ("multi-session", "single-session-user"))
    assert several == one


@pytest.mark.parametrize("name", rubrics.names())
def test_an_unanswerable_question_is_judged_by_whether_the_answer_abstains(name: str) -> None:
    rubric = rubrics.load(name)
    assert rubric.system("5", unanswerable=True) != rubric.system("5", unanswerable=False)


def test_question_gold_and_answer_stand_in_the_prompt() -> None:
    said = rubrics.load("strict").user("Where?", ("Porto", "Oporto"), "In Porto")
    assert "Where?" in said
    assert "Porto | Oporto" in said
    assert "any one of these" in said


def test_a_users_own_rubric_is_a_file_with_three_places(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Q {question}\nG {gold}\nA {answer}\n")
    rubric = rubrics.load(str(path))
    assert rubric.user("q {gold}", ("g",), "a") == "Q q {gold}\nG g\nA a\n"
    assert rubric.label.startswith("mine-")
    path.write_text("Q {question} A {answer}")
    with pytest.raises(UserError, match=r"missing: \{gold\}"):
        rubrics.load(str(path))


def test_what_is_no_rubric_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'strict'"):
        rubrics.load("strickt")
    with pytest.raises(UserError, match="no such rubric file"):
        rubrics.load(str(tmp_path / "none.txt"))
