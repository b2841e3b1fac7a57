"""The built site and its truth, made once for all tests of the example."""

import pytest
from magazine.page import Address, Page
from magazine.site import build_site
from magazine.truth import Truth


@pytest.fixture(scope="session")
def site() -> dict[Address, Page]:
    return build_site()


@pytest.fixture(scope="session")
def truth() -> Truth:
    return Truth.load()
