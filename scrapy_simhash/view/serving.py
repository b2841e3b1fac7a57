"""``report FILE --serve``: serve the overview of a report to browsers on this machine, while the report grows.

The crawl only writes its report. The server reads the lines added since the last request, so it can be started
before, during or after the crawl, and continues when the crawl has ended.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from threading import Lock
from typing import Any

from scrapy_simhash.view.overview import Overview
from scrapy_simhash.view.page import html, policy

#: Seconds between two requests of an open page for new data.
REFRESH = 5
#: Max clusters on the page; all clusters are sent each time.
CLUSTERS = 500
#: Max seconds for a browser to send its request.
TIMEOUT = 5
#: Number of bytes at the beginning of the file that are compared to detect a replaced file.
_HEAD = 512
#: Names of this machine, with any port, because ports may be forwarded.
_LOCAL = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]*)?")


class GrowingReport:
    """The facts of a report that may still be growing. Each line is read once."""

    def __init__(self, path: Path, read_line: Callable[[bytes], Mapping[str, Any] | None]) -> None:
        """*read_line* parses a line, and returns None for an unreadable line."""
        self._path, self._read_line = path, read_line
        self._lock = Lock()
        self._begin(b"")

    def _begin(self, head: bytes) -> None:
        self._head, self._at, self._lines = head, 0, 0
        self._overview = Overview()
        self._facts: dict[str, Any] | None = None

    def facts(self) -> dict[str, Any]:
        """Read new lines, and return the overview of all lines, for JSON. Raises OSError."""
        with self._lock, self._path.open("rb") as file:
            head = file.read(_HEAD)
            # If a new crawl has replaced the file, read it from the beginning.
            if os.fstat(file.fileno()).st_size < self._at or not head.startswith(self._head):
                self._begin(head)
            self._head = head
            file.seek(self._at)
            for line in file:
                # Read an incomplete line again at the next call.
                if not line.endswith(b"\n"):
                    break
                self._add(line)
            if self._facts is None:
                self._facts = {**self._overview.as_dict(str(self._path), CLUSTERS), "refresh": REFRESH}
            return self._facts

    def _add(self, line: bytes) -> None:
        self._at += len(line)
        self._lines += 1
        self._facts = None
        page = self._read_line(line) if line.strip() else None
        if page is not None:
            self._overview.add(page)
        elif line.strip():
            self._overview.bad_lines.add(self._lines)


class ReportServer(ThreadingTCPServer):
    """Serves the overview on 127.0.0.1. An HTTPServer would look up the host name in the network."""

    # Otherwise two programs could share a port on Windows.
    allow_reuse_address = os.name == "posix"
    daemon_threads = True
    # By default, a client waits at least a second if more than five connect at once.
    request_queue_size = 64
    block_on_close = False

    def __init__(self, report: GrowingReport, port: int) -> None:
        """Listen on *port*, 0 for any free port. Raises OSError on failure."""
        self.report = report
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """The URL of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore closed connections, and requests that are not HTTP."""


class _Handler(BaseHTTPRequestHandler):
    timeout = TIMEOUT
    server: ReportServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        # A website can point its host name to this machine (DNS rebinding), but must not read the report.
        if not is_own_name(self.headers.get_all("Host") or []):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", "Unknown host name.\n")
        elif path not in ("/", "/data.json"):
            self._send(HTTPStatus.NOT_FOUND, "text/plain", "Not found. Try / or /data.json.\n")
        else:
            self._send_facts(is_page=path == "/")

    def _send_facts(self, is_page: bool) -> None:
        try:
            facts = self.server.report.facts()
        except OSError as error:
            reason = f"The report cannot be read: {error.strerror or error}.\n"
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", reason)
            return
        if is_page:
            self._send(HTTPStatus.OK, "text/html", html("overview", "Crawl report", facts, True))
        else:
            self._send(HTTPStatus.OK, "application/json", json.dumps(facts))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("ascii", "replace")
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=us-ascii",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"{policy('overview', is_live=True)}; frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Return a server name without versions."""
        return "scrapy-simhash"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def is_own_name(hosts: list[str]) -> bool:
    """Return whether *hosts*, the Host headers of a request, has exactly one entry, a local name of this machine.

    >>> [is_own_name([host]) for host in ("localhost:8000", "127.0.0.1", "[::1]:80", "evil.example:80")]
    [True, True, True, False]
    """
    return len(hosts) == 1 and bool(_LOCAL.fullmatch(hosts[0].lower()))
