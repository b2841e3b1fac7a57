"""The recordings: every page of the example site, built once in memory for all tests, without network or
clock.

Also settings of the whole suite: the number of hypothesis examples, skipped tests, and the order of files.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import Any

import hypothesis
import pytest
from local_redis import MissingProgram
from magazine.page import Address, Page
from magazine.site import build_site

from tests.browser import BROWSER, NO_BROWSER

# No failures on slow machines; two runs test the same.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
# Fewer examples, for a quick run: make test
hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=30)
# More examples, different in each run, see tests/examples.py: make nightly
hypothesis.settings.register_profile(
    "nightly", deadline=None, derandomize=False, max_examples=1000, print_blob=True
)
hypothesis.settings.load_profile("suite")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of test processes: one more than there are cores, because tests of crawls often wait."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before -m deselects the slow tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the recorded pages first, because their failures are the clearest, then the files with slow tests.

    So slow files do not run last.
    """
    slow = set()
    for item in items:
        for mark in item.iter_markers("slow"):
            slow.add(item.path)
            if not (len(mark.args) == 1 and isinstance(mark.args[0], str)):
                raise pytest.UsageError(f'{item.nodeid}: write pytest.mark.slow("why it takes long")')
    items.sort(key=lambda item: (item.path.parent.name != "fixtures", item.path not in slow))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Skip a test that needs a missing program."""
    try:
        return (yield)
    except MissingProgram as missing:
        pytest.skip(str(missing))


pytest_runtest_call = pytest_runtest_setup


@pytest.fixture(scope="session")
def site() -> dict[Address, Page]:
    return build_site(port=8000)


@pytest.fixture(scope="session")
def pages(site: dict[Address, Page]) -> list[Page]:
    """All pages that are sent as HTML, including empty and malformed ones."""
    return [page for page in site.values() if page.is_html]


# Its event loop must end before a test of another file starts its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip(NO_BROWSER)
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER)
        yield opened
        opened.close()
