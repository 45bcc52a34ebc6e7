"""The page in a real browser."""

import pytest

from chromium import asked_the_network, needs_browser
from ledger_fixtures import sample_ledger
from memgauge.analysis.question_rows import question_rows
from memgauge.analysis.read import read
from memgauge.analysis.summary import summary_of
from memgauge.ledger.frames import Frames
from memgauge.report.page import write_page

pytestmark = needs_browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    found = read(Frames(sample_ledger(directory)))
    write_page(summary_of(found), directory / "report.html", question_rows(found))
    return (directory / "report.html").as_uri()


def _column(browser, number):
    rows = "[...document.querySelector('table.sortable').tBodies[0].rows]"
    script = f"return {rows}.map(row => row.cells[arguments[0]].textContent)"
    return browser.execute_script(script, number)


def test_it_loads_without_errors_and_without_the_network(open_page):
    browser = open_page()
    assert asked_the_network(browser) == []
    assert browser.get_log("browser") == []


def test_a_heading_sorts_the_better_end_first_and_then_the_other(open_page):
    browser = open_page()
    memory = browser.find_element("css selector", "table.sortable thead th:nth-child(1) button")
    cost = browser.find_element("css selector", "table.sortable thead th:nth-child(2) button")
    cost.click()
    assert [float(cell.replace(",", "")) for cell in _column(browser, 1)] == sorted(
        float(cell.replace(",", "")) for cell in _column(browser, 1)
    )
    cost.click()
    assert _column(browser, 0)[0].startswith("full-history")
    memory.click()
    assert [name.split("c")[0][:2] for name in _column(browser, 0)] == ["bm", "de", "fu", "no", "or", "ro"]
    assert browser.find_element("css selector", "th[aria-sort=ascending]").text.startswith("Memory")


def test_pointing_at_a_turn_tells_every_memorys_bill(open_page):
    from selenium.webdriver import ActionChains

    browser = open_page()
    hover = browser.find_element("css selector", "figure .wide .hover")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", hover)
    ActionChains(browser).move_to_element(hover).perform()
    tip = browser.find_element("id", "tip")
    assert tip.is_displayed()
    assert tip.text.startswith("turn 1")
    assert "full-history" in tip.text
    assert "bm25" in tip.text


def test_the_figures_can_be_read_by_keyboard(open_page):
    from selenium.webdriver import Keys

    browser = open_page()
    hover = browser.find_element("css selector", "figure .wide .hover")
    browser.execute_script("arguments[0].focus()", hover)
    browser.switch_to.active_element.send_keys(Keys.HOME)
    assert browser.find_element("id", "tip").text.startswith("turn 1\n")
    browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert browser.find_element("id", "tip").text.startswith("turn 2\n")
    browser.execute_script("document.querySelector('.bars .mark').focus()")
    assert "input tokens per turn" in browser.find_element("id", "tip").text


def test_the_legend_switches_a_memory_off_in_every_figure(open_page):
    browser = open_page()
    drawn = "[...document.querySelectorAll('.group .wide svg [data-memory=dense]')]"
    shown = f"return {drawn}.filter(node => node.getBoundingClientRect().width).length"
    before = browser.execute_script(shown)
    button = browser.find_element("css selector", ".legend [data-memory=dense]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert before > 2
    assert browser.execute_script(shown) == 0
    assert button.get_attribute("aria-pressed") == "false"


def test_the_log_scale_is_a_click_away(open_page):
    browser = open_page()
    label = browser.find_element("css selector", ".tabs > label:nth-of-type(2)")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", label)
    label.click()
    assert browser.find_element("css selector", ".panel:nth-of-type(2) .wide").is_displayed()
    assert not browser.find_element("css selector", ".panel:nth-of-type(1) .wide").is_displayed()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_overflows_the_page(open_page, width):
    browser = open_page(width)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_a_phone_gets_figures_drawn_for_it(open_page):
    browser = open_page(390)
    assert browser.find_element("css selector", ".narrow svg.bars").is_displayed()
    assert not browser.find_element("css selector", ".wide svg.bars").is_displayed()


def test_a_dark_reader_gets_a_dark_page(open_page):
    colour = "return getComputedStyle(document.body).backgroundColor"
    assert open_page(scheme="light").execute_script(colour) == "rgb(251, 250, 247)"
    assert open_page(scheme="dark").execute_script(colour) == "rgb(20, 23, 26)"
