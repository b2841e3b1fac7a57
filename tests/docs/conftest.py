"""The site as readers get it: built once, served from a thread, opened in a real browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser import BROWSER, NO_BROWSER
from tests.docs.reader import DOCS, ROOT


@dataclass(frozen=True)
class Built:
    """A built site: its folder, the exit code of Sphinx, and what Sphinx said."""

    folder: Path
    code: int
    said: str


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q"]
    command += ["-d", str(folder / "trees"), str(DOCS), str(folder / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=300)
    return Built(folder / "html", done.returncode, done.stderr)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the browser tells what it misses."""


@pytest.fixture(scope="session")
def address(built: Built) -> Iterator[str]:
    """Return the address of the site, without a slash at its end."""
    assert built.code == 0, built.said
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(built.folder)))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
