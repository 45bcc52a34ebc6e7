"""What tests of pages in a real browser share; each module gives its own ``address``."""

from functools import partial

import pytest

from chromium import launched, visit


@pytest.fixture(scope="module")
def browser():
    with launched() as driver:
        yield driver


@pytest.fixture
def open_page(browser, address):
    return partial(visit, browser, address)
