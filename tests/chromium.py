"""A real browser for tests of pages; where there is none they are skipped, with the reason."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver here: apt-get install chromium chromium-driver"
)


@contextmanager
def launched() -> Iterator[Any]:
    """A browser without a window, which notes what pages log and what they ask of the network."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def visit(browser: Any, address: str, width: int = 1280, scheme: str = "light") -> Any:
    """Opens a page as a screen of that width and a reader of that taste would."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(address)
    return browser


def asked_the_network(browser: Any) -> list[str]:
    """What the page that is shown asks for when it is loaded anew, but for itself."""
    browser.get_log("performance")  # what came before
    browser.refresh()
    events = [entry["message"] for entry in browser.get_log("performance")]
    asked = [event for event in events if '"Network.requestWillBeSent"' in event]
    assert asked
    return [event for event in asked if "file:///" not in event or "http" in event.split('"url":"')[1][:8]]
