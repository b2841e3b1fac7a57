"""One site, crawled with each setting: the decisions about its pages, and the remaining items and links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from scrapy_simhash import SimhashPolicy
from scrapy_simhash.action import Action
from scrapy_simhash.judge.policy import Protection
from tests.crawls.harness import IN_ORDER, IS_PROMPT, Crawl, Plan, crawl, crawl_one
from tests.crawls.site import Answer, Route, Routes, Site, article, edited, links, serve

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_simhash import Config
    from scrapy_simhash.judge.policy import Judged

OWN = "tests.crawls.test_outcomes."


class ByPath(SimhashPolicy):
    """Keeps pages whose URL contains the setting ``TO_KEEP``. For all other pages, drops exact copies entirely, and
    the items and links of near-duplicates.
    """

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

    def unchanged_action(self, page: Judged) -> str | list[str]:
        return self.copy_action(page)


def by_last_letter(url: str) -> str:
    """Return a scope by the end of the path, independent of the site."""
    return urlsplit(url).path[-1:]


def page(path: str, number: int, *, head: str = "", start: str = "") -> str:
    text = article(number, after=links(f"/of{path}")).replace("</head>", f"{head}</head>")
    return text.replace("<main>", f"<main>{start}") if start else text


def listing(name: str) -> str:
    """Return a listing. All listings have the same teasers, but different links."""
    story = article(3)
    teasers = story[story.index("<p>") : story.index("</main>")].split("\n")
    sections = (
        f'<section><h2><a href="/of{name}/{n}">Story</a></h2>{teaser}</section>'
        for n, teaser in enumerate(teasers)
    )
    return f"<main><h1>Stories</h1>{''.join(sections)}"


def product(path: str, size: str) -> str:
    start = f"<h1>Lantern</h1><p>Size: {size}</p><p>£{len(size)}9.00</p>"
    return edited(page(path, 4, start=start)) if size != "small" else page(path, 4, start=start)


#: In the order of the crawl. Except for the first page of each group, all are near-duplicates of the first
#: page.
SITE: Routes = {
    "/story": page("/story", 0),
    "/copy": page("/copy", 0),
    "/near": edited(page("/near", 0)),
    "/sign": page("/sign", 0).replace("</main>", "<p>It is written in C++</main>"),
    "/print": page("/print", 0, head='<link rel="canonical" href="/story">'),
    "/story/?utm_source=mail": edited(page("/mail", 0)),
    "/us/story": page("/us/story", 0, head='<link rel="alternate" hreflang="en-gb" href="/story">'),
    "/boats": page("/boats", 1),
    "/boats?page=2": page("/boats/2", 1),
    "/small": product("/small", "small"),
    "/large": product("/large", "large"),
    "/tag/fog": listing("/tag/fog"),
    "/tag/winter": listing("/tag/winter"),
}
ROUTES: Routes = {**SITE, "/": links(*SITE), "/copied": page("/copied", 0)}
COPIES = ("/copy", "/near", "/sign", "/print", "/story/?utm_source=mail")
PROTECTED = {"/us/story": "mark language", "/boats?page=2": "mark pagination", "/large": "mark facts"}
DROP_PAGE = {"SIMHASH_ACTION": "drop_page"}


def all_of(*words: str) -> dict[str, str]:
    """Return the same decision for all unprotected copies, and one for the listing."""
    done, *of_listing = words
    return {**dict.fromkeys(COPIES, done), **PROTECTED, "/tag/winter": (of_listing or [done])[0]}


class Case(NamedTuple):
    """Settings and meta of some requests; by path, the decision and the reason why no more is dropped."""

    settings: Mapping[str, Any]
    decisions: Mapping[str, str]
    metas: Mapping[str, Mapping[str, Any]] = {}
    start: tuple[str, ...] = ("/",)


CASES = {
    "default": Case({}, dict.fromkeys(all_of("mark"), "mark")),
    "items": Case({"SIMHASH_ACTION": "drop_items"}, all_of("drop_items")),
    "links": Case({"SIMHASH_ACTION": "drop_links"}, all_of("drop_links", "mark listing")),
    "both": Case(
        {"SIMHASH_ACTION": ["drop_items", "drop_links"]},
        all_of("drop_items,drop_links", "drop_items listing"),
    ),
    "page": Case(DROP_PAGE, all_of("drop_page", "drop_items listing")),
    "nothing protected": Case(
        {**DROP_PAGE, "SIMHASH_PROTECT": []}, dict.fromkeys(all_of("drop_page"), "drop_page")
    ),
    "one protected": Case(
        {**DROP_PAGE, "SIMHASH_PROTECT": "language"},
        dict.fromkeys(all_of("drop_page"), "drop_page") | {"/us/story": "mark language"},
    ),
    "exact": Case(
        {"SIMHASH_ACTION": "drop_items", "SIMHASH_EXACT_ACTION": "drop_page"},
        all_of("drop_items", "drop_items listing") | dict.fromkeys(("/copy", "/print"), "drop_page"),
    ),
    "by URL": Case(
        {"SIMHASH_ACTION": {"/near": "drop_items", "//example.com": "mark", "y$": "drop_links"}},
        dict.fromkeys(all_of("mark"), "mark")
        | {"/near": "drop_items", "/copy": "drop_links"}
        | {"/us/story": "mark language"},
    ),
    "kept URLs": Case(
        {**DROP_PAGE, "SIMHASH_KEEP_URLS": ["/copy$", "winter"]},
        all_of("drop_page", "mark url") | {"/copy": "mark url"},
    ),
    "one request": Case(
        {**DROP_PAGE, "SIMHASH_KEEP_URLS": ["."]},
        {"/copied": "drop_items"},
        {"/copied": {"simhash": {"action": "drop_items"}}, "/near": {"simhash": False}},
        ("/story", "/copied", "/near"),
    ),
    "start pages": Case(
        DROP_PAGE,
        {"/copied": "drop_items start", "/near": "drop_items start"},
        {},
        ("/story", "/copied", "/near"),
    ),
    "policy": Case(
        {"SIMHASH_POLICY": f"{OWN}ByPath", "TO_KEEP": "/near"},
        all_of("drop_items,drop_links", "drop_items listing")
        | dict.fromkeys(("/copy", "/print"), "drop_page")
        | {"/near": "mark"},
    ),
    "scope": Case(
        {**DROP_PAGE, "SIMHASH_SCOPE": f"{OWN}by_last_letter"},
        {"/copy": "drop_page", "/us/story": "mark language", "/boats?page=2": "mark pagination"},
    ),
}
#: Second crawls of the same site with its store: decisions about unchanged pages.
AGAIN = {
    "unchanged items": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_items"}, dict.fromkeys(("/", *SITE), "drop_items")
    ),
    "unchanged pages": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_page"},
        dict.fromkeys(SITE, "drop_page")
        | {"/": "drop_items start", "/tag/fog": "drop_items listing", "/tag/winter": "drop_items listing"},
    ),
    "unchanged, one request": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_page", "SIMHASH_KEEP_URLS": ["."]},
        {"/story": "drop_links", "/near": "mark url"},
        {"/story": {"simhash": {"revisit_action": "drop_links"}}},
        ("/story", "/near"),
    ),
    "unchanged, policy": Case(
        {"SIMHASH_POLICY": f"{OWN}ByPath", "TO_KEEP": "/near", "SIMHASH_REVISIT_ACTION": "drop_items"},
        dict.fromkeys(SITE, "drop_items,drop_links")
        | dict.fromkeys(("/copy", "/print", "/us/story", "/boats?page=2"), "drop_page")
        | dict.fromkeys(("/tag/fog", "/tag/winter"), "drop_items listing")
        | {"/": "drop_items start", "/near": "mark"},
    ),
    "copies and unchanged": Case(
        {"SIMHASH_REVISIT_ACTION": "drop_items", "SIMHASH_ACTION": "drop_links", "SIMHASH_PROTECT": []},
        dict.fromkeys(("/", *SITE), "drop_items")
        | dict.fromkeys(all_of(""), "drop_items,drop_links")
        # Its facts contradict those of its original, so it has a separate cluster.
        | {"/large": "drop_items"},
    ),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve(ROUTES) as site:
        yield site


def plan(site: Site, case: Case, **settings: object) -> Plan:
    arguments = {"urls": site.urls(*case.start), "metas": case.metas}
    return Plan("Stylist", {**IN_ORDER, **settings, **case.settings}, arguments)


@pytest.fixture(scope="module")
def crawls(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    store = str(tmp_path_factory.mktemp("kept"))
    first = plan(site, CASES["default"], SIMHASH_STORE=store)
    plans = {name: plan(site, case) for name, case in CASES.items()}
    again = {name: plan(site, case, SIMHASH_STORE=store) for name, case in AGAIN.items()}
    done = crawl(*plans.values(), first, *again.values())
    return dict(zip([*plans, "first", *again], done, strict=True))


#: Targets of links on pages whose paths do not fit into a link.
LINKED = {"/story/?utm_source=mail": "/of/mail", "/boats?page=2": "/of/boats/2"}


@pytest.mark.parametrize("name", [*CASES, *AGAIN])
def test_decisions_items_and_links(crawls: dict[str, Crawl], name: str) -> None:
    done, case = crawls[name], {**CASES, **AGAIN}[name]
    assert done.complaints == []
    found = {page.path: page.marks for page in done.pages if not page.path.startswith("/of/")}
    decided = {
        path: " ".join(filter(None, (marks["action"], marks.get("protected"))))
        for path, marks in found.items()
        if "action" in marks
    }
    assert decided == case.decisions
    # The decisions are carried out, and nothing else.
    actions = {path: Action.named(decided.get(path, "mark").split()[0]) for path in found}
    assert done.paths_scraped == sorted(
        path for path, action in actions.items() if not action & Action.DROP_ITEMS
    )
    followed = {page.path for page in done.pages if page.path.startswith("/of/")}
    for path in found.keys() - {"/"} if IS_PROMPT else ():
        link = LINKED.get(path, f"/of{path}")
        assert any(one.startswith(link) for one in followed) is not bool(actions[path] & Action.DROP_LINKS), (
            path
        )
    dropped = [action for action in actions.values() if action == Action.DROP_PAGE]
    assert done.stat("dropped/pages") == len(dropped) or not IS_PROMPT
    items = [action for action in actions.values() if action & Action.DROP_ITEMS]
    assert done.stat("dropped/items") + done.stat("dropped/pages") == len(items)
    protected = [words for words in decided.values() if " " in words]
    assert sum(done.stat(f"protected/{one.value}") for one in Protection) == len(protected)


def test_hints_and_verdicts(crawls: dict[str, Crawl], site: Site) -> None:
    done = crawls["default"]
    hints = {page.path: page.marks["hints"] for page in done.pages if page.marks.get("hints")}
    assert hints == {
        "/print": ["canonical"],
        "/story/?utm_source=mail": ["address"],
        "/us/story": ["hreflang"],
    }
    originals = {page.path: page.marks.get("duplicate_of") for page in done.pages}
    assert {originals[path] for path in COPIES} == {site.url("/story")}
    exact = {page.path for page in done.pages if page.marks.get("exact")}
    assert exact == {"/copy", "/print", "/us/story", "/boats?page=2", "/tag/winter"}
    verdicts = {page.verdict for page in crawls["unchanged items"].pages if page.path in SITE}
    assert verdicts == {"revisit/unchanged"}
    assert crawls["unchanged items"].stat("dropped/items/unchanged") == len(SITE) + 1
    assert crawls["one request"].verdicts["/near"] == "skipped/opted_out"


def test_a_product_at_a_new_url_is_a_copy_and_a_variant_is_not() -> None:
    before, after = product("/small", "small"), product("/large", "large")
    moved = Answer(status=302, headers={"Location": "/goods/lantern"})
    routes: Routes = {
        "/first": article(1),
        "/lantern": lambda visit: moved if visit else before,
        "/variant": product("/huge", "huge"),
        "/goods/lantern": after,
    }
    with serve(routes) as site:
        urls = site.urls("/first", "/lantern", "/lantern", "/variant")
        done = crawl_one(
            "Visitor", {**IN_ORDER, "SIMHASH_ACTION": "drop_page", "SIMHASH_PROTECT": "facts"}, urls=urls
        )
    assert done.complaints == []
    page, variant = done.page("/goods/lantern").marks, done.page("/variant").marks
    assert page["hints"] == ["redirect"]
    assert page["duplicate_of"] == urls[1]
    assert (page["action"], page.get("protected")) == ("drop_page", None)
    assert (variant["action"], variant["protected"]) == ("mark", "facts")


@pytest.mark.parametrize("name", ["SIMHASH_ACTION", "SIMHASH_EXACT_ACTION"])
def test_an_interstitial_reaches_the_callback_for_a_retry(name: str) -> None:
    asks = "<main><h1>Just a moment</h1><p>Tick the box if you are human.</p><div class=g-recaptcha></div></main>"

    def route(number: int) -> Route:
        return lambda visit: article(number) if visit else asks

    with serve({f"/story/{number}": route(number) for number in range(6)}) as site:
        urls = site.urls(*site.routes)
        done = crawl_one("Retrier", {**IN_ORDER, name: "drop_page"}, urls=urls)
        assert done.complaints == []
        assert done.paths_scraped == sorted(site.routes)
    assert (done.stat("skipped/interstitial"), done.stat("new")) == (6, 6)
    assert set(done.verdicts.values()) == {"new"}


@pytest.mark.parametrize("way", ["helper", "replace"])
def test_a_page_that_is_retried_reaches_the_callback_each_time(way: str) -> None:
    # Nothing but the retry shows that the text is not that of a page.
    asks = article(title="Too many visitors")

    def route(number: int) -> Route:
        return lambda visit: article(number) if visit else asks

    with serve({f"/story/{number}": route(number) for number in range(1, 9)}) as site:
        urls = site.urls(*site.routes)
        settings = {**IN_ORDER, "SIMHASH_ACTION": "drop_page", "SIMHASH_PROTECT": []}
        done = crawl_one("Retrier", settings, urls=urls, way=way)
    assert done.paths_scraped == sorted(site.routes)
    assert done.stat("dropped/pages") == 0
