"""Serve the site on the loopback interface: `python -m magazine.server [--port N]` in example_project/.

The Host header selects one of two sites:

    http://127.0.0.1:PORT/    The Harbour Lamp, the magazine
    http://localhost:PORT/    The Estuary Post, the partner
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from threading import Lock, Thread
from typing import Any, TypeVar

from magazine.page import MAIN_HOST, PARTNER_HOST, Address
from magazine.site import build_site, find

AnyServer = TypeVar("AnyServer", bound=BaseServer)


class SiteServer(ThreadingHTTPServer):
    """The server of the site on 127.0.0.1. With port 0, the system chooses a free port, see `port`."""

    # Scrapy opens more connections at once than the default backlog of five.
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        super().__init__((MAIN_HOST, port), _Handler)
        self._site = build_site(self.port)
        self._visits: Counter[Address] = Counter()
        self._lock = Lock()

    @property
    def port(self) -> int:
        """The port in use, also if port 0 was requested."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The URL of the magazine, without a slash at the end."""
        return f"http://{MAIN_HOST}:{self.port}"

    @property
    def partner_url(self) -> str:
        """The URL of the partner's site, without a slash at the end."""
        return f"http://{PARTNER_HOST}:{self.port}"

    def answer(self, address: Address) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body for a request for *address*. Thread-safe."""
        page = find(self._site, address)
        with self._lock:
            visit = self._visits[address]
            self._visits[address] += 1
        return page.status, page.headers, page.body(visit)


def serving() -> AbstractContextManager[SiteServer]:
    """Serve the site on a free port during a `with` block."""
    return in_thread(SiteServer())


@contextmanager
def in_thread(server: AnyServer) -> Iterator[AnyServer]:
    """Run *server* in a thread during a `with` block, and close it at the end; the tests use this, too."""
    # Check the stop flag often; with the default of half a second, every test would take longer.
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the body waits for the acknowledgement of the headers: 40 ms per page.
    disable_nagle_algorithm = True
    server: SiteServer

    def do_GET(self) -> None:
        named = self.headers.get("Host", "").partition(":")[0]
        host = PARTNER_HOST if named == PARTNER_HOST else MAIN_HOST
        status, headers, body = self.server.answer(Address(host, self.path))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m magazine.server", description="Serve the example site.")
    parser.add_argument("--port", type=int, default=8000, help="0 picks a free one (default: %(default)s)")
    with SiteServer(parser.parse_args(arguments).port) as server, suppress(KeyboardInterrupt):
        print(f"The Harbour Lamp   {server.url}/\nThe Estuary Post   {server.partner_url}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
