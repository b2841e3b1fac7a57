"""A server on the loopback interface that runs during a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from threading import Thread
from typing import TypeVar

AnyServer = TypeVar("AnyServer", bound=BaseServer)


@contextmanager
def in_thread(server: AnyServer) -> Iterator[AnyServer]:
    """Run *server* in a thread, and close it at the end."""
    # Seconds between checks of the stop flag; the default of half a second would slow down every test.
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
