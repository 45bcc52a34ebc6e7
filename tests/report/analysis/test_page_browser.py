"""The page of an analysis in a real browser."""

import pytest

from analysed import grid_ledger
from chromium import asked_the_network, needs_browser, visit
from memgauge.analysis.analyze import Choices, analyze
from memgauge.analysis.summary import what_ran
from memgauge.prices import load_card
from memgauge.report.analysis.page import write_analysis_page

pytestmark = needs_browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    frames = grid_ledger(directory)
    found = analyze(frames, load_card("total-recall"), Choices(providers={"groq": 1.0}, resamples=20))
    write_analysis_page(found, what_ran(frames), directory / "analysis.html")
    return (directory / "analysis.html").as_uri()


def point_at(browser, css, across=0.5, up=0.5):
    """Moves the pointer to a place within the first shown element."""
    from selenium.webdriver import ActionChains

    node = next(node for node in browser.find_elements("css selector", css) if node.is_displayed())
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
    box = node.rect
    aside, above = (across - 0.5) * box["width"], (0.5 - up) * box["height"]
    ActionChains(browser).move_to_element_with_offset(node, round(aside), round(above)).perform()
    return browser.find_element("id", "tip").text


def choose(browser, figure, label):
    """Clicks the choice called ``label`` that is shown in a section."""
    css = f"#{figure} .tabs > label"
    node = next(n for n in browser.find_elements("css selector", css) if n.is_displayed() and n.text == label)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
    node.click()


def test_it_loads_without_errors_and_without_the_network(open_page):
    browser = open_page()
    assert asked_the_network(browser) == []
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_overflows_the_page(open_page, width):
    browser = open_page(width)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_who_chooses_a_cell_sees_it_in_every_figure_of_the_section(open_page):
    browser = open_page()
    choose(browser, "cost", "14 × 100")
    bars = next(n for n in browser.find_elements("css selector", "#cost .bars") if n.is_displayed())
    assert "mem0" in bars.text
    assert "full-history" not in bars.text  # which finished no run there
    choose(browser, "cost", "medium")
    checked = "return [...document.querySelectorAll('#cost input:checked[data-kind=cell]')].map(n => n.dataset.choice)"
    assert set(browser.execute_script(checked)) == {"14 × 100"}


def test_the_tooltip_tells_what_was_measured_and_what_was_fitted(open_page):
    browser = open_page()
    choose(browser, "cost", "14 × 100")
    last = point_at(browser, "#cost .lines .hover", across=0.99)
    assert last.startswith("turn 14\n")
    assert "fitted" in last
    assert "fitted" not in point_at(browser, "#cost .lines .hover", across=0.3)


def test_dollars_are_told_as_dollars(open_page):
    browser = open_page()
    choose(browser, "cost", "dollars, nothing cached")
    assert "$" in point_at(browser, "#cost .lines .hover")


def test_the_map_tells_what_is_forecast_at_the_pointer(open_page):
    browser = open_page()
    long = point_at(browser, "#pays .map .hover", across=0.97, up=0.95)
    assert "turns of" in long
    assert "pays from" in long
    short = point_at(browser, "#pays .map .hover", across=0.02, up=0.05)
    assert "never pays" in short


def test_the_legend_switches_a_memory_off_in_its_section(open_page):
    browser = open_page()
    shown = (
        "return [...document.querySelectorAll('#cost .wide svg [data-memory=mem0]')]"
        ".filter(node => node.getBoundingClientRect().width).length"
    )
    before = browser.execute_script(shown)
    button = browser.find_element("css selector", "#cost .legend [data-memory=mem0]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert before > 1
    assert browser.execute_script(shown) == 0


def test_a_column_of_names_is_sorted_as_a_reader_would(open_page):
    browser = open_page()
    head = browser.find_element("css selector", "#pays table thead th:nth-child(2) button")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", head)
    head.click()
    cells = "return [...document.querySelector('#pays table').tBodies[0].rows].map(row => row.cells[1].textContent)"
    found = list(dict.fromkeys(browser.execute_script(cells)))
    assert found == ["6 × 40", "6 × 160", "12 × 80", "14 × 100"]


def test_every_choice_works_without_the_script(browser, address):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        visit(browser, address)
        choose(browser, "cost", "6 × 40")
        pictures = [n for n in browser.find_elements("css selector", "#cost .lines") if n.is_displayed()]
        assert len(pictures) == 1
        assert "about 40 tokens" in pictures[0].text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
