"""The browser of questions in a real browser: search, filter, open, and what it shows of a question."""

import pytest

from chromium import asked_the_network, needs_browser
from memgauge.analysis.question_rows import question_rows
from memgauge.analysis.read import read
from memgauge.analysis.summary import summary_of
from memgauge.report.page import write_page
from recalled_ledgers import Asked, Said, recalled_ledger

pytestmark = needs_browser

EVIL = '</script><img src=x onerror="document.title=1"><b>bold</b>'


def _bm25():
    """Sixty questions of two categories; the first three are of note."""
    lines = ["[8 May 2023] Ann: My dog is Pepper.\n", "[9 May 2023] Ben: Nice!\n"]
    recalled = [["t3"], ["t4"]]
    yield Said("Ginger", text="What is the name of Ann's dog?", category="1", evidence=["t3"], recalled=recalled,
               lines=lines, verdicts={"standard-1": "WWC", "generous-1": "C"}, why="Ginger is a cat")  # fmt: skip
    yield Said(EVIL, text=f"Which {EVIL}?", golds=[EVIL], category="2", recalled=[["t3"]], lines=[EVIL + "\n"],
               verdicts={"standard-1": "W"}, why=EVIL)  # fmt: skip
    yield Said(None, text="Where does Ben live?", category="2")
    for place in range(57):
        yield Said("Pepper", text=f"Filler {place}", category="2", verdicts={"standard-1": "C"})


def _whole():
    """The same questions to a memory that recalls everything."""
    turns = [f"t{place}" for place in range(1, 61)]
    first, *others = _bm25()
    everything = {"recalled": [[turn] for turn in turns], "lines": [f"line {turn}\n" for turn in turns]}
    yield Said("Pepper", text=first.text, category="1", evidence=["t3"], verdicts={"standard-1": "C"}, **everything)
    for said in others:
        yield Said("Pepper", text=said.text, golds=said.golds, category=said.category, verdicts={"standard-1": "C"})


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    units = (Asked(list(_bm25()), "bm25"), Asked(list(_whole()), "full-history"))
    found = read(recalled_ledger(directory, *units))
    write_page(summary_of(found), directory / "report.html", question_rows(found))
    return (directory / "report.html").as_uri()


def _listed(browser):
    return [node.text for node in browser.find_elements("css selector", "#questions .asked")]


def _status(browser):
    return browser.find_element("css selector", "#questions [role=status]").text


def _choose(browser, label, text):
    from selenium.webdriver.support.select import Select

    fields = browser.find_elements("css selector", ".filters label:has(select)")
    field = next(field for field in fields if field.get_attribute("textContent").startswith(label))
    select = Select(field.find_element("css selector", "select"))
    select.select_by_visible_text(next(option.text for option in select.options if option.text.startswith(text)))


def _search(browser, words):
    field = browser.find_element("css selector", ".filters input[type=search]")
    field.clear()
    field.send_keys(words)


def _open(browser, place=0):
    question = browser.find_elements("css selector", "#questions details.question")[place]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", question)
    question.find_element("css selector", "summary").click()
    return question


def test_it_loads_without_errors_and_without_the_network(open_page):
    browser = open_page()
    assert asked_the_network(browser) == []
    assert browser.get_log("browser") == []


def test_fifty_are_listed_and_more_at_a_click(open_page):
    browser = open_page()
    assert (_status(browser), len(_listed(browser))) == ("60 questions.", 50)
    more = browser.find_element("css selector", ".next")
    assert more.text == "Show 10 more of 10"
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", more)
    more.click()
    assert len(_listed(browser)) == 60
    assert not browser.find_elements("css selector", ".next")


def test_search_finds_questions_answers_and_reasons(open_page):
    browser = open_page()
    _search(browser, "name of ann")
    assert _listed(browser) == ["What is the name of Ann's dog?"]
    _search(browser, "GINGER is a cat")
    assert _status(browser) == "1 of 60 questions."
    _search(browser, "nowhere to be found")
    assert (_status(browser), _listed(browser)) == ("0 of 60 questions.", [])


def test_search_goes_into_what_was_recalled_only_when_asked_to(open_page):
    browser = open_page()
    _search(browser, "8 may 2023")
    assert _status(browser) == "0 of 60 questions."
    browser.find_element("css selector", ".filters input[type=checkbox]").click()
    assert _listed(browser) == ["What is the name of Ann's dog?"]


def test_filters_narrow_the_list_together_and_are_undone(open_page):
    browser = open_page()
    _choose(browser, "Outcome", "wrong (2)")
    assert _status(browser) == "2 of 60 questions."
    _choose(browser, "Category", "1")
    assert _listed(browser) == ["What is the name of Ann's dog?"]
    _choose(browser, "Memory", "full-history")
    assert _status(browser) == "0 of 60 questions."
    browser.find_element("xpath", "//button[text()='Show all']").click()
    assert _status(browser) == "60 questions."


def test_an_error_and_a_cause_can_be_filtered_for(open_page):
    browser = open_page()
    _choose(browser, "Outcome", "no answer")
    assert _listed(browser) == ["Where does Ben live?"]
    _choose(browser, "Outcome", "retrieved but not used (1)")
    assert _listed(browser) == ["What is the name of Ann's dog?"]


def test_an_opened_question_tells_the_gold_the_verdict_and_why(open_page):
    browser = open_page()
    text = _open(browser).text
    assert "Expected: Pepper 1 talk-1 · q1 · evidence t3" in text
    assert "✗ Ginger" in text
    assert "retrieved but not used standard-1 ✓✗✗ Ginger is a cat" in text
    assert "generous-1 ✓" in text


def test_the_evidence_is_marked_in_what_was_recalled(open_page):
    question = _open(open_page())
    assert question.find_element("css selector", "blockquote.evidence").text.startswith("[8 May 2023] Ann: My dog")
    traces = question.find_elements("css selector", "details.trace")
    assert traces[0].text == "2 recalled, 1 evidence · 1 call, 120 in, 1 out"
    traces[0].find_element("css selector", "summary").click()
    lines = traces[0].find_elements("css selector", ".recalled li")
    assert [line.text for line in lines] == [
        "evidence [8 May 2023] Ann: My dog is Pepper.",
        "[9 May 2023] Ben: Nice!",
    ]
    assert [line.get_attribute("class") for line in lines] == ["is-evidence", ""]
    assert "answer 1 120 1" in traces[0].find_element("css selector", "table.calls").text


def test_of_a_whole_transcript_the_evidence_stands_with_its_place(open_page):
    trace = _open(open_page()).find_elements("css selector", "details.trace")[1]
    trace.find_element("css selector", "summary").click()
    assert "60 items, of which the evidence:" in trace.text
    (line,) = trace.find_elements("css selector", ".recalled li")
    assert (line.get_attribute("value"), line.text) == ("3", "evidence line t3")


def test_what_was_said_is_text_and_never_markup(open_page):
    browser = open_page()
    _search(browser, "onerror")
    question = _open(browser)
    for trace in question.find_elements("css selector", "details.trace"):
        trace.find_element("css selector", "summary").click()
    assert question.text.count(EVIL) >= 4  # question, gold, answer, reason, recalled
    assert browser.execute_script("return document.querySelectorAll('#questions img').length") == 0
    assert browser.title != "1"
    assert browser.get_log("browser") == []


def test_a_part_of_a_bar_leads_to_its_questions(open_page):
    browser = open_page()
    mark = ".wide .causes .mark[data-memory=bm25][data-cause='retrieved but not used']"
    part = browser.find_element("css selector", mark)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", part)
    part.click()
    assert _listed(browser) == ["What is the name of Ann's dog?"]
    assert _status(browser) == "1 of 60 questions."


def test_open_all_opens_what_is_listed(open_page):
    browser = open_page()
    _search(browser, "dog")
    button = browser.find_element("css selector", ".open-all")
    button.click()
    assert browser.find_element("css selector", "#questions .opened").is_displayed()
    assert button.text == "Close all"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_overflows_the_page(open_page, width):
    browser = open_page(width)
    browser.find_element("css selector", ".open-all").click()
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    for panel in range(3):
        browser.execute_script("document.querySelectorAll(`[id^=quality0-]`)[arguments[0]]?.click()", panel)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
