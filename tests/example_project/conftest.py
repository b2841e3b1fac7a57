"""The truth of the example site, read once; the site itself is a fixture of all tests."""

import pytest
from magazine.truth import Truth


@pytest.fixture(scope="session")
def truth() -> Truth:
    return Truth.load()
