"""A site made for one test: paths and answers, served over HTTP on a free loopback port."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Lock
from typing import Any, NamedTuple, TypeAlias
from xml.sax.saxutils import escape

from magazine.server import in_thread
from magazine.stories import load_stories


class Answer(NamedTuple):
    """A response. *length* is the Content-Length; None for the correct one, -1 for no header."""

    body: bytes | str = ""
    status: int = 200
    content_type: str | None = "text/html; charset=utf-8"
    headers: Mapping[str, str] = {}
    length: int | None = None


#: A page as text, a response, or a function of the number of the visit, counted from 0.
Route: TypeAlias = "str | Answer | Callable[[int], str | Answer]"
Routes: TypeAlias = "Mapping[str, Route]"

SYLLABLES = ("ba", "dor", "el", "fin", "gu", "hal", "ki", "lo", "mar", "nes", "pu", "ri", "sta", "tem", "vo")
STORIES = sorted(key for key in load_stories() if key.startswith("en/"))


def article(number: int = 0, *, title: str = "", before: str = "", after: str = "", key: str = "") -> str:
    """Return a page with the text of a story of the magazine, different for each number."""
    story = load_stories()[key or STORIES[number]]
    text = "\n".join(f"<p>{block.text}</p>" for block in story.blocks)
    return (
        f"<!doctype html><html><head><title>{title or story.title}</title></head><body>"
        f"{before}<main><h1>{story.title}</h1>{text}</main>{after}</body></html>"
    )


def edited(markup: str) -> str:
    """Return the page with three words of its text changed, and the same title and heading."""
    head, start, text = markup.partition("<p>")
    return head + start + text.replace(" and ", " or ", 3)


@cache
def prose(number: int, sentences: int = 12) -> str:
    """Return made-up text, different for each number."""
    random = Random(number)
    words = ["".join(random.choices(SYLLABLES, k=3)) for _ in range(200)]
    made = []
    for _ in range(sentences):
        a, b, c, d, e = random.choices(words, k=5)
        made.append(f"The {a} of the {b} had {c} when it came to the {d}, and there was no {e} in it.")
    return f"<h1>{words[0]} {words[1]}</h1><p>{' '.join(made)}</p>"


def large(number: int = 0, size: int = 300_000) -> str:
    """Return a page of at least *size* bytes of made-up prose, different for each number."""
    # A sentence has about 100 characters.
    return f"<!doctype html><html><body><main>{prose(number, size // 90)}</main></body></html>"


def links(*paths: str) -> str:
    return "<nav>" + " ".join(f'<a href="{path}">{path}</a>' for path in paths) + "</nav>"


def sitemap(urls: Mapping[str, str] | Sequence[str], kind: str = "urlset") -> Answer:
    """Return a sitemap of *urls*, which may have dates, or of sitemaps if *kind* is ``sitemapindex``."""
    dates = urls if isinstance(urls, Mapping) else dict.fromkeys(urls, "")
    entry = {"urlset": "url", "sitemapindex": "sitemap"}[kind]
    entries = "".join(
        f"<{entry}><loc>{escape(url)}</loc><lastmod>{date}</lastmod></{entry}>" for url, date in dates.items()
    )
    text = f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>'
    return Answer(f'<?xml version="1.0"?>{text}', content_type="application/xml")


class Site(ThreadingHTTPServer):
    """Serves *routes*, and 404 for other paths. Counts the requests of each path."""

    # Scrapy opens more connections at once than the default backlog of five.
    request_queue_size = 64
    daemon_threads = True

    def __init__(self, routes: Routes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.routes = dict(routes)
        self.visits: Counter[str] = Counter()
        self._lock = Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no error if a client closed its connection early: tests read what is printed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def urls(self, *paths: str) -> list[str]:
        return [self.url(path) for path in paths]

    def reply(self, path: str, headers: Mapping[str, str]) -> Answer:
        return self.answer(path)

    def answer(self, path: str) -> Answer:
        with self._lock:
            visit = self.visits[path]
            self.visits[path] += 1
        route = self.routes.get(path, Answer("<p>No such page.", 404))
        answer = route(visit) if callable(route) and not isinstance(route, Answer) else route
        return Answer(answer) if isinstance(answer, str) else answer


def serve(routes: Routes) -> AbstractContextManager[Site]:
    return in_thread(Site(routes))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise headers and body, two small writes, wait for each other's acknowledgement: 40 ms a page.
    disable_nagle_algorithm = True
    server: Site

    def do_GET(self) -> None:
        self._send()

    def do_HEAD(self) -> None:
        self._send()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._send()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def _send(self) -> None:
        answer = self.server.reply(self.path, dict(self.headers))
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        length = len(body) if answer.length is None else answer.length
        self.send_response(answer.status)
        if answer.content_type is not None:
            self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if length >= 0:
            self.send_header("Content-Length", str(length))
        if length != len(body):
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = length != len(body)
