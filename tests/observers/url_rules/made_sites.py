"""Made-up sites with superfluous URLs, each made from a description: what it has, and what is put on its links.

A page has one key, under whatever URL it comes: what a crawl has fetched and what it has lost is counted by keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from itertools import combinations
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

_SYLLABLES = "ba do fe gi ku la me no pi ra so tu va wi zo ren tal mor ken dis".split()
MONTHS = "January February March April May June July August September October November December".split()
FACETS = "blue green large light red round small wool".split()
#: Facets that may be chosen together.
MOST_CHOSEN = 3


@cache
def words(seed: str, number: int) -> str:
    """Return made-up words; another *seed* gives others."""
    random = Random(seed)
    return " ".join("".join(random.choices(_SYLLABLES, k=random.randint(2, 3))) for _ in range(number))


class Page(NamedTuple):
    """A page of a site; its links have no marks yet."""

    key: str
    kind: str
    title: str
    text: Sequence[str]
    links: Sequence[str] = ()


@dataclass
class Description:
    """What a site is made of."""

    name: str
    sections: int = 10
    """Lists, each with so many things."""
    things: int = 20
    marks: Sequence[str] = ()
    """What is put on links: keys of `MARKS`."""
    facets: str = ""
    """How lists are narrowed: ``values``, ``indexed``, ``segments`` or ``parameters``; empty for not at all."""
    has_print: bool = False
    """Whether each thing has a print view, and each list three orders."""
    has_calendar: bool = False
    """Whether there is a calendar without end, whose days have events now and then."""
    has_login: bool = False
    """Whether each thing links to a login page that leads back to it."""
    has_search: bool = False
    """Whether there is a search whose filters can be put together without end."""
    seed: int = 1
    folder: str = "item"


def _fresh(random: Random) -> list[str]:
    return [f"sid={random.getrandbits(48):012x}"]


def _two_fresh(random: Random) -> list[str]:
    return [f"session={random.getrandbits(48):012x}", f"ts={random.getrandbits(32)}"]


def _visitor(random: Random) -> list[str]:
    return [f"s={random.randrange(12):08x}"]


def _utm(random: Random) -> list[str]:
    return (
        [f"utm_source=n{random.randrange(9)}", f"utm_medium=m{random.randrange(9)}"]
        if random.random() < 0.7
        else []
    )


def _ref(random: Random) -> list[str]:
    return [f"ref=page{random.randrange(400)}", "src=list"] if random.random() < 0.8 else []


#: Parameters that have no effect.
MARKS: dict[str, Callable[[Random], list[str]]] = {
    "fresh session": _fresh,
    "session and time": _two_fresh,
    "twelve sessions": _visitor,
    "utm": _utm,
    "ref": _ref,
}
IDLE = frozenset("sid session ts s utm_source utm_medium ref src print sort".split())
ORDERS = ("price", "name", "new")


@dataclass
class Site:
    """Answers URLs as a server would."""

    about: Description
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.about.seed)

    def link(self, url: str) -> str:
        """Return *url* as a page links to it."""
        marks = [mark for name in self.about.marks for mark in MARKS[name](self.random)]
        return f"{url}{'&' if '?' in url else '?'}{'&'.join(marks)}" if marks else url

    def answer(self, url: str) -> tuple[Page, str] | None:
        """Return the page at *url*, and its HTML; None if there is none."""
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        order = next((value for name, value in query if name == "sort"), "")
        page = self.page(parts.path, [(name, value) for name, value in query if name not in IDLE])
        if page is None:
            return None
        texts, links = list(page.text), list(page.links)
        if order:
            # The same list in another order.
            Random(order).shuffle(texts)
        if page.kind == "list" and self.about.has_print:
            bare = f"{parts.path}{'?' if '?' in url else ''}"
            links += [f"{bare.rstrip('?')}?sort={each}" for each in ORDERS] if not self.about.facets else []
        if page.kind == "thing" and self.about.has_print:
            links.append(f"{parts.path}?print=1")
        menu = (
            "" if ("print", "1") in query else '<nav><a href="/">Home</a> <a href="/about">About us</a></nav>'
        )
        anchors = "".join(
            f'<li><a href="{escape(self.link(each))}">{escape(_said(each))}</a>' for each in links
        )
        body = "".join(f"<p>{each}</p>" for each in texts)
        html = (
            f"<!doctype html><html lang=en><head><title>{page.title} | {self.about.name}</title></head><body>"
            f"{menu}<main><h1>{page.title}</h1>{body}</main><aside><ul>{anchors}</ul></aside></body></html>"
        )
        return page, html

    def page(self, path: str, query: Sequence[tuple[str, str]]) -> Page | None:
        """Return the page at *path* with a *query* without what has no effect."""
        about = self.about
        _, _, rest = path.partition("/")
        kind, _, place = rest.partition("/")
        if path == "/":
            lists = [f"/list/{number}" for number in range(about.sections)]
            more = [
                *(["/calendar/2024/1"] if about.has_calendar else ()),
                *(["/search?q=1"] if about.has_search else ()),
            ]
            return Page("/", "home", f"All of {about.name}", [words("home", 80)], [*lists, *more])
        if path == "/about":
            return Page(path, "about", "About us", [words("about", 90)])
        if kind == about.folder and place.isdecimal() and int(place) < about.sections * about.things:
            number = int(place)
            beside = [
                f"/{about.folder}/{(number + step) % (about.sections * about.things)}" for step in (1, 7)
            ]
            login = [f"/user/login?back={path}"] if about.has_login else []
            text = [words(f"{about.name} {number} {part}", 40) for part in range(3)]
            return Page(
                path,
                "thing",
                words(f"t{number}", 3),
                text,
                [f"/list/{number // about.things}", *beside, *login],
            )
        if kind == "list":
            return self._list(place, query)
        if kind == "calendar" and about.has_calendar:
            return self._month(place)
        if path == "/user/login" and about.has_login:
            return Page(
                "login", "login", "Sign in", ["Please sign in to reply to this page. <input type=password>"]
            )
        if path == "/search" and about.has_search:
            names = "colour fit made q size year".split()
            chosen = dict(query)
            links = [
                "/search?"
                + "&".join(f"{a}={b}" for a, b in {**chosen, name: str(int(chosen.get(name, 0)) + 1)}.items())
                for name in names
            ]
            return Page("search", "search", "Search", [words("no results", 60)], links)
        return None

    def _list(self, place: str, query: Sequence[tuple[str, str]]) -> Page | None:
        about = self.about
        number, _, segments = place.partition("/")
        if not number.isdecimal() or int(number) >= about.sections:
            return None
        values = [value for _, value in query for value in value.split(",")] + segments.split("/")
        chosen = [value for value in values if value]
        if len(set(chosen)) < len(chosen) or len(chosen) > MOST_CHOSEN or not set(chosen) <= set(FACETS):
            return None
        first = int(number) * about.things
        key = f"/list/{number}?{','.join(sorted(chosen))}"
        things = [
            thing
            for thing in range(first, first + about.things)
            if all(Random(f"{facet}{thing}").random() < 0.8 for facet in chosen)
        ]
        text = [f"{words(f't{thing}', 3)}: {words(f'about {thing}', 9)}" for thing in things]
        links = [f"/{about.folder}/{thing}" for thing in things]
        if about.facets:
            links += [self._narrowed(number, [*chosen, facet]) for facet in FACETS if facet not in chosen]
        title = f"List {number} {' '.join(sorted(chosen))}"
        return Page(key, "list", title, text or ["Nothing found."], links)

    def _narrowed(self, number: str, chosen: Sequence[str]) -> str:
        if len(chosen) > MOST_CHOSEN:
            chosen = chosen[:MOST_CHOSEN]
        if self.about.facets == "values":
            return f"/list/{number}?f={','.join(chosen)}"
        if self.about.facets == "segments":
            return f"/list/{number}/{'/'.join(chosen)}"
        if self.about.facets == "indexed":
            return f"/list/{number}?{'&'.join(f'f[{at}]={value}' for at, value in enumerate(chosen))}"
        return f"/list/{number}?{'&'.join(f'f={value}' for value in chosen)}"

    def _month(self, place: str) -> Page | None:
        year, _, month = place.partition("/")
        if not (year.isdecimal() and month.isdecimal()):
            return None
        at = 12 * int(year) + int(month) - 1
        beside = [f"/calendar/{each // 12}/{each % 12 + 1}" for each in (at - 1, at + 1)]
        title = f"{MONTHS[at % 12]} {at // 12}"
        is_full = 0 <= at - 12 * 2024 < 12
        said = (
            words(f"event {at}", 30) if is_full else "There are no events in this month. Do you know of one?"
        )
        return Page(f"/calendar/{at}" if is_full else "empty month", "calendar", title, [said], beside)

    def keys(self) -> set[str]:
        """Return the keys of all pages that a crawl is to fetch."""
        about = self.about
        found = {"/", "/about"} | {
            f"/{about.folder}/{number}" for number in range(about.sections * about.things)
        }
        most = MOST_CHOSEN if about.facets else 0
        for number in range(about.sections):
            for size in range(most + 1):
                found |= {f"/list/{number}?{','.join(each)}" for each in combinations(sorted(FACETS), size)}
        if about.has_calendar:
            found |= {f"/calendar/{12 * 2024 + month}" for month in range(12)}
        return found | ({"login"} if about.has_login else set()) | ({"search"} if about.has_search else set())


def _said(url: str) -> str:
    return " ".join(words(url.partition("?")[0], 2).split()) if "sort=" not in url else url.rpartition("=")[2]


def random_description(seed: int) -> Description:
    """Return a site of any kind."""
    random = Random(seed)
    return Description(
        f"site {seed}",
        random.choice((3, 6, 12)),
        random.choice((4, 8, 12)),
        random.sample(list(MARKS), random.randrange(4)),
        random.choice(("", "", "values", "indexed", "segments", "parameters"))
        if random.random() < 0.4
        else "",
        has_print=random.random() < 0.4,
        has_calendar=random.random() < 0.4,
        has_login=random.random() < 0.4,
        has_search=random.random() < 0.4,
        seed=seed,
        folder=random.choice(("item", "thread", "p")),
    )
