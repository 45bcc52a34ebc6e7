"""What stood before the generator, and which of it was evidence."""

import json

import pytest

from ledger_fixtures import answer_record, call_record, unit_record
from memgauge.analysis.contexts import MOST_ITEMS, contexts, texts_of
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import PromptRecord
from memgauge.ledger.writer import FILE_NAME, Ledger

HEAD = ("\x02system", "Answer from memory.", "\x02user", "Remembered conversation:\n")


def _line(turn):
    return f"what was said in {turn}\n"


def _ledger(directory, *memories):
    """One unit per memory: its questions as (turns in the prompt, ranking, evidence), each prompt a delta."""
    with Ledger.create(directory / FILE_NAME, {}) as ledger:
        for unit, (memory, questions) in enumerate(memories, 1):
            ledger.add_units([unit_record(unit, memory, "recall", questions=len(questions))])
            ledger.start_unit(unit, 0.0)
            before, base = (), None
            for place, (turns, ranking, evidence) in enumerate(questions, 1):
                whole = (*HEAD, *map(_line, turns), f"Question: {place}")
                keep = next((n for n, (a, b) in enumerate(zip(before, whole, strict=False)) if a != b), 0)
                prompt = PromptRecord(base if keep else None, keep, whole[keep:], 1, 0, None)
                base = ledger.add_call(call_record(unit, place, 9, "answer", question=f"q{place}", prompt=prompt))
                before = whole
                recalled = None if ranking is None else json.dumps([[turn] for turn in ranking])
                ledger.add_answer(answer_record(unit, place, ["x"], "x", evidence=json.dumps(evidence),
                                                recalled=recalled))  # fmt: skip
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0)
    frames = Frames(directory)
    return frames, contexts(frames, frames.answers(), frames.units())


def _marks(context):
    return [item.evidence for item in context.items]


def test_the_items_of_a_prompt_that_is_stored_as_a_delta(tmp_path):
    asked = [(["t1", "t2"], ["t1", "t2"], ["t2"]), (["t1", "t3"], ["t1", "t3"], ["t1"])]
    frames, found = _ledger(tmp_path, ("window", asked))
    assert found[1, 1].size == 2
    assert _marks(found[1, 1]) == [False, True]
    texts = texts_of(frames, [item.text for item in found[1, 2].items])
    assert [texts[item.text] for item in found[1, 2].items] == [_line("t1"), _line("t3")]


def test_of_a_long_context_only_the_evidence_is_told_and_where_it_stands(tmp_path):
    turns = [f"t{place}" for place in range(1, MOST_ITEMS + 2)]
    _, found = _ledger(tmp_path, ("full-history", [(turns, turns, ["t7", "t30"])]))
    assert found[1, 1].size == MOST_ITEMS + 1
    assert [(item.place, item.evidence) for item in found[1, 1].items] == [(7, True), (30, True)]


def test_a_ranking_that_is_not_the_order_of_the_prompt_is_found_out(tmp_path):
    # prompts go by time, rankings by score; t9 before t10 takes more than sorting by letters
    asked = [(["t9", "t10"], ["t10", "t9"], ["t10"]), (["t9", "t11"], ["t11", "t9"], ["t9"]),
             (["t10", "t11"], ["t10", "t11"], ["t11"])]  # fmt: skip
    _, found = _ledger(tmp_path, ("bm25", asked))
    assert [_marks(found[1, place]) for place in (1, 2, 3)] == [[False, True], [True, False], [False, True]]


def test_a_prompt_in_the_order_of_the_ranking_is_found_out_too(tmp_path):
    asked = [(["t9", "t2"], ["t9", "t2"], ["t9"]), (["t5", "t2"], ["t5", "t2"], ["t5"]),
             (["t2", "t9"], ["t2", "t9"], ["t9"])]  # fmt: skip
    _, found = _ledger(tmp_path, ("product", asked))
    assert [_marks(found[1, place]) for place in (1, 2, 3)] == [[True, False], [True, False], [False, True]]


def test_where_nothing_recurs_nothing_is_claimed(tmp_path):
    _, found = _ledger(tmp_path, ("bm25", [(["t1", "t2"], ["t2", "t1"], ["t2"])]))
    assert _marks(found[1, 1]) == [None, None]


def test_but_another_memory_of_the_conversation_can_tell(tmp_path):
    history = [(["t1", "t2"], ["t1", "t2"], ["t2"])]
    _, found = _ledger(tmp_path, ("bm25", [(["t1", "t2"], ["t2", "t1"], ["t2"])]), ("full-history", history))
    assert _marks(found[1, 1]) == [False, True]


@pytest.mark.parametrize("ranking", [None, ["t1"]])
def test_a_memory_that_does_not_tell_each_items_turns_has_no_marks(tmp_path, ranking):
    _, found = _ledger(tmp_path, ("product", [(["a fact", "another"], ranking, ["t1"])]))
    assert (found[1, 1].size, _marks(found[1, 1])) == (2, [None, None])


def test_nothing_recalled_is_an_empty_context(tmp_path):
    _, found = _ledger(tmp_path, ("none", [([], [], ["t1"])]))
    assert (found[1, 1].size, found[1, 1].items) == (0, ())


def test_an_answer_whose_prompt_was_never_sent_has_no_context(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "mem", "recall", questions=1)])
        ledger.add_answer(answer_record(1, 1, ["x"], None))
    frames = Frames(tmp_path)
    assert contexts(frames, frames.answers(), frames.units()) == {}
