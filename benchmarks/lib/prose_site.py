"""A site of made-up prose, as large as is wanted: which pages say the same follows from their numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from random import Random
from zlib import crc32

from benchmarks.lib.serving import in_process

SYLLABLES = ("ba", "dor", "el", "fin", "gu", "hal", "ki", "lo", "mar", "nes", "pu", "ri", "sta", "tem", "vo")
SENTENCES = 24


@cache
def text(cluster: int) -> str:
    """Return the text of all pages of a cluster; those of different ones have next to nothing in common."""
    random = Random(cluster)

    def word() -> str:
        return "".join(random.choices(SYLLABLES, k=3))

    return "".join(
        f"<p>The {word()} of the {word()} had {word()} when it came to the {word()}, and no {word()} was in it."
        for _ in range(SENTENCES)
    )


def page(number: int, clusters: int) -> bytes:
    """Return page *number*; it says what every page says whose number has the same rest by *clusters*."""
    return (
        f"<!doctype html><title>Story {number % clusters}</title><nav><a href=/>Page {number}</a></nav>"
        f"<main><h1>Story {number % clusters}</h1>{text(number % clusters)}</main>"
    ).encode()


def etag_of(body: bytes) -> str:
    """Return an ETag as servers make them, of 16 digits."""
    return f'"{crc32(body):08x}{len(body):08x}"'


def serve(page_of: Callable[..., bytes], arguments: tuple[int, ...], ready: Connection) -> None:
    """Serve what *page_of* returns for each number until the process ends; send the URL of the site to *ready*."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = page_of(int(self.path[1:]), *arguments)
            is_known = self.headers.get("If-None-Match") == etag_of(body)
            self.send_response(304 if is_known else 200)
            self.send_header("ETag", etag_of(body))
            if not is_known:
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if not is_known:
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: crawlers are killed at times."""

    server = Server(("127.0.0.1", 0), Handler)
    ready.send(f"http://127.0.0.1:{server.server_address[1]}/")
    server.serve_forever()


def served(page_of: Callable[..., bytes], *arguments: int) -> AbstractContextManager[str]:
    """Serve the pages of ``page_of(number, *arguments)`` from a process of its own; yield the URL of the site.

    They have ETags, and are at ``/<number>``.
    """
    return in_process(serve, page_of, arguments)
