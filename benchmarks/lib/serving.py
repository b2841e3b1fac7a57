"""Servers on the loopback interface, for as long as a ``with`` block lasts."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
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


def serve_as_proxy(pages: Mapping[str, bytes], ready: Connection) -> None:
    """Serve *pages*, by their URLs, as an HTTP proxy until the process ends; send its URL to *ready*."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Handler)
    ready.send(f"http://127.0.0.1:{server.server_address[1]}")
    server.serve_forever()
