"""The recordings: every page of the example site, built in memory once for all tests. No network, no clock."""

from __future__ import annotations

import hypothesis
import pytest
from magazine.page import Address, Page
from magazine.site import build_site

# A slow machine is no failure, and two runs test the same; others with: pytest --hypothesis-profile=default
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.load_profile("suite")


@pytest.fixture(scope="session")
def site() -> dict[Address, Page]:
    return build_site(port=8000)


@pytest.fixture(scope="session")
def pages(site: dict[Address, Page]) -> list[Page]:
    """All pages that are sent as HTML, the empty and the broken ones included."""
    return [page for page in site.values() if page.is_html]
