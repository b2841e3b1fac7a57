"""A site of made-up prose, as large as is wanted: which pages say the same follows from their numbers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from random import Random

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


def page(number: int, clusters: int) -> str:
    """Return page *number*; it says what every page says whose number has the same rest by *clusters*."""
    return (
        f"<!doctype html><title>Story {number % clusters}</title><nav><a href=/>Page {number}</a></nav>"
        f"<main><h1>Story {number % clusters}</h1>{text(number % clusters)}</main>"
    )


def serve_prose(clusters: int, ready: Connection) -> None:
    """Serve ``/<number>`` until the process ends; send the URL of the site to *ready*."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = page(int(self.path[1:]), clusters).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
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


def prose_site(clusters: int) -> AbstractContextManager[str]:
    """Serve the site from a process of its own for as long as the ``with`` block lasts; return its URL."""
    return in_process(serve_prose, clusters)
