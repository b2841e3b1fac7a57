"""The recordings: every page of the example site, built in memory once for all tests. No network, no clock.

Also what holds for the whole suite: how many examples hypothesis tries, which tests are slow, and the order of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from magazine.page import Address, Page
from magazine.site import build_site

from tests.browser import BROWSER, NO_BROWSER

# A slow machine is no failure, and two runs test the same.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
# Fewer, for a run that somebody waits for:  make test
hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=30)
# Others each time, and more, see tests/examples.py:  make nightly
hypothesis.settings.register_profile(
    "nightly", deadline=None, derandomize=False, max_examples=1000, print_blob=True
)
hypothesis.settings.load_profile("suite")

#: Seconds. A test that takes longer is marked as slow, with the reason.
LONG = 10


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes run tests: one more than there are cores, as tests of crawls wait a good deal."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # the slow ones are still among them
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the recorded pages first, which tell soonest what is wrong, then the files with slow tests.

    So no process works on a slow one when the others have nothing left.
    """
    slow = set()
    for item in items:
        for mark in item.iter_markers("slow"):
            slow.add(item.path)
            if not (len(mark.args) == 1 and isinstance(mark.args[0], str)):
                raise pytest.UsageError(f'{item.nodeid}: write pytest.mark.slow("why it takes long")')
    items.sort(key=lambda item: (item.path.parent.name != "fixtures", item.path not in slow))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that took long and are not marked as slow. A hint, no failure: other programs may be running."""
    seconds: dict[str, float] = {}
    for report in terminalreporter.getreports("") + terminalreporter.getreports("passed"):
        if "slow" not in report.keywords:
            seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    if long := [name for name, taken in seconds.items() if taken > LONG]:
        terminalreporter.section(f"longer than {LONG} s, and not marked slow")
        for name in long:
            terminalreporter.write_line(f"{seconds[name]:.0f} s {name}")


@pytest.fixture(scope="session")
def site() -> dict[Address, Page]:
    return build_site(port=8000)


@pytest.fixture(scope="session")
def pages(site: dict[Address, Page]) -> list[Page]:
    """All pages that are sent as HTML, the empty and the broken ones included."""
    return [page for page in site.values() if page.is_html]


# It has an event loop that runs between tests, so it must be gone when a test of another file starts its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip(NO_BROWSER)
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER)
        yield opened
        opened.close()
