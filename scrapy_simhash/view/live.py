"""LiveView: the overview of a crawl that runs, as a page for the browsers of this machine: ``SIMHASH_LIVE``.

It is served by threads of its own: they run beside any event loop, and a browser that is slow holds up nothing. The
crawl itself only counts, in some 20 us a page.
"""

from __future__ import annotations

import json
import logging
import os
import re
import weakref
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, socket
from socketserver import ThreadingTCPServer
from threading import Lock, Thread
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

from scrapy import signals

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, Once
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.observers.report import line_of
from scrapy_simhash.values import loopback
from scrapy_simhash.view.frame import ascii_lines
from scrapy_simhash.view.overview import LIVE, Overview
from scrapy_simhash.view.overview_page import overview_lines, policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page

logger = logging.getLogger(__name__)

#: Clusters on the page.
CLUSTERS = 100
#: A page is written anew after so many times the processor time that it took to write: so it takes .3 % of a
#: processor at most, however many browsers ask for it.
REST = 300
#: Pages that are counted together: one by one each takes three times as long, for what it needs has left the
#: processor's cache since the page before.
BATCH = 64
#: Seconds that a browser may take to say what it wants.
PATIENCE = 5
#: The value of the header Host: an IPv6 in brackets or something else, and a port.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z.-]+))(?::[0-9]*)?")
#: Seconds between two looks at whether the crawl is over.
_POLL = 0.1


class LiveView(Listener):
    """Counts the pages of a crawl, and shows them. Nothing that goes wrong here is raised once the crawl runs."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        """Listen at the address of SIMHASH_LIVE, with port 0 at any free one. Raises SettingError if it cannot."""
        place = loopback(str(config.live))
        if place is None:
            raise SettingError(f"SIMHASH_LIVE must be an address of this machine, got {config.live!r}")
        host, port = place
        self._view = _View(crawler)
        try:
            self._server = _Server(host, port, self._view)
        except OSError as error:
            raise SettingError(
                f"SIMHASH_LIVE: cannot listen on {host}:{port}: {error.strerror or error}"
            ) from error
        # Also if the crawl never starts.
        self._close = weakref.finalize(self, self._server.server_close)
        self._thread: Thread | None = None
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}/" if ":" in str(host) else f"http://{host!s}:{port}/"

    def spider_opened(self, spider: Spider) -> None:
        """Answer browsers from now on, and log where."""
        self._thread = Thread(
            target=self._server.serve_forever, args=(_POLL,), name="simhash-live", daemon=True
        )
        self._thread.start()
        logger.info("Live view of this crawl: %(url)s", {"url": self.url}, extra={"spider": spider})

    def page_compared(self, page: Page) -> None:
        """Take a page."""
        self.write(line_of(page))

    def write(self, line: Mapping[str, Any]) -> None:
        """Take the line of a page. It is counted with the next ones, or when asked."""
        self._view.take(line)

    def spider_closed(self) -> None:
        """Answer nobody any more."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._close()


class _View:
    """The overview, which the crawl adds to in its thread, and others read in theirs."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        #: Counts and logs what went wrong; to be called where the exception is handled.
        self.give_up = Once(crawler, logger, names.ERRORS_ACTION).tell
        self._overview = Overview(LIVE)
        self._waiting: list[Mapping[str, Any]] = []
        self._lock = Lock()
        self._pages: dict[str, _Written] = {}
        #: One thread at a time writes a page; the others wait for it.
        self._writing = Lock()

    def take(self, line: Mapping[str, Any]) -> None:
        with self._lock:
            self._waiting.append(line)
            if len(self._waiting) >= BATCH:
                self._count()

    def _count(self) -> None:
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            try:
                self._overview.add(line)
            except Exception:
                self.give_up("Error while counting %(about)s for SIMHASH_LIVE", line.get("url"))

    @property
    def _taken(self) -> int:
        return self._overview.pages + len(self._waiting)

    def html(self) -> _Written:
        return self._written("html", lambda facts: "".join(ascii_lines(overview_lines(facts))))

    def json(self) -> _Written:
        return self._written("json", json.dumps)

    def _written(self, kind: str, write: Callable[[dict[str, Any]], str]) -> _Written:
        with self._writing:
            page = self._pages.get(kind)
            if page is None or (monotonic() >= page.fresh_until and page.count != self._taken):
                begun = thread_time()
                with self._lock:
                    self._count()
                    facts = self._overview.as_dict(CLUSTERS)
                body = write(
                    {"source": {"kind": "crawl", "name": self._crawler.spidercls.name}, **facts}
                ).encode("ascii")
                rest = REST * (thread_time() - begun)
                page = self._pages[kind] = _Written(body, facts["pages"], monotonic() + rest)
            return page


class _Written:
    __slots__ = ("body", "count", "fresh_until")

    def __init__(self, body: bytes, count: int, fresh_until: float) -> None:
        self.body = body
        #: Pages of the crawl that it tells of.
        self.count = count
        self.fresh_until = fresh_until


class _Server(ThreadingTCPServer):
    """Not the HTTPServer of the standard library, which asks the name of its own host of the network."""

    # On Windows it would share a port with another program.
    allow_reuse_address = os.name == "posix"
    request_queue_size = 32
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, view: _View) -> None:
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.view = view
        super().__init__((host, port), _Handler)

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        logger.debug("Error while answering a browser", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """Answers GET for two paths, and only whoever calls this machine by its own name."""

    timeout = PATIENCE
    server: _Server

    def do_GET(self) -> None:
        # A page of the web may have a name of its own lead here; it must not read what is here.
        if not _is_own_name(self.headers.get_all("Host") or []):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"This host name is not known here.\n")
            return
        path = self.path.partition("?")[0]
        if path == "/":
            self._send_page("text/html; charset=ascii", self.server.view.html)
        elif path == "/data.json":
            self._send_page("application/json", self.server.view.json)
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"There is no such page. Try / or /data.json.\n")

    def _send_page(self, kind: str, written: Callable[[], _Written]) -> None:
        try:
            page = written()
        except Exception:
            self.server.view.give_up("Error while writing %(about)s for SIMHASH_LIVE", self.path)
            self._send(
                HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", b"An error is in the log of the crawl.\n"
            )
            return
        tag = f'"{page.count}"'
        if self.headers.get("If-None-Match") == tag:
            self._send(HTTPStatus.NOT_MODIFIED, kind, b"", tag)
        else:
            self._send(HTTPStatus.OK, kind, page.body, tag)

    def _send(self, status: HTTPStatus, kind: str, body: bytes, tag: str | None = None) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"{policy(is_live=True)}; frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        if tag is not None:
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Say no versions."""
        return "scrapy-simhash"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the log is that of the crawl."""


def _is_own_name(hosts: list[str]) -> bool:
    """Tell whether *hosts*, all that a request names, is one name of this machine for itself; its port is any.

    >>> [_is_own_name([host]) for host in ("localhost:8000", "127.0.0.1", "[::1]:80", "evil.example:80")]
    [True, True, True, False]
    """
    if len(hosts) != 1:
        return False
    named = _HOST.fullmatch(hosts[0].lower())
    if named is None:
        return False
    name = named[1] or named[2]
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
