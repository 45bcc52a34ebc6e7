"""The browser of questions as the page carries it: data for the script, and a list for who runs none."""

import json
import re

import pytest

from memgauge.analysis.question_rows import question_rows
from memgauge.analysis.read import read
from memgauge.report import question_browser
from memgauge.report.question_browser import READABLE, browser
from recalled_ledgers import Asked, Said, recalled_ledger
from tags import Tags

STYLES = {"bm25": "c0", "dense": "c1"}


def _shown(directory, *units, **options):
    return browser(question_rows(read(recalled_ledger(directory, *units)), **options), STYLES)


def _data(shown):
    return json.loads(re.search(r'<script type="application/json" class="told">(.*?)</script>', shown)[1])


def test_a_text_stands_in_the_page_once(tmp_path):
    said = Said("Pepper is the dog", lines=["It is Pepper.\n"])
    data = _data(_shown(tmp_path, Asked([said] * 30, "bm25"), Asked([said] * 30, "dense")))
    assert data["texts"].count("It is Pepper.") == data["texts"].count("Pepper is the dog") == 1
    assert len(data["rows"]) == 30


def test_the_evidence_is_marked_in_what_was_recalled(tmp_path):
    said = Said("x", evidence=["t2"], recalled=[["t1"], ["t2"]], lines=["one\n", "two\n"])
    data = _data(_shown(tmp_path, Asked([said])))
    ((*_, answers),) = data["rows"]
    size, texts, signs = answers[0][8]
    assert (size, [data["texts"][text] for text in texts], signs) == (2, ["one", "two"], "01")


def test_of_a_whole_transcript_only_the_evidence_is_in_the_page(tmp_path):
    turns = [f"t{place}" for place in range(1, 601)]
    said = Said("x", evidence=["t500"], recalled=[[turn] for turn in turns], lines=[f"line {turn}\n" for turn in turns])
    shown = _shown(tmp_path, Asked([said] * 3))
    ((*_, answers), *_) = _data(shown)["rows"]
    assert answers[0][8][0] == 600
    assert answers[0][8][3] == [500]
    assert re.findall(r"line t\d+", shown) == ["line t500"]


def test_where_there_is_too_much_text_it_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(question_browser, "MOST_CHARACTERS", 2_500)
    said = Said("x", recalled=[["t1"], ["t2"]], lines=["a" * 3_000 + "\n", "b" * 3_000 + "\n"])
    texts = _data(_shown(tmp_path, Asked([said])))["texts"]
    assert f"{'a' * 1_000} … (3,000 characters)" in texts


def test_an_answer_of_a_hundred_kilobytes_does_not_swell_the_page(tmp_path):
    shown = _shown(tmp_path, Asked([Said("word " * 20_000)]))
    assert len(shown) < 10_000
    assert "(100,000 characters)" in shown


def test_without_a_script_the_first_hundred_can_be_read(tmp_path):
    shown = _shown(tmp_path, Asked([Said(f"answer {place}") for place in range(READABLE + 5)]))
    assert len([tag for tag, attributes in Tags(shown).found if attributes.get("class") == "question"]) == READABLE
    assert "The first 100; a browser that runs scripts shows all" in shown


def test_a_thinned_list_says_so(tmp_path):
    assert "4 of 10, spread evenly over all" in _shown(tmp_path, Asked([Said("x")] * 10), limit=4)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Said("salt"), "retrieved but not used"),
        (Said("salt", evidence=["t7"]), "stored but not retrieved: t7"),
        (Said("salt", verdicts={"strict-1": "W"}, why="it is sugar"), "retrieved but not used. strict-1: it is sugar"),
    ],
)
def test_the_list_says_why(tmp_path, said, told):
    assert f'<span class="why">{told}</span>' in _shown(tmp_path, Asked([said]))


def test_where_nothing_was_asked_there_is_no_browser(tmp_path):
    assert _shown(tmp_path, Asked([])) is None
