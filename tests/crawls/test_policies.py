"""What is asked for reaches the policy, and what the policy says is done: one crawl for each setting and meta key.

What follows from several of them is in tests/judge/test_policy.py, what each protection looks at in
test_protected_pages.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from scrapy_simhash import SimhashPolicy
from scrapy_simhash.action import Action
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_each
from tests.crawls.site import Site, article, edited, links, serve

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_simhash import Config
    from scrapy_simhash.judge.policy import Judged

#: Pages and their links, beside one that each has to itself. All but the lists, / and /next, are copies of the first.
LINKS = {
    "/first": (),
    "/start": (),
    "/": ("/copy", "/next"),
    "/copy": (),
    "/next": ("/next/copy", "/next/near"),
    "/next/copy": (),
    "/next/near": (),
}
#: They come first, in this order.
STARTS = ("/first", "/start", "/")
OWN = "tests.crawls.test_policies."
UNCOUNTED = {"SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.depth.DepthMiddleware": None}}
AT_ONCE = {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
DROP_PAGE = {"SIMHASH_ACTION": "drop_page"}


class Promise(NamedTuple):
    """What is to be done about a page, and why not more."""

    done: str
    exemption: str | None = None


MARK, GONE = Promise("mark"), Promise("drop_page")
ITEMLESS, LINKLESS, NEITHER = Promise("drop_items"), Promise("drop_links"), Promise("drop_items,drop_links")
ELSEWHERE = Promise("mark", "url")
#: What start pages are left with that would be dropped.
START = Promise("drop_items", "start")


class KeepSome(SimhashPolicy):
    """Keeps what the setting ``TO_KEEP`` occurs in, and drops of everything else what repeats it to the letter."""

    to_keep = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler, config: Config) -> Self:
        policy = cls(config)
        policy.to_keep = crawler.settings["TO_KEEP"]
        return policy

    def copy_action(self, page: Judged) -> str | list[str]:
        if self.to_keep in page.url:
            return "mark"
        return "drop_page" if page.verdict.is_exact else ["drop_items", "drop_links"]


class KeepSomeAgain(KeepSome):
    """Decides about unchanged pages, too."""

    def copy_action(self, page: Judged) -> str:
        return "mark"

    def unchanged_action(self, page: Judged) -> str | list[str]:
        return KeepSome.copy_action(self, page)


def own_link(path: str) -> str:
    return f"/photo/of{path}"


def markup(path: str) -> str:
    number = {"/": 3, "/next": 4}.get(path, 0)
    text = article(number, before=links(own_link(path), *LINKS[path]))
    return edited(text) if path.endswith("near") else text


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    photos = {own_link(path): f"<p>A photo of {path}." for path in LINKS}
    with serve({**{path: markup(path) for path in LINKS}, **photos}) as site:
        yield site


class Case(NamedTuple):
    """Settings and meta of some requests, and what is done about copies, and why not more."""

    settings: Mapping[str, Any]
    done: Mapping[str, Promise]
    metas: Mapping[str, Mapping[str, Any]] = {}


def copies(copy: Promise, next_copy: Promise, near: Promise, start: Promise) -> dict[str, Promise]:
    return {"/copy": copy, "/next/copy": next_copy, "/next/near": near, "/start": start}


CASES = {
    # All pages count as start pages then.
    "without DepthMiddleware": Case({**DROP_PAGE, **UNCOUNTED}, copies(START, START, START, START)),
    "at some addresses": Case(
        {"SIMHASH_ACTION": {"/next/copy$": "drop_items", "/copy$": "drop_page"}},
        copies(GONE, ITEMLESS, MARK, MARK),
    ),
    "at all other addresses": Case(
        {"SIMHASH_ACTION": {"/near$": "drop_items,drop_links", "//example.com": "mark", "": "drop_page"}},
        copies(GONE, GONE, NEITHER, START),
    ),
    "asked for where all are spared": Case(
        {**DROP_PAGE, "SIMHASH_KEEP_URLS": ["."]},
        copies(ITEMLESS, ELSEWHERE, ELSEWHERE, GONE),
        {"/copy": {"simhash": {"action": "drop_items"}}, "/start": {"simhash": {"action": "drop_page"}}},
    ),
    "exact": Case(
        {"SIMHASH_EXACT_ACTION": "drop_links", "SIMHASH_ACTION": "drop_items"},
        copies(LINKLESS, LINKLESS, ITEMLESS, Promise("mark", "start")),
    ),
    "class of one's own": Case(
        {"SIMHASH_POLICY": f"{OWN}KeepSome", "TO_KEEP": "/copy"},
        copies(MARK, MARK, NEITHER, START),
    ),
}


def plan(site: Site, case: Case) -> Plan:
    arguments = {"urls": site.urls(*STARTS), "metas": case.metas}
    return Plan("Stylist", {**IN_ORDER, **case.settings}, arguments)


@pytest.fixture(scope="module")
def crawls(site: Site) -> dict[str, Crawl]:
    return crawl_each({name: plan(site, case) for name, case in CASES.items()})


def check(done: Crawl, promised: Mapping[str, Promise]) -> None:
    """Compare what was done with what is *promised* of pages that are reached, and items and links with that."""
    lost = {path: Action.named(words) for path, (words, _) in promised.items()}
    reached = list(STARTS)
    for path in reached:
        if Action.DROP_LINKS not in lost.get(path, Action.MARK):
            reached += LINKS[path]
    found = {page.path: page.marks for page in done.pages if page.path in LINKS}
    assert set(found) == set(reached)
    decided = {path: marks for path, marks in found.items() if "action" in marks}
    made = {path: Promise(marks["action"], marks.get("protected")) for path, marks in decided.items()}
    assert made == {path: promise for path, promise in promised.items() if path in reached}
    has_items = {path for path in reached if Action.DROP_ITEMS not in lost.get(path, Action.MARK)}
    has_links = {path for path in reached if Action.DROP_LINKS not in lost.get(path, Action.MARK)}
    assert done.paths_scraped == sorted(has_items | {own_link(path) for path in has_links})


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_for_is_done_about_copies_and_nothing_about_others(
    crawls: dict[str, Crawl], name: str
) -> None:
    check(crawls[name], CASES[name].done)
    assert crawls[name].complaints == []


# --- Second crawls.

AGAIN = {
    "page": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_page"},
        {**dict.fromkeys(LINKS, GONE), **dict.fromkeys(STARTS, START)},
    ),
    "nothing protected": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_page", "SIMHASH_PROTECT": []}, dict.fromkeys(LINKS, GONE)
    ),
    "asked": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_items", "SIMHASH_KEEP_URLS": ["."]},
        {**dict.fromkeys(LINKS, ELSEWHERE), "/start": GONE, "/copy": LINKLESS},
        {
            "/start": {"simhash": {"revisit_action": "drop_page"}},
            "/copy": {"simhash": {"revisit_action": "drop_links"}},
        },
    ),
    "class of one's own": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_items", "SIMHASH_POLICY": f"{OWN}KeepSomeAgain", "TO_KEEP": "/next"},
        {
            **dict.fromkeys(LINKS, NEITHER),
            **dict.fromkeys(("/next", "/next/copy", "/next/near"), MARK),
            **dict.fromkeys(STARTS, START),
            # It repeats another page to the letter, too.
            "/copy": GONE,
        },
    ),
}


@pytest.fixture(scope="module")
def again(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    # Photos say too little to be known again. None of these crawls unsettles a page for the next one.
    folder = {"SIMHASH_STORE": str(tmp_path_factory.mktemp("kept"))}
    cases = [Case({}, {}), *AGAIN.values()]
    first, *others = crawl(
        *(plan(site, case._replace(settings={**folder, **case.settings})) for case in cases)
    )
    check(first, copies(MARK, MARK, MARK, MARK))
    return dict(zip(AGAIN, others, strict=True))


@pytest.mark.parametrize("name", AGAIN)
def test_what_is_asked_for_is_done_about_pages_that_are_as_they_were(
    again: dict[str, Crawl], name: str
) -> None:
    check(again[name], AGAIN[name].done)
    assert again[name].complaints == []
