"""A Redis server of one's own, for as long as a ``with`` block lasts."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from redis import ConnectionError, Redis

PROGRAMS = ("redis-server", "valkey-server")
HOW_TO_INSTALL = (
    "There is no redis-server on this machine. Install one with `apt install redis-server`, `dnf install valkey` or"
    " `brew install redis`, or set REDIS_URL to the URL of a server that runs elsewhere."
)
#: Seconds between two looks whether the server is up, and how many looks.
PAUSE, LOOKS = 0.02, 500


@contextmanager
def redis_server() -> Iterator[str]:
    """Start a server on a free port of the loopback interface, and yield its URL. It keeps nothing on disk.

    Raises FileNotFoundError with what to do if there is no program, RuntimeError if it does not start.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise FileNotFoundError(HOW_TO_INSTALL)
    port = _free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    # In a session of its own it does not hear Ctrl-C: the crawls end first, and still need it.
    with (
        TemporaryDirectory() as folder,
        subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        ) as server,
    ):
        url = f"redis://127.0.0.1:{port}/0"
        try:
            _wait(url, server)
            yield url
        finally:
            server.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    with Redis.from_url(url) as client:
        for _ in range(LOOKS):
            try:
                client.ping()
                return
            except ConnectionError:
                if server.poll() is not None:
                    break
                time.sleep(PAUSE)
    raise RuntimeError(f"the server did not start: {server.args!r}")
