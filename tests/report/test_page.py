import re

import pytest

from ledger_fixtures import answer_record, call_record, sample_ledger, unit_record
from memgauge.analysis.question_rows import question_rows
from memgauge.analysis.read import read
from memgauge.analysis.summary import summarize, summary_of
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import PromptRecord, VerdictRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.report.page import PageError, memory_styles, page, write_page
from tags import Tags


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return read(Frames(sample_ledger(tmp_path_factory.mktemp("run"))))


@pytest.fixture(scope="module")
def summary(ledger):
    return summary_of(ledger)


@pytest.fixture(scope="module")
def questions(ledger):
    return question_rows(ledger)


def test_the_page_is_whole_and_loads_nothing(summary, questions):
    text = page(summary, questions)
    found = Tags(text).found
    assert not [
        attributes for _, attributes in found if attributes.keys() & {"src", "srcset", "action", "onclick", "style"}
    ]
    assert not [tag for tag, _ in found if tag in ("link", "img", "iframe", "object")]
    assert all(attributes["href"].startswith("#") for _, attributes in found if "href" in attributes)
    assert "url(" not in text
    assert "@import" not in text


def test_its_policy_allows_its_own_style_and_script_and_no_network(summary):
    policy = next(
        a["content"] for _, a in Tags(page(summary)).found if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    assert re.search(r"script-src 'sha256-[\w+/=]+'", policy)
    assert "unsafe" not in policy


def test_what_models_and_data_sets_say_is_never_markup(tmp_path):
    evil = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
    with Ledger.create(tmp_path / FILE_NAME, {"spec": '{"name": "<i>run</i>"}', "provenance.x": evil}) as ledger:
        ledger.add_units([unit_record(1, evil, "recall", questions=1, model=evil, workload=evil, item=evil),
                          unit_record(2, "b", "serve", turns=1, workload=evil)])  # fmt: skip
        ledger.start_unit(1, 0.0)
        ledger.add_answer(answer_record(1, 1, [evil], evil, text=evil, category=evil))
        ledger.end_unit(1, "done", now=1.0, wall_s=1.0)
        ledger.add_verdict(VerdictRecord(1, 1, evil, 1, "wrong", "ok", evil))
        prompt = PromptRecord(None, 0, ("\x02user", "Remembered:\n", evil, "Question"), 1, 0, None)
        ledger.add_call(call_record(1, 1, 1, "answer", question="q1", prompt=prompt))
        ledger.end_unit(2, "failed", now=1.0, wall_s=1.0, error=evil)
    read_once = read(Frames(tmp_path))
    text = page(summary_of(read_once), question_rows(read_once))
    found = Tags(text).found
    assert not [tag for tag, _ in found if tag in ("img", "i")]
    scripts = [attributes.get("type") for tag, attributes in found if tag == "script"]
    assert [kind for kind in scripts if kind != "application/json"] == [None]  # our own, and no other


def test_the_page_answers_the_two_questions_and_names_what_it_ran_on(summary, questions):
    text = re.sub(r"<[^>]+>", "", page(summary, questions))
    assert "In this trial run, bm25 is the cheapest that still knows" in text
    assert "Cheaper than resending everything:" in text
    assert "SmolLM2-135M-Instruct (embedded)" in text
    assert "sample: 1 conversation, 24 turns, 10 questions" in text
    assert "0.1.0, spec 5f0c2d1e9ab3" in text
    assert "no basis for claims about answer quality" in text
    assert "Which soup did Jonas cook &lt;b&gt;twice&lt;/b&gt;?" in text


def test_every_memory_has_one_colour(summary):
    styles = memory_styles(summary)
    assert styles["full-history"] == "ref"
    assert {styles["none"], styles["oracle"]} == {"control k0", "control k1"}
    assert {styles["rolling-window"], styles["dense"], styles["bm25"]} == {"c0", "c1", "c2"}


def test_a_run_with_several_groups_has_a_section_for_each(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([
            unit_record(1, "a", "serve", cell_turns=15, cell_tokens=50, item="x"),
            unit_record(2, "a", "serve", cell_turns=15, cell_tokens=200, item="y"),
        ])  # fmt: skip
    text = page(summarize(Frames(tmp_path)))
    Tags(text)
    assert "15 turns × 50 tokens" in text
    assert "15 turns × 200 tokens" in text
    assert text.count('class="group"') == 2


def test_a_page_that_cannot_be_written_says_where(summary, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PageError, match=r"cannot write .*report\.html"):
        write_page(summary, tmp_path / "file" / "report.html")


def test_a_run_that_asked_nothing_has_neither_quality_nor_questions(tmp_path):
    with Ledger.create(tmp_path / FILE_NAME, {}) as ledger:
        ledger.add_units([unit_record(1, "a", "serve")])
    read_once = read(Frames(tmp_path))
    ids = [attributes.get("id") for _, attributes in Tags(page(summary_of(read_once), question_rows(read_once))).found]
    assert not {"quality", "questions"} & set(ids)
