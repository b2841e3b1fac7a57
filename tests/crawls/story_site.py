"""Made-up prose, and a site of stories with a parameter that has an effect on later pages only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from zlib import crc32

from tests.crawls.site import SYLLABLES, Answer, Route, Site, links, serve


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
        parts = urlsplit(path)
        return self._name(int(parts.path.rpartition("/")[2]), dict(parse_qsl(parts.query))["id"])

    def _name(self, number: int, value: str) -> str:
        return f"{number}/{value if number >= self.turn else 0}"


@contextmanager
def stories(number: int, turn: int) -> Iterator[tuple[Site, Stories]]:
    routes = Stories(number, turn)
    with serve({}) as site:
        site.routes = routes
        yield site, routes
