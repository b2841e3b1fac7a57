"""Spiders are imported by the crawls that run them. pytest must not import them: some need a package that may
be missing.
"""

from collections.abc import Iterator

import pytest

from tests.crawls.site import Site, serve
from tests.store.conftest import client, server  # noqa: F401

collect_ignore_glob = ["*spiders.py"]


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Serves the ``PAGES`` of a test file."""
    with serve(request.module.PAGES) as site:
        yield site
