import pytest

from ledger_fixtures import MEMORIES, answer_record, call_record, sample_ledger, unit_record
from memgauge.analysis.question_rows import question_rows
from memgauge.analysis.read import read
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from recalled_ledgers import Asked, Said, recalled_ledger


def _of(frames, **options):
    return question_rows(read(frames), **options)


def _answer(directory, said):
    (row,) = _of(recalled_ledger(directory, Asked([said]))).rows
    return row.answers["bm25"]


def test_a_long_list_is_thinned_evenly(tmp_path):
    found = _of(recalled_ledger(tmp_path, Asked([Said("Pepper")] * 10)), limit=5)
    assert [row.question for row in found.rows] == ["q1", "q3", "q5", "q7", "q9"]
    assert found.asked == 10


def test_questions_stand_with_every_memorys_answer_and_verdict(tmp_path):
    found = _of(Frames(sample_ledger(tmp_path)))
    third = next(row for row in found.rows if row.question == "q3")
    assert (third.golds, third.evidence) == (("Pepper",), ("t5",))
    assert third.answers.keys() == set(MEMORIES)
    assert third.answers["oracle"].verdict == "right"
    assert (third.answers["none"].verdict, third.answers["none"].cause) == ("wrong", "stored but not retrieved")
    assert third.answers["rolling-window"].verdict == "no answer"
    assert "500" in third.answers["rolling-window"].text


def test_a_run_without_questions_has_none(tmp_path):
    assert _of(recalled_ledger(tmp_path, Asked([]))).rows == ()


@pytest.mark.parametrize(
    ("said", "verdict", "cause"),
    [
        (Said("It is Pepper."), "right", None),
        (Said("salt"), "wrong", "retrieved but not used"),
        (Said("salt", recalled=[]), "wrong", "stored but not retrieved"),
        (Said(None), "no answer", "no answer: an error"),
        (Said("salt", golds=()), "not scored", None),
        (Said("salt", verdicts={"standard-1": "C"}), "right", None),
        (Said("Pepper!", verdicts={"standard-1": "W"}), "wrong", "judged wrong, though it is the gold"),
        (Said("salt", verdicts={"standard-1": "E"}), "no verdict", "the judge gave no verdict"),
    ],
)
def test_the_verdict_and_where_the_chain_broke(tmp_path, said, verdict, cause):
    answer = _answer(tmp_path, said)
    assert (answer.verdict, answer.cause) == (verdict, cause)


def test_what_is_stored_shows_in_any_question_also_one_that_is_not_listed(tmp_path):
    asked = [Said("salt", evidence=["t1"], recalled=[]), Said("Pepper", evidence=["t1"], recalled=[["t1"]])]
    # the store holds less than was written: only the second question shows that t1 is in it
    found = _of(recalled_ledger(tmp_path, Asked(asked, store=(600, 50))), limit=1)
    assert [row.answers["bm25"].cause for row in found.rows] == ["stored but not retrieved"]


def test_every_rubrics_votes_the_one_that_counts_first(tmp_path):
    answer = _answer(tmp_path, Said("salt", verdicts={"generous-1": "C", "standard-1": "WCW", "strict-1": "E"}))
    assert [(vote.rubric, vote.correct, vote.wrong, vote.errors, vote.counts) for vote in answer.votes] == [
        ("standard-1", 1, 2, 0, True),
        ("generous-1", 1, 0, 0, False),
        ("strict-1", 0, 0, 1, False),
    ]
    assert answer.votes[0].why == "because"


def test_what_a_question_cost_stage_by_stage(tmp_path):
    recalled_ledger(tmp_path, Asked([Said("Pepper")]))
    embedded = {"kind": "embed", "input_tokens": None, "output_tokens": None, "embedding_tokens": 7}
    with Ledger.open(tmp_path / FILE_NAME) as ledger:
        ledger.add_call(call_record(1, 1, 1, "read", question="q1", **embedded))
        ledger.add_call(call_record(1, 2, 1, "answer", question="q1", input_tokens=90, cached_tokens=10,
                                    output_tokens=4, reasoning_tokens=2))  # fmt: skip
        ledger.add_call(call_record(1, 1, 1, "judge", question="q1", attempt=0, input_tokens=None))
        ledger.add_call(call_record(1, 3, 2, "answer"))  # of a served turn, not of a question
    (row,) = _of(Frames(tmp_path)).rows
    spent = row.answers["bm25"].spent
    assert [(entry.stage, entry.input_tokens, entry.output_tokens, entry.embedding_tokens) for entry in spent] == [
        ("read", 0, 0, 7),
        ("answer", 100, 6, 0),
        ("judge", None, 1, 0),
    ]
    assert spent[1].cached_tokens == 10


def test_of_a_question_that_was_asked_twice_the_calls_are_left_out(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall", questions=2)])
        for ordinal in (1, 2):
            ledger.add_answer(answer_record(1, ordinal, ["Pepper"], "Pepper", question="q1"))
            ledger.add_call(call_record(1, ordinal, 1, "answer", question="q1"))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
    found = _of(Frames(tmp_path))
    assert [row.answers["mem"].spent for row in found.rows] == [(), ()]
