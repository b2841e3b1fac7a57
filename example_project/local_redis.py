"""A Redis server of one's own, or a Redis Cluster, for as long as a ``with`` block lasts."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory

from redis import ConnectionError, Redis

PROGRAMS = ("redis-server", "valkey-server")
CLIENTS = ("redis-cli", "valkey-cli")
#: Nodes of a cluster: as few as it can have, and a replica of each.
MASTERS, REPLICAS = 3, 1
#: Seconds in which they find each other.
PATIENCE = 60
HOW_TO_INSTALL = (
    "There is no redis-server on this machine. Install one with `apt install redis-server`, `dnf install valkey` or"
    " `brew install redis`, or set REDIS_URL to the URL of a server that runs elsewhere."
)
#: Seconds between two looks whether the server is up, and how many looks.
PAUSE, LOOKS = 0.02, 500


@contextmanager
def redis_cluster() -> Iterator[str]:
    """Start a cluster of six servers, and yield a URL that names it. Raises as ``redis_server`` does."""
    options = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
    with ExitStack() as stack:
        urls = [stack.enter_context(redis_server(*options)) for _ in range(MASTERS * (1 + REPLICAS))]
        nodes = [url.removeprefix("redis://").partition("/")[0] for url in urls]
        client = next(filter(None, map(shutil.which, CLIENTS)), None)
        if client is None:
            raise FileNotFoundError(HOW_TO_INSTALL)
        command = [
            client,
            "--cluster",
            "create",
            *nodes,
            "--cluster-replicas",
            str(REPLICAS),
            "--cluster-yes",
        ]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)
        if done.returncode:
            raise RuntimeError(f"the cluster did not start: {done.stdout}{done.stderr}")
        for url in urls:
            _wait_for_slots(url)
        yield f"redis+cluster://{','.join(nodes)}"


@contextmanager
def redis_server(*options: str) -> Iterator[str]:
    """Start a server on a free port of the loopback interface, and yield its URL. It keeps nothing on disk.

    Raises FileNotFoundError with what to do if there is no program, RuntimeError if it does not start.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise FileNotFoundError(HOW_TO_INSTALL)
    port = _free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", *options]
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
    while True:
        # A node of a cluster has the port 10,000 above, too. Both are below those that systems give to clients.
        port = random.randrange(12_000, 22_000)
        with socket.socket() as probe, socket.socket() as another, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            another.bind(("127.0.0.1", port + 10_000))
            return port


def _wait_for_slots(url: str) -> None:
    with Redis.from_url(url) as client:
        for _ in range(LOOKS):
            if "cluster_state:ok" in str(client.execute_command("CLUSTER", "INFO")):
                return
            time.sleep(PAUSE)
    raise RuntimeError(f"the nodes of the cluster do not find each other: {url}")


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
