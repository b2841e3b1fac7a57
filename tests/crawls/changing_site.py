"""A site that changes by a script, its server, and the expected change feed of a crawl.

The start page links to six lists, and each page is on one list. In each generation pages are edited, moved,
deleted, restored and added. In every other generation servers fail, so the crawl is incomplete: pages without
links are reported in the next generation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from benchmarks.lib.serving import in_thread

LISTS = 6
#: Pages of each list at the beginning.
ON_A_LIST = 8
#: Failures of the server, and of robots.txt.
FAILURES = (503, 500, "cut off", "forbidden")
_NOUNS = "ferry harbour captain bridge lantern river museum winter market school ladder garden letter engine".split()
_VERBS = "carried painted followed repaired borrowed measured answered watched forgotten promised".split()


class Told(NamedTuple):
    """A change that a crawl must report."""

    path: str
    change: str
    previous: str | None = None


def told(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the feed ``changes.jsonl`` in *folder*."""
    file = folder / "changes.jsonl"
    return [json.loads(line) for line in file.read_text("ascii").splitlines()] if file.exists() else []


def as_told(line: dict[str, Any]) -> Told:
    """Return a line of the feed as a change in the format of the script."""
    previous = line["previous_url"]
    return Told(urlsplit(line["url"]).path, line["change"], previous and urlsplit(previous).path)


class Reply(NamedTuple):
    """The response for a path: a page if *status* is 200, and a truncated one if *is_cut* is true."""

    status: int = 200
    body: str = ""
    location: str | None = None
    is_cut: bool = False


class ChangingSite:
    """The site in one generation. `next()` changes the site; *truth* then has the expected changes by
    generation.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)
        self._texts = 0
        self.generation = 0
        #: By path: number of the text, and number of small edits.
        self.pages: dict[str, tuple[int, int]] = {}
        self.lists: list[list[str]] = []
        self.redirects: dict[str, str] = {}
        #: Paths that answer 404 or 410 but are still linked.
        self.missing: dict[str, int] = {}
        #: Paths that fail in this generation, with the kind of failure.
        self.failing: dict[str, int | str] = {}
        #: Paths for which the server sends the text of the previous generation.
        self.stale: dict[str, tuple[int, int]] = {}
        self._deleted: dict[str, tuple[int, int]] = {}
        #: Pages without any links to them, and their texts.
        self._unseen: dict[str, tuple[int, int]] = {}
        self._lies: list[str] = []
        self.truth: list[set[Told]] = [set()]
        for number in range(LISTS):
            self.lists.append([])
            for _ in range(ON_A_LIST):
                self._add(number)
        self.truth[0] |= {Told(path, "new") for path in ("/", *(f"/list/{n}" for n in range(LISTS)))}

    def reply(self, path: str) -> Reply:
        """Return the current response for *path*."""
        failure = self.failing.get(path)
        if isinstance(failure, int):
            return Reply(failure, "<p>Out of order.")
        if path == "/robots.txt":
            rules = "".join(
                f"Disallow: {path}$\n" for path, how in self.failing.items() if how == "forbidden"
            )
            return Reply(200, f"User-agent: *\n{rules}")
        is_cut = failure == "cut off"
        if path == "/":
            return Reply(200, _page("start", 0, [f"/list/{n}" for n in range(LISTS)]), is_cut=is_cut)
        if path.startswith("/list/"):
            number = int(path.rpartition("/")[2])
            return Reply(200, _page(f"list {number}", 0, self.lists[number]), is_cut=is_cut)
        if path in self.redirects:
            return Reply(301, location=self.redirects[path])
        if path in self.missing or path not in self.pages:
            return Reply(self.missing.get(path, 404), "<p>No such page.")
        text, edits = self.stale.get(path, self.pages[path])
        return Reply(200, _page(f"text {text}", edits, []), is_cut=is_cut)

    def next(self) -> None:
        """Advance to the next generation."""
        self.generation += 1
        told: set[Told] = set()
        self.truth.append(told)
        # Wrong responses are corrected now: the page still exists, or changed a generation ago.
        lied_about = {*self._lies, *self.stale}
        for path in self._lies:
            del self.missing[path]
            told.add(Told(path, "back"))
        told |= {Told(path, "changed") for path in self.stale}
        self._lies, self.stale, self.failing = [], {}, {}
        # A failing list hides its pages, so they do not change: no report is late.
        hidden = self._random.choice([n for n in range(LISTS) if not lied_about & set(self.lists[n])])
        has_failures = self.generation % 2 == 1
        if has_failures:
            self.failing[f"/list/{hidden}"] = self._random.choice(FAILURES)
        texts = Counter(text for text, _ in self.pages.values())
        free = [
            (number, path)
            for number, paths in enumerate(self.lists)
            if number != hidden
            for path in paths
            if path in self.pages
            and path not in self.missing
            and path not in {t.path for t in told}
            # If two pages have the same text, the moved page may be either.
            and texts[self.pages[path][0]] == 1
        ]
        self._random.shuffle(free)
        script = (
            [self._edit, self._edit_a_little, self._move, self._unlink, self._delete] * 2
            + [self._fail] * 2 * has_failures
            + [self._move_with_redirect, self._move_with_missing, self._copy]
            + [self._lie_missing, self._lie_stale]
        )
        for happen in script:
            number, path = free.pop()
            happen(number, path)
        back = [path for path in sorted(self._deleted) if self._random.random() < 0.3]
        for path in back:
            self._bring_back(next(n for n in range(LISTS) if n != hidden), path)
        for _ in range(3):
            self._add(next(n for n in range(LISTS) if n != hidden))
        if not has_failures:
            told |= {self._unseen_now(path) for path in self._unseen}
            self._unseen.clear()

    def _unseen_now(self, path: str) -> Told:
        """Return what a complete crawl reports for *path* if it does not see the page: its text may be
        elsewhere.
        """
        there = [
            other
            for other, text in self.pages.items()
            if other not in self.missing and self.stale.get(other, text) == self._unseen[path]
        ]
        return Told(there[0], "moved", path) if there else Told(path, "not_seen")

    # --- Changes to a page, and the expected reports.

    def _add(self, number: int) -> None:
        self._texts += 1
        path = f"/page/{self._texts}"
        self.pages[path] = self._texts, 0
        self.lists[number].append(path)
        self._tell(path, "new")

    def _edit(self, number: int, path: str) -> None:
        self._texts += 1
        self.pages[path] = self._texts, 0
        self._tell(path, "changed")

    def _edit_a_little(self, number: int, path: str) -> None:
        text, edits = self.pages[path]
        self.pages[path] = text, edits + 1
        self._tell(path, "small_change")

    def _move(self, number: int, path: str) -> None:
        new = self._moved(path)
        self._replace(number, path, new)
        self._unseen[path] = self.pages[new]

    def _move_with_redirect(self, number: int, path: str) -> None:
        # The old URL stays on its list.
        self.redirects[path] = self._moved(path)
        self._unseen[path] = self.pages[self.redirects[path]]

    def _move_with_missing(self, number: int, path: str) -> None:
        self.missing[path] = 404
        new = self._moved(path)
        self.lists[(number + 1) % LISTS if self._is_open(number + 1) else number].append(new)
        self._tell(new, "moved", path)

    def _moved(self, path: str) -> str:
        new = f"{path}-moved"
        self.pages[new] = self.pages.pop(path)
        self._tell(new, "new")
        return new

    def _unlink(self, number: int, path: str) -> None:
        self.lists[number].remove(path)
        self._deleted[path] = self.pages.pop(path)
        self._unseen[path] = self._deleted[path]

    def _delete(self, number: int, path: str) -> None:
        self._deleted[path] = self.pages.pop(path)
        self.missing[path] = self._random.choice((404, 410))
        self._tell(path, "gone")

    def _copy(self, number: int, path: str) -> None:
        copy = f"{path}-copy-{self.generation}"
        self.pages[copy] = self.pages[path]
        self.lists[number].append(copy)
        self._tell(copy, "new")

    def _fail(self, number: int, path: str) -> None:
        self.failing[path] = self._random.choice(FAILURES)

    def _lie_missing(self, number: int, path: str) -> None:
        self.missing[path] = 404
        self._lies.append(path)
        self._tell(path, "gone")

    def _lie_stale(self, number: int, path: str) -> None:
        self.stale[path] = self.pages[path]
        self._texts += 1
        self.pages[path] = self._texts, 0

    def _bring_back(self, number: int, path: str) -> None:
        if path not in self.missing:
            self.lists[number].append(path)
        elif not any(path in paths and self._is_open(n) for n, paths in enumerate(self.lists)):
            return
        self.missing.pop(path, None)
        self.pages[path] = self._deleted.pop(path)
        if Told(path, "gone") in self.truth[-1]:
            # The page was added and removed within one generation.
            self.truth[-1].discard(Told(path, "gone"))
        elif self._unseen.pop(path, None) is None:
            self._tell(path, "back")

    def _is_open(self, number: int) -> bool:
        return f"/list/{number % LISTS}" not in self.failing

    def _replace(self, number: int, path: str, new: str) -> None:
        paths = self.lists[number]
        paths[paths.index(path)] = new

    def _tell(self, path: str, change: str, previous: str | None = None) -> None:
        self.truth[-1].add(Told(path, change, previous))


def _page(text: str, edits: int, links: list[str]) -> str:
    """Return a page with a unique text; each edit changes one word."""
    sentences = list(_sentences(text))
    for edit in range(edits):
        sentences[edit] = sentences[edit].replace(" and ", f" and the {_NOUNS[edit]} and ", 1)
    paragraphs = "".join(f"<p>{' '.join(sentences[at : at + 3])}</p>" for at in range(0, len(sentences), 3))
    bar = " ".join(f'<a href="{path}">{path}</a>' for path in links)
    return (
        f"<!doctype html><html lang=en><title>{text.title()}</title><body><nav>{bar}</nav>"
        f"<main><h1>The {text}</h1>{paragraphs}</main></body></html>"
    )


def _sentences(text: str) -> Iterator[str]:
    random = Random(text)
    for _ in range(24):
        a, b, c = random.sample(_NOUNS, 3)
        d, e = random.sample(_VERBS, 2)
        n = random.randrange(2, 1_000)
        yield f"The {a} and the {b} had been {d} by {n} of the people, and the {c} was {e} when it was told to them."


class ChangingServer(ThreadingHTTPServer):
    """Serves *changing* on a free loopback port; *on_request* is called with each path before the response is
    sent.
    """

    request_queue_size = 64
    daemon_threads = True

    def __init__(self, changing: ChangingSite) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.changing = changing
        self.requests = 0
        self.on_request: Callable[[str], None] = lambda path: None
        self.lock = Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that was killed."""

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
            # A server that sends an old copy must answer the request wrongly.
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(reply.status)
        if is_page:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        # A length greater than that of the body.
        self.send_header("Content-Length", str(len(body) + 100 * reply.is_cut))
        if reply.location is not None:
            self.send_header("Location", reply.location)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = reply.is_cut

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
