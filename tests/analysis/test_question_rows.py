from ledger_fixtures import answer_record, unit_record
from memgauge.analysis.memory_rows import Played
from memgauge.analysis.question_rows import question_rows
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.metrics.score import scores_frame


def _played(directory, count, *, answer="It is Pepper."):
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall", questions=count)])
        for ordinal in range(1, count + 1):
            ledger.add_answer(answer_record(1, ordinal, ["Pepper"], answer))
    frames = Frames(directory)
    return Played(frames.units(), frames.calls(), frames.steps(), frames.answers(), scores_frame(frames))


def test_a_long_list_is_thinned_evenly(tmp_path):
    rows = question_rows(_played(tmp_path, 10), limit=5)
    assert [row.question for row in rows] == ["q1", "q3", "q5", "q7", "q9"]


def test_a_short_list_is_whole(tmp_path):
    assert len(question_rows(_played(tmp_path, 3))) == 3


def test_the_gold_inside_a_sentence_is_right_and_some_of_its_words_is_partly(tmp_path):
    (row,) = question_rows(_played(tmp_path, 1))
    assert row.answers["mem"].verdict == "right"
    (tmp_path / "two").mkdir()
    (other,) = question_rows(_played(tmp_path / "two", 1, answer="salt"))
    assert other.answers["mem"].verdict == "wrong"
