"""Generated sites with superfluous URLs, each from a description.

A page has one key at all its URLs: fetched and lost pages are counted by key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

SYLLABLES = "ba do fe gi ku la me no pi ra so tu va wi zo ren tal mor ken dis".split()
FACETS = "blue green large light red round small wool".split()
FOLDER = "item"
#: Facets that may be combined.
MOST_CHOSEN = 3
#: Parameters without effect, with the number of values of each.
MARKS: dict[str, dict[str, int]] = {
    "fresh session": {"sid": 2**48},
    "session and time": {"session": 2**48, "ts": 2**32},
    "twelve sessions": {"s": 12},
    "utm": {"utm_source": 9, "utm_medium": 9},
    "ref": {"ref": 400, "src": 1},
}
IDLE = {"print", "sort", *(name for marks in MARKS.values() for name in marks)}
#: Ways to write the chosen facets into the URL of a list; the empty one is for sites without facets.
NARROWED: dict[str, Callable[[Sequence[str]], str]] = {
    "": lambda chosen: "",
    "values": lambda chosen: f"?f={','.join(chosen)}",
    "segments": lambda chosen: f"/{'/'.join(chosen)}",
    "indexed": lambda chosen: "?" + "&".join(f"f[{at}]={value}" for at, value in enumerate(chosen)),
    "parameters": lambda chosen: "?" + "&".join(f"f={value}" for value in chosen),
}


@cache
def words(seed: str, number: int) -> str:
    """Return made-up words, different for each *seed*."""
    random = Random(seed)
    return " ".join("".join(random.choices(SYLLABLES, k=random.randint(2, 3))) for _ in range(number))


class Page(NamedTuple):
    """A page of a site; its links have no parameters from `MARKS` yet."""

    key: str
    kind: str
    title: str
    text: Sequence[str]
    links: Sequence[str] = ()


@dataclass
class Description:
    """The features of a site."""

    name: str
    sections: int = 10
    """Number of lists, and of things on each."""
    things: int = 20
    marks: Sequence[str] = ()
    """Parameters that are added to links: keys of `MARKS`."""
    facets: str = ""
    """Form of the facets in URLs: a key of `NARROWED`."""
    has_print: bool = False
    """Whether each thing has a print view, and each list two orders."""
    has_calendar: bool = False
    """Whether there is a calendar without end, with events in one year."""
    has_login: bool = False
    """Whether each thing links to a login page that leads back to it."""
    has_search: bool = False
    """Whether there is a search whose filters can be combined without end."""
    seed: int = 1


def random_description(seed: int) -> Description:
    """Return a random site description."""
    random = Random(seed)
    sizes = random.choice((3, 6, 12)), random.choice((4, 8, 12))
    marks = random.sample(list(MARKS), random.randrange(4))
    facets = random.choice(list(NARROWED)) if random.random() < 0.4 else ""
    has_print, has_calendar, has_login, has_search = (random.random() < 0.4 for _ in range(4))
    name, (sections, things) = f"site {seed}", sizes
    return Description(
        name, sections, things, marks, facets, has_print, has_calendar, has_login, has_search, seed
    )


@dataclass
class Site:
    """Answers URLs as a server would."""

    about: Description
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.about.seed)

    def answer(self, url: str) -> tuple[str, str] | None:
        """Return the key of the page at *url*, and its HTML; None if there is none."""
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        page = self._page(parts.path, [(name, value) for name, value in query if name not in IDLE])
        if page is None:
            return None
        links = list(page.links)
        if self.about.has_print and page.kind == "thing":
            links.append(f"{parts.path}?print=1")
        if self.about.has_print and page.kind == "list" and not self.about.facets:
            links += [f"{parts.path}?sort=price", f"{parts.path}?sort=name"]
        body = "".join(f"<p>{each}</p>" for each in page.text)
        anchors = "".join(
            f'<a href="{self._marked(each).replace("&", "&amp;")}">{re.split("[/=,]", each)[-1]}</a>'
            for each in links
        )
        return page.key, f"<title>{page.title}</title><main><h1>{page.title}</h1>{body}</main>{anchors}"

    def keys(self) -> set[str]:
        """Return the keys of all pages that a crawl should fetch."""
        about = self.about
        found = {"/", *(f"/{FOLDER}/{number}" for number in range(about.sections * about.things))}
        for number in range(about.sections):
            for size in range((MOST_CHOSEN if about.facets else 0) + 1):
                found |= {f"/list/{number}?{','.join(each)}" for each in combinations(sorted(FACETS), size)}
        if about.has_calendar:
            found |= {f"/calendar/{12 * 2024 + month}" for month in range(12)}
        return found | {
            name for name, has in (("login", about.has_login), ("search", about.has_search)) if has
        }

    def _marked(self, url: str) -> str:
        """Return *url* as a page links to it."""
        marks = [
            f"{name}={self.random.randrange(values):x}"
            for mark in self.about.marks
            for name, values in MARKS[mark].items()
            if self.random.random() < 0.8
        ]
        return f"{url}{'&' if '?' in url else '?'}{'&'.join(marks)}" if marks else url

    def _page(self, path: str, query: Sequence[tuple[str, str]]) -> Page | None:
        """Return the page at *path* with a *query* that has no ineffective parameters."""
        about = self.about
        number = about.sections * about.things
        kind, _, place = path[1:].partition("/")
        if path == "/":
            more = ["/calendar/2024/1"] * about.has_calendar + ["/search?q=1"] * about.has_search
            lists = [f"/list/{section}" for section in range(about.sections)]
            return Page("/", "home", f"All of {about.name}", [words("home", 80)], [*lists, *more])
        if kind == FOLDER and place.isdecimal() and int(place) < number:
            beside = [f"/{FOLDER}/{(int(place) + step) % number}" for step in (1, 7)]
            login = [f"/login?back={path}"] * about.has_login
            text = [words(f"{about.name} {place} {part}", 40) for part in range(3)]
            links = [f"/list/{int(place) // about.things}", *beside, *login]
            return Page(path, "thing", words(f"t{place}", 3), text, links)
        if kind == "list":
            return self._list(place, query)
        if kind == "calendar":
            return self._month(*map(int, place.split("/")))
        if kind == "login":
            return Page("login", "login", "Sign in", ["Please sign in to reply to this page."])
        chosen = dict(query)
        links = [
            f"/search?{_query({**chosen, name: str(int(chosen.get(name, 0)) + 1)})}" for name in "cfmqsy"
        ]
        return Page("search", "search", "Search", [words("no results", 60)], links)

    def _list(self, place: str, query: Sequence[tuple[str, str]]) -> Page | None:
        about = self.about
        number, _, segments = place.partition("/")
        values = [value for _, value in query for value in value.split(",")] + segments.split("/")
        chosen = [value for value in values if value]
        if len(set(chosen)) < len(chosen) or len(chosen) > MOST_CHOSEN:
            return None
        things = [
            thing
            for thing in range(int(number) * about.things, (int(number) + 1) * about.things)
            if all(Random(f"{facet}{thing}").random() < 0.8 for facet in chosen)
        ]
        text = [f"{words(f't{thing}', 3)}: {words(f'about {thing}', 9)}" for thing in things]
        links = [f"/{FOLDER}/{thing}" for thing in things]
        if about.facets and len(chosen) < MOST_CHOSEN:
            narrowed = NARROWED[about.facets]
            links += [f"/list/{number}{narrowed([*chosen, one])}" for one in FACETS if one not in chosen]
        title = f"List {number} {' '.join(sorted(chosen))}"
        key = f"/list/{number}?{','.join(sorted(chosen))}"
        return Page(key, "list", title, text or ["Nothing found."], links)

    def _month(self, year: int, month: int) -> Page:
        at = 12 * year + month - 1
        beside = [f"/calendar/{each // 12}/{each % 12 + 1}" for each in (at - 1, at + 1)]
        text = (
            words(f"event {at}", 30)
            if year == 2024
            else "There are no events in this month. Do you know of one?"
        )
        key = f"/calendar/{at}" if year == 2024 else "empty month"
        return Page(key, "calendar", f"Month {month} of {year}", [text], beside)


def _query(parameters: dict[str, str]) -> str:
    return "&".join(f"{name}={value}" for name, value in parameters.items())
