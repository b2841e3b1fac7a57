"""Serves a changing site over HTTP from a thread, and counts what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from zlib import crc32

from benchmarks.lib.changing_site import ChangingSite
from benchmarks.lib.serving import in_thread


class ChangingServer(ThreadingHTTPServer):
    """Serves *changing* on a free port of the loopback interface; *on_request* gets each path before it is served."""

    request_queue_size = 64
    daemon_threads = True

    def __init__(self, changing: ChangingSite) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.changing = changing
        self.requests = 0
        self.on_request: Callable[[str], None] = lambda path: None
        self.lock = Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that was killed."""

    @property
    def url(self) -> str:
        """The URL of the start page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


def serve_changing(changing: ChangingSite) -> AbstractContextManager[ChangingServer]:
    """Serve from a thread for as long as the ``with`` block lasts."""
    return in_thread(ChangingServer(changing))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChangingServer

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.on_request(self.path)
            self.server.requests += 1
            reply = self.server.changing.reply(self.path)
        body = reply.body.encode()
        etag = f'"{crc32(body):x}"'
        is_page = reply.status == 200 and not reply.is_cut
        if is_page and self.headers.get("If-None-Match") == etag:
            # Of a page whose server sends an old copy, it is a lie.
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(reply.status)
        if is_page:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        # A length that the body never comes to.
        self.send_header("Content-Length", str(len(body) + 100 * reply.is_cut))
        if reply.location is not None:
            self.send_header("Location", reply.location)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = reply.is_cut

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
