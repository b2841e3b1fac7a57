"""A random site, its crawl, and the pages that must reach the spider.

A site has sections: similar lists, variants of a product, copies, traps, interstitials, redirects, and so on. Each
section has *classes*: the paths of one article or variant. One page of each class must reach the spider with any
settings. Sections contain no pages that the documented limits allow to be lost.

To add a kind of section, write a method and name it in `SECTIONS`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.crawls.harness import Crawl, Plan, crawl
from tests.crawls.site import Answer, Route, links, prose, serve, sitemap

ACTIONS = ("mark", "drop_items", "drop_links", "drop_page")
_LOSES_LINKS = frozenset(("drop_links", "drop_page"))
#: Referrer policies of the server and of the spider.
REFERRERS: tuple[tuple[dict[str, str], dict[str, Any]], ...] = (
    ({}, {}),
    ({"Referrer-Policy": "origin"}, {}),
    ({"Referrer-Policy": "no-referrer"}, {}),
    ({}, {"REFERRER_POLICY": "origin"}),
    ({}, {"REFERRER_POLICY": "strict-origin"}),
    ({}, {"REFERER_ENABLED": False}),
)
FIRST_IN = {
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
ORDERS: tuple[dict[str, Any], ...] = ({}, FIRST_IN, {**FIRST_IN, "DEPTH_PRIORITY": 1}, {"DEPTH_PRIORITY": -1})
#: Max sections of a site.
MAX_SECTIONS = 3
#: The paths of one page; the page must be found at one of them.
Class = frozenset[str]

EVENTS = (
    "The ferry crosses on the hour from seven in the morning until nine at night. The library in the square is open"
    " on every day but Monday, and the fish market is held on the quay as soon as the first boat is in. Visitors may"
    " climb the lighthouse if the flag of its keeper is flying, and the mill grinds when there is enough water."
)
WALL = (
    "<h1>This story is for members</h1><p>To read on, please sign in with the address that you gave us and the word"
    " that you chose. Membership pays for the reporting, the printing press and the cat of the office. Not a member"
    " yet? Join at the counter, or write to us, and the first month is on the house.</p>"
    '<form action="/login"><input name="user"><input type="password" name="word"></form>'
)


class MadeUpSite:
    def __init__(self, seed: int, *, most_sections: int = MAX_SECTIONS) -> None:
        self.seed = seed
        self.random = random = Random(seed)
        self.routes: dict[str, Route] = {}
        self.owed: list[Class] = []
        self._texts = seed * 1_000
        self._names = 0
        self.policy, self.settings = random.choice(REFERRERS)
        self.settings = {
            **self.settings,
            **random.choice(ORDERS),
            "CONCURRENT_REQUESTS": random.choice((1, 8, 16, 32)),
            "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
            "SIMHASH_URL_RULES": random.choice(("skip", "skip", "skip", "observe", "off")),
            "SIMHASH_ACTION": random.choice(ACTIONS),
            # The crawl must end even if the test fails.
            "CLOSESPIDER_PAGECOUNT": 3_000,
        }
        if random.random() < 0.5:
            self.settings["SIMHASH_EXACT_ACTION"] = random.choice(ACTIONS)
        self.spider = random.choice(("Follower", "Bearer", "Ranked", "Ruled", "Mapped"))
        self.may_fail = self.spider != "Bearer" and random.random() < 0.3
        self.is_stopped = random.random() < 0.15
        self._footer = f"<footer>{prose(6)}</footer>" if random.random() < 0.3 else ""
        self.sections = random.sample(list(SECTIONS), random.randint(1, most_sections))
        entrances = [path for name in self.sections for path in SECTIONS[name](self)]
        random.shuffle(entrances)
        self._put("/", prose(self._text()), *entrances)
        self._entrances = entrances

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.spider} of {', '.join(self.sections)} with {self.settings}, {self.policy}"

    @property
    def loses_links(self) -> bool:
        """Whether the links of some near-duplicates are dropped: then only listings have links."""
        actions = self.settings["SIMHASH_ACTION"], self.settings.get("SIMHASH_EXACT_ACTION")
        return not _LOSES_LINKS.isdisjoint(actions)

    def faults(self, folder: Path) -> list[str]:
        with serve({}) as site:
            urls = site.urls("/", *self._entrances)
            self.routes["/sitemap.xml"] = sitemap(urls)
            site.routes = self.routes
            first = site.url("/sitemap.xml" if self.spider == "Mapped" else "/")
            plans = [Plan(self.spider, self.settings, {"urls": [first]})]
            if self.is_stopped:
                job = {**self.settings, "JOBDIR": str(folder)}
                plans = [
                    plans[0]._replace(settings={**job, **stop})
                    for stop in ({"CLOSESPIDER_PAGECOUNT": 70}, {})
                ]
            crawls = crawl(*plans)
        scraped = {path for ended in crawls for path in ended.paths_scraped}
        return [
            *(
                f"never came: {' or '.join(sorted(paths))}"
                for paths in self.owed
                if scraped.isdisjoint(paths)
            ),
            *(fault for ended in crawls for fault in ended.complaints),
            *_unended(crawls[-1]),
        ]

    # Parts of sections.

    def _text(self) -> int:
        self._texts += 1
        return self._texts

    def _name(self) -> str:
        self._names += 1
        return f"/{('stories', 'news', 'items', 'p')[self._names % 4]}{self._names}"

    def _answer(self, text: str) -> Route:
        answer = Answer(text, headers=self.policy)
        if self.may_fail and self.random.random() < 0.1:
            return lambda visit: answer if visit else Answer("<p>Busy.", 503)
        return answer

    def _put(self, path: str, main: str, *paths: str) -> str:
        self.routes[path] = self._answer(page(main, *paths, footer=self._footer))
        return path

    def _article(self, *paths: str, place: str = "") -> str:
        path = self._put(place or f"/story/{self._text()}", prose(self._text()), *paths)
        self.owed.append(frozenset((path,)))
        return path

    # Sections: each adds its pages, and returns its entry paths.

    def lists_alike(self) -> Sequence[str]:
        """Lists with the same text but different articles: all linked from one page or each from the previous one;
        some link to parts, which link to the articles.
        """
        number, name = self.random.choice((20, 80, 160)), self._name()
        is_chain, has_parts = self.random.random() < 0.5, self.random.random() < 0.2
        for at in range(number):
            stories = [self._article("/") for _ in range(self.random.randint(1, 2))]
            beside = [f"{name}/{at + 1}"] if is_chain and at + 1 < number else []
            if self.loses_links:
                stories += [self._article() for _ in range(4 - len(stories))]
                entries = "".join(
                    f'<li><a href="{path}">Read the whole story in the paper of this week</a></li>'
                    for path in (*stories, *beside)
                )
                self._put(f"{name}/{at}", f"<h1>All our stories</h1><ul>{entries}</ul>")
                continue
            if has_parts:
                stories = [self._put(f"{name}-part/{at}", f"<p>{EVENTS}</p>" * 2, *stories)]
            self._put(f"{name}/{at}", f"<h1>All our stories</h1><p>{EVENTS}</p>", *stories, *beside)
        return [f"{name}/0"] if is_chain else [f"{name}/{at}" for at in range(number)]

    def variants(self) -> Sequence[str]:
        """Variants of one product: the same text, another size, and prices only in structured data."""
        name, found = self._name(), []
        place = self.random.choice((f"{name}?variant={{}}", f"{name}/{{}}", f"{name}?size={{}}&colour=red"))
        for number in range(self.random.choice((20, 100, 200))):
            path = self._put(place.format(number), variant(number))
            self.owed.append(frozenset((path,)))
            found.append(path)
        return found

    def copies(self) -> Sequence[str]:
        """Articles with exact and near copies at other URLs; one page of each is enough."""
        found = []
        for _ in range(self.random.randint(10, 40)):
            number = self._text()
            text = prose(number)
            edited = text.replace(" and ", " or ", self.random.randint(1, 3))
            paths = [
                self._put(f"{place}/{number}", each, "/")
                for place, each in (("/story", text), ("/print/story", text), ("/agency", edited))
                if place == "/story" or self.random.random() < 0.7
            ]
            self.owed.append(frozenset(paths))
            found += paths
        return found

    def mixed(self) -> Sequence[str]:
        """A folder in which every third page is an article; the others are alike, or are interstitials."""
        name, text = self._name(), self.random.choice((WALL, f"<h1>Opening times</h1><p>{EVENTS}</p>"))
        found = []
        for number in range(self.random.randint(60, 120)):
            path = f"{name}/{number}"
            found.append(self._article(place=path) if self.random.random() < 0.35 else self._put(path, text))
        return found

    def redirects(self) -> Sequence[str]:
        """Articles behind redirects, some with the same target."""
        found, name = [], self._name()
        for number in range(self.random.randint(10, 60)):
            to = self._article("/")
            for each in range(self.random.randint(1, 2)):
                path = f"{name}/{number}/{each}"
                self.routes[path] = Answer(status=302, headers={"Location": to})
                found.append(path)
        return found

    def chain(self) -> Sequence[str]:
        """A chain of articles, with links to missing pages."""
        following = ""
        for _ in range(self.random.randint(10, 40)):
            gone = [f"/gone/{self._text()}"] if self.random.random() < 0.3 else []
            following = self._article(*gone, *([following] if following else []))
        return [following]


SECTIONS = {
    section.__name__: section
    for section in (
        MadeUpSite.lists_alike,
        MadeUpSite.variants,
        MadeUpSite.copies,
        MadeUpSite.mixed,
        MadeUpSite.redirects,
        MadeUpSite.chain,
    )
}


def variant(number: int) -> str:
    """Return the text of a product with its own size, and a price only in structured data."""
    offer = {"@type": "Offer", "price": f"{20 + number}.00"}
    about = {"@context": "https://schema.org", "@type": "Product", "name": "Boot", "offers": offer}
    script = f'<script type="application/ld+json">{json.dumps(about)}</script>'
    return f"{script}<h1>Rubber boots</h1><p>Size {number}</p><p>{EVENTS}</p>"


def page(main: str, *paths: str, footer: str = "") -> str:
    return f"<!doctype html><html><body>{links(*paths)}<main>{main}</main>{footer}</body></html>"


def _unended(ended: Crawl) -> list[str]:
    reason = ended.stats.get("finish_reason")
    return [] if reason == "finished" else [f"it ended with: {reason}"]
