"""A shop that puts a new session id into each of its links, with sort orders and print views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from zlib import crc32

from tests.crawls.site import SYLLABLES, Answer, Route, Site, links, serve

CATEGORIES = 20
THINGS = 12
#: Home, categories, things.
USEFUL = 1 + CATEGORIES + CATEGORIES * THINGS
ORDERS = ("price", "name", "new")


@cache
def prose(number: int, sentences: int = 12) -> str:
    """Return made-up text, different for each number."""
    random = Random(number)
    words = ["".join(random.choices(SYLLABLES, k=3)) for _ in range(200)]
    said = []
    for _ in range(sentences):
        a, b, c, d, e = random.choices(words, k=5)
        said.append(f"The {a} of the {b} had {c} when it came to the {d}, and there was no {e} in it.")
    return f"<h1>{words[0]} {words[1]}</h1><p>{' '.join(said)}</p>"


class Shop(dict[str, Route]):
    """The routes. *mark* returns the parameters of the next link."""

    def __init__(self, mark: Callable[[], str]) -> None:
        super().__init__()
        self.mark = mark
        #: How often each page was served, at any URL.
        self.pages: Counter[str] = Counter()

    def get(self, path: str, otherwise: Any = None) -> Any:
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        page = self._page(parts.path, query)
        if page is None:
            return Answer("<p>No such page.", 404)
        self.pages[parts.path] += 1
        return page

    def link(self, path: str) -> str:
        """Return *path* as the shop links to it."""
        mark = self.mark()
        return f"{path}{'&' if '?' in path else '?'}{mark}" if mark else path

    def _page(self, path: str, query: dict[str, str]) -> str | None:
        kind, _, number = path.strip("/").partition("/")
        home = self.link("/")
        if path == "/":
            return self._html(prose(1), *(f"/category/{each}" for each in range(CATEGORIES)))
        if kind == "print":
            thing = int(number.partition("/")[2])
            return f"<html><body>{links(home)}<main>{prose(10_000 + thing)}</main></body></html>"
        if kind == "category":
            first = int(number) * THINGS
            things = [f"/thing/{first + each}" for each in range(THINGS)]
            if "sort" in query:
                Random(query["sort"]).shuffle(things)
            orders = [f"{path}?sort={order}" for order in ORDERS]
            return self._html(prose(100 + int(number)), *things, *orders, "/")
        if kind == "thing":
            thing = int(number)
            beside = [f"/thing/{(thing + step) % (CATEGORIES * THINGS)}" for step in (1, 7)]
            return self._html(
                prose(10_000 + thing), f"/category/{thing // THINGS}", f"/print/thing/{thing}", "/", *beside
            )
        return None

    def _html(self, text: str, *paths: str) -> str:
        return f"<!doctype html><html><body>{links(*map(self.link, paths))}<main>{text}</main></body></html>"


@contextmanager
def shop(mark: Callable[[], str] | None = None) -> Iterator[tuple[Site, Shop]]:
    """Serve a shop; by default each link has a new session id."""
    numbers = count(1)
    routes = Shop(mark or (lambda: f"sid={Random(next(numbers)).getrandbits(64):016x}"))
    with serve({}) as site:
        site.routes = routes
        yield site, routes


class Stories(dict[str, Route]):
    """Stories, each linked with three values of ``id``. From the page *turn* on, each value is another story."""

    def __init__(self, number: int, turn: int) -> None:
        super().__init__()
        self.number = number
        self.turn = turn
        #: The stories that were sent, in that order.
        self.sent: list[str] = []

    @property
    def names(self) -> set[str]:
        """All stories."""
        return {self._name(number, value) for number in range(self.number) for value in "012"}

    def get(self, path: str, otherwise: Any = None) -> Any:
        parts = urlsplit(path)
        kind, _, number = parts.path.strip("/").partition("/")
        if kind == "robots.txt":
            return Answer("", 404)
        first = int(number or 0)
        if kind != "story":
            paths = [f"/story/{each}?id={value}" for each in range(first, first + 10) for value in "012"]
            following = [f"/list/{first + 10}"] if first + 10 < self.number else []
            return f"<html><body>{links(*paths, *following)}<main>{prose(first)}</main></body></html>"
        name = self.name_at(path)
        self.sent.append(name)
        return f"<html><body><main>{prose(50_000 + crc32(name.encode()))}</main></body></html>"

    def name_at(self, path: str) -> str:
        """Return the story at *path*."""
        parts = urlsplit(path)
        return self._name(int(parts.path.rpartition("/")[2]), dict(parse_qsl(parts.query))["id"])

    def _name(self, number: int, value: str) -> str:
        return f"{number}/{value if number >= self.turn else 0}"


@contextmanager
def stories(number: int, turn: int) -> Iterator[tuple[Site, Stories]]:
    """Serve stories."""
    routes = Stories(number, turn)
    with serve({}) as site:
        site.routes = routes
        yield site, routes
