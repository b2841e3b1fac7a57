"""The site as readers get it: built once, served from a thread, opened in a real browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.serving import in_thread
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
    with in_thread(server):
        yield f"http://127.0.0.1:{server.server_port}"
