"""The preferred URL of a cluster, compared with a model that keeps everything."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.judge.clusters import MAX_KNOWN, Contest, gathered

FIRST = "https://example.com/story"


class Page(NamedTuple):
    url: str
    canonical: str | None = None


def contest_of(pages: list[Page]) -> Contest:
    """Return the contest of a cluster with this first page."""
    contest = Contest(pages[0].url)
    for page in pages:
        contest.enter(*page)
    return contest


URLS = [
    f"{scheme}://{host}/{path}"
    for scheme in ("http", "https")
    for host in ("a.example", "bb")
    for path in "xyz"
]
PAGES = st.lists(
    st.builds(Page, st.sampled_from(URLS), st.none() | st.sampled_from([*URLS, "http://never.example/"])),
    min_size=2,
    max_size=9,
    unique_by=lambda page: page.url,
)


def naive(pages: list[Page]) -> str:
    """Return the best of all pages, compared at the end."""
    came = [page.url for page in pages]
    named = [page.canonical for page in pages]
    best = [url for url in came if url.startswith("https://")] or came
    most = max(map(named.count, best))
    best = [url for url in best if named.count(url) == most]
    return min(best, key=len)


@given(PAGES)
def test_the_preferred_page_is_the_best_after_every_step(pages: list[Page]) -> None:
    for count in range(1, len(pages) + 1):
        assert contest_of(pages[:count]).winner == naive(pages[:count])


def kept(contest: Contest) -> int:
    """Return the number of stored hashes: of pages, of pages that voted, and of canonical URLs."""
    return len(contest._arrivals) + len(contest._voters or ()) + len(contest._votes or ())


def test_beyond_the_limit_only_urls_with_earlier_votes_can_win() -> None:
    contest = Contest(FIRST)
    for number in range(MAX_KNOWN):
        contest.enter(f"{FIRST}?a={number}", FIRST + "?named" if number == 0 else None)
    contest.enter(FIRST + "?late")
    size = kept(contest)
    contest.enter(f"{FIRST}?a=1", FIRST + "?late")
    assert contest.winner == FIRST
    contest.enter(FIRST + "?named")
    assert contest.winner == FIRST + "?named"
    # One page named a new URL.
    assert kept(contest) == size + 2


def test_stored_pages_are_grouped_by_cluster_with_each_url_once() -> None:
    later = "https://example.com/later"
    pages = [(1, FIRST, later), (1, FIRST, None), (1, later, None), (4, FIRST, None), (4, FIRST, None)]
    assert [*gathered(pages)] == [(1, (FIRST, later), later)]
    assert [*gathered([])] == []
