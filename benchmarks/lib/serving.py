"""Servers on the loopback interface, for as long as a ``with`` block lasts."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from threading import Thread
from typing import Any, TypeVar

#: Seconds after which a server that has not come up never will.
PATIENCE = 60

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


@contextmanager
def in_process(serve: Callable[..., None], *arguments: Any) -> Iterator[str]:
    """Call *serve* in a process of its own, and yield the URL that it sends. Raises TimeoutError if it sends none.

    It gets *arguments*, and at last the connection by which it sends the URL; it is ended, so it need not return.
    """
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=serve, args=(*arguments, sender), daemon=True)
    process.start()
    sender.close()  # so that a server that dies ends the wait
    try:
        if not receiver.poll(PATIENCE):
            raise TimeoutError(f"the server did not come up within {PATIENCE} s")
        yield receiver.recv()
    finally:
        process.terminate()
        process.join()
        process.close()
        receiver.close()
