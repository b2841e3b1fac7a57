"""A server on the loopback interface, for as long as a ``with`` block lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from threading import Thread
from typing import TypeVar

AnyServer = TypeVar("AnyServer", bound=BaseServer)


@contextmanager
def in_thread(server: AnyServer) -> Iterator[AnyServer]:
    """Let *server* serve from a thread, and close it in the end."""
    # The wait between two looks at the stop flag; the default of half a second is felt in every test.
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
