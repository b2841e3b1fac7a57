"""Spiders are imported by the crawls that run them. pytest must not import them: some need a package that may
be missing.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawls.site import Site, serve
from tests.store.server import RedisServer

collect_ignore_glob = ["*spiders.py"]


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Serves the ``PAGES`` of a test file."""
    with serve(request.module.PAGES) as site:
        yield site


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis server that writes acknowledged data to disk at once; otherwise a kill may lose the last
    second.
    """
    pytest.importorskip("redis")
    with RedisServer(tmp_path, appendfsync="always") as server:
        yield server
