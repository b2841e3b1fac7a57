"""Actions, verdicts and scopes, all with all: what is left of each page is what the three say, and nothing else.

One small site on two hosts has a page for each verdict, and each page a link of its own. It is crawled with each
action for each kind of page in each scope. What should be left is told by a model of a few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.scopes import by_last_letter
from tests.crawls.site import Answer, Route, Site, article, edited, links, serve

#: Scrapy's usual queue takes turns between hosts.
IN_ONE_ORDER = {**IN_ORDER, "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
WORDS = ("mark", "drop_items", "drop_links", "drop_items,drop_links", "drop_page")
SETTINGS = ("SIMHASH_ACTION", "SIMHASH_EXACT_ACTION", "SIMHASH_REVISIT_ACTION")
#: Of a page by its host and its path, for each scope.
SCOPES: dict[str, Callable[[str, str], str]] = {
    "crawl": lambda host, path: "",
    "domain": lambda host, path: host,
    "host": lambda host, path: host,
    "tests.crawls.scopes.by_last_letter": lambda host, path: by_last_letter(path),
}
HOSTS = {"a": "127.0.0.1", "b": "localhost"}
#: What each action leaves of a page.
LEFT: dict[str, set[str]] = {
    "mark": {"item", "link"},
    "drop_items": {"link"},
    "drop_links": {"item"},
    "drop_items,drop_links": set(),
    "drop_page": set(),
}


class Kind(NamedTuple):
    """A page of the site: which text it has, and how that is changed. Without a text it is never judged."""

    text: str
    is_changed: bool = False


KINDS = {
    "first": Kind("ship"),
    "near": Kind("ship", is_changed=True),
    "exact": Kind("ship"),
    "other": Kind("piano"),
    "short": Kind("caption"),
    "twin": Kind("caption"),
    "gone": Kind(""),
    "plain": Kind(""),
}


def route(name: str, path: str) -> Route:
    own_link = links(f"{path}/link")
    if name == "plain":
        return Answer("The ship went out.", content_type="text/plain")
    if name in ("short", "twin"):
        return f"<title>The loft</title>{own_link}<p>The loft in the rain."
    markup = article(
        1 if name == "other" else 0, before=own_link, after="<p>Buy boats!</p>" * (name == "exact")
    )
    if name == "near":
        markup = edited(markup)
    return Answer(markup, 410) if name == "gone" else markup


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes = {f"/{host}/{name}": route(name, f"/{host}/{name}") for host in HOSTS for name in KINDS}
    with serve(routes) as site:
        yield site


class Case(NamedTuple):
    setting: str
    words: str
    scope: str

    def plans(self, site: Site, folder: str) -> list[Plan]:
        """Return one crawl, or two of the same pages where it matters that they come again."""
        urls = [site.url(f"/{host}/{name}", HOSTS[host]) for host in HOSTS for name in KINDS]
        # What is protected has tests of its own.
        settings = {**IN_ONE_ORDER, "SIMHASH_SCOPE": self.scope, "SIMHASH_PROTECT": [], "SIMHASH_DIR": folder}
        last = Plan("Follower", {**settings, self.setting: self.words}, {"urls": urls})
        comes_again = self.setting == "SIMHASH_REVISIT_ACTION"
        return [Plan("Follower", settings, {"urls": urls}), last] if comes_again else [last]

    def expected(self) -> dict[str, tuple[str, set[str]]]:
        """Return the status of each page of the last crawl, and what is left of it."""
        comes_again = self.setting == "SIMHASH_REVISIT_ACTION"
        contents: dict[tuple[str, str], Kind] = {}
        pages: dict[str, tuple[str, set[str]]] = {}
        for host in HOSTS:
            for name, kind in KINDS.items():
                path = f"/{host}/{name}"
                if not kind.text:
                    # What is no 2xx page never reaches the callback, and plain text has no links.
                    pages[path] = ("skipped", set() if name == "gone" else {"item"})
                    continue
                place = (SCOPES[self.scope](host, path), kind.text)
                is_copy = place in contents
                content = contents.setdefault(place, kind)
                status = "near_duplicate" if is_copy else "skipped" if kind.text == "caption" else "new"
                if comes_again and status != "skipped":
                    status = "revisit"
                is_asked = {
                    "SIMHASH_ACTION": is_copy,
                    "SIMHASH_EXACT_ACTION": is_copy and kind.is_changed == content.is_changed,
                    "SIMHASH_REVISIT_ACTION": status == "revisit",
                }[self.setting]
                pages[path] = (status, LEFT[self.words if is_asked else "mark"])
        return pages


CASES = [Case(setting, words, scope) for setting in SETTINGS for words in WORDS for scope in SCOPES]


#: The two hosts of the site are two domains.
like_host = pytest.mark.slow("twenty-five crawls, in which the domains are kept apart as hosts are")
PARAMS = [
    pytest.param(case, marks=like_host if case.scope == "domain" else [], id="-".join(case)) for case in CASES
]


@pytest.fixture(scope="module")
def outcome(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Crawl]:
    """The crawl of a case. The first that is asked for is made together with all others of its scope."""

    @cache
    def crawls(scope: str) -> dict[Case, Crawl]:
        plans, last = [], {}
        for case in CASES:
            if case.scope == scope:
                plans += case.plans(site, str(tmp_path_factory.mktemp("store")))
                last[case] = len(plans) - 1
        done = crawl(*plans)
        return {case: done[number] for case, number in last.items()}

    return lambda case: crawls(case.scope)[case]


@pytest.mark.parametrize("case", PARAMS)
def test_what_is_left_is_what_action_verdict_and_scope_say(
    outcome: Callable[[Case], Crawl], case: Case
) -> None:
    done, expected = outcome(case), case.expected()
    found = {
        path: (
            done.page(path).marks["status"],
            ({"item"} if path in done.paths_scraped else set())
            # Nobody else links there. Nothing is there, and who asks for it is told so.
            | ({"link"} if f"{path}/link" in done.verdicts else set()),
        )
        for path in expected
    }
    assert found == expected
    assert done.complaints == []
    # What is gone is counted, each part where it was dropped.
    whole = case.words == "drop_page"
    gone = [left for path, (_, left) in expected.items() if path.rpartition("/")[2] not in ("gone", "plain")]
    assert done.stat("items_dropped") == (0 if whole else sum("item" not in left for left in gone))
    assert done.stat("requests_dropped") == (0 if whole else sum("link" not in left for left in gone))
    assert done.stat("pages_dropped") == (sum(not left for left in gone) if whole else 0)


def test_the_cases_differ() -> None:
    """Else the model might say the same of everything, and the crawls too."""
    assert len({repr(sorted(case.expected().items())) for case in CASES}) >= 30
