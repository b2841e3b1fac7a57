"""Pages that say what another one says and are a loss all the same: what a crawl that drops copies leaves of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_one
from tests.crawls.site import Answer, Route, Routes, Site, article, edited, links, serve


class Case(NamedTuple):
    """A page and the page it repeats, what its hints are, and why it is spared."""

    original: str
    hints: list[str]
    exemption: str | None


#: In the order of the crawl: each page comes after its original.
CASES = {
    "/copy": Case("/story", [], None),
    "/print": Case("/story", ["canonical"], None),
    "/story/?utm_source=mail": Case("/story", ["address"], None),
    "/us/story": Case("/story", ["hreflang"], "language"),
    "/boats?page=2": Case("/boats", [], "pagination"),
    "/shop/large": Case("/shop/small", [], "facts"),
    "/branches/kiel": Case("/branches/bonn", [], "facts"),
    "/tag/winter": Case("/tag/fog", [], "listing"),
}
PATHS = [*dict.fromkeys(case.original for case in CASES.values()), *CASES]


def markup(number: int, path: str, head: str = "", changed: bool = False) -> str:
    """Return an article with *head*, and a link of its own."""
    text = article(
        number, after=links(f"{path}#x", f"/link/of{path.partition('?')[0]}/{path.partition('=')[2]}")
    )
    text = text.replace("</head>", f"{head}</head>")
    return edited(text) if changed else text


def entries(name: str) -> str:
    """Return a listing whose teasers are those of every other one, and whose links are its own."""
    story = article(3)
    teasers = story[story.index("<p>") : story.index("</main>")].split("\n")
    return "<main><h1>Stories</h1>" + "".join(
        f'<section><h2><a href="/link/of/{name}/{n}">Story</a></h2>{teaser}</section>'
        for n, teaser in enumerate(teasers)
    )


def branch(town: str) -> str:
    """Return a page that says where it is beside the text of all branches."""
    text = markup(2, f"/branches/{town}")
    return text.replace("<main>", f"<main><h1>A branch</h1><div>{town.title()}, 12 Main Road</div><div>")


def product(size: str) -> str:
    """Return a page that says its size above the text of all sizes, and a price that no two of them share."""
    text = markup(4, f"/shop/{size}", changed=size != "small")
    return text.replace("<main>", f"<main><h1>Lantern</h1><p>Size: {size}</p><p>£{len(size)}9.00</p>")


def routes() -> dict[str, Route]:
    alternate = '<link rel="alternate" hreflang="en-gb" href="/story">'
    return {
        "/story": markup(0, "/story"),
        "/copy": markup(0, "/copy"),
        "/print": markup(0, "/print", '<link rel="canonical" href="/story">'),
        "/story/?utm_source=mail": markup(0, "/mail", changed=True),
        "/us/story": markup(0, "/us/story", alternate),
        "/boats": markup(1, "/boats"),
        "/boats?page=2": markup(1, "/boats?page=2"),
        "/shop/small": product("small"),
        "/shop/large": product("large"),
        "/branches/bonn": branch("bonn"),
        "/branches/kiel": branch("kiel"),
        "/tag/fog": entries("fog"),
        "/tag/winter": entries("winter"),
        "/": links(*PATHS),
    }


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve(routes()) as site:
        yield site


@pytest.fixture(scope="module")
def crawls(site: Site) -> dict[str, Crawl]:
    settings = {**IN_ORDER, "SIMHASH_ACTION": "drop_page"}
    plans = {
        "default": settings,
        "lifted": {**settings, "SIMHASH_PROTECT": []},
    }
    arguments = {"urls": site.urls("/")}
    outcomes = crawl(*(Plan("Follower", plan, arguments) for plan in plans.values()))
    return dict(zip(plans, outcomes, strict=True))


def links_followed(outcome: Crawl, path: str) -> bool:
    """Tell whether the spider went where the page at *path* leads."""
    names = {
        "/story/?utm_source=mail": "/mail",
        "/tag/fog": "/fog",
        "/tag/winter": "/winter",
    }
    address, _, number = path.partition("?")
    start = f"/link/of{names.get(path, address)}/{number.partition('=')[2]}"
    return any(page.path.startswith(start) for page in outcome.pages)


@pytest.mark.parametrize("path", CASES)
def test_a_copy_is_told_with_its_hints(crawls: dict[str, Crawl], site: Site, path: str) -> None:
    for outcome in crawls.values():
        assert not outcome.complaints
        marks = outcome.page(path).marks
        assert marks["status"] == "near_duplicate"
        assert marks["duplicate_of"] == site.url(CASES[path].original)
        assert marks.get("hints", []) == CASES[path].hints


@pytest.mark.parametrize("path", CASES)
def test_what_is_protected_is_only_marked_and_a_listing_keeps_its_links(
    crawls: dict[str, Crawl], path: str
) -> None:
    outcome, exemption = crawls["default"], CASES[path].exemption
    assert outcome.page(path).marks.get("protected") == exemption
    is_whole = exemption in ("language", "pagination", "facts")
    assert (path in outcome.paths_scraped) is is_whole
    assert links_followed(outcome, path) is (exemption is not None)


def test_of_pages_that_are_as_they_were_start_pages_and_listings_keep_their_links(
    site: Site, tmp_path: Path
) -> None:
    settings = {**IN_ORDER, "SIMHASH_STORE": str(tmp_path)}
    arguments = {"urls": site.urls("/", "/boats")}
    first, second = crawl(
        Plan("Follower", settings, arguments),
        Plan("Follower", {**settings, "SIMHASH_REVISIT_ACTION": "drop_page"}, arguments),
    )
    assert first.complaints == second.complaints == []
    found = {path: second.page(path).marks for path in ("/boats", *PATHS)}
    spared = {"/boats": "start", "/tag/fog": "listing", "/tag/winter": "listing"}
    assert {path: (marks["action"], marks.get("protected")) for path, marks in found.items()} == {
        path: ("drop_items", spared[path]) if path in spared else ("drop_page", None) for path in found
    }
    assert {path for path in found if links_followed(second, path)} == set(spared)


def test_a_product_at_its_new_address_repeats_that_at_its_old_one_while_a_variant_does_not() -> None:
    before, after = product("small"), product("large")
    moved = Answer(status=302, headers={"Location": "/goods/lantern"})
    routes: Routes = {
        "/first": article(1),
        "/lantern": lambda visit: moved if visit else before,
        "/variant": product("huge"),
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
def test_a_page_in_front_of_others_reaches_the_callback_that_asks_again(name: str) -> None:
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
