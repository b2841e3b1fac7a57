"""The book of clusters and the preferred address, against models that keep everything."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Reason, Status, Verdict
from scrapy_simhash.config import PREFERENCES
from scrapy_simhash.judge.clusters import (
    MAX_KNOWN,
    SHOWN_URLS,
    Cluster,
    ClusterBook,
    Contest,
    Preference,
    gathered,
)

FIRST = "http://example.com/story"


class Page(NamedTuple):
    url: str
    canonical: str | None = None


def copy_of(first: str, number: int = 0, rank: int | None = None) -> Verdict:
    return Verdict(Status.NEAR_DUPLICATE, duplicate_of=first, cluster=number, rank=rank)


def new(number: int = 0) -> Verdict:
    return Verdict(Status.NEW, cluster=number, rank=0)


def told(book: ClusterBook, pages: list[Page], number: int = 0) -> str | None:
    """Tell *book* of a cluster whose first page comes first, and return what is preferred at last."""
    preferred = book.note(new(number), *pages[0])
    for page in pages[1:]:
        preferred = book.note(copy_of(pages[0].url, number), *page)
    return preferred


# --- Which address is preferred.


@pytest.mark.parametrize(
    ("prefer", "pages", "expected"),
    [
        ((), [Page(FIRST), Page("https://example.com/")], FIRST),
        (("https",), [Page(FIRST), Page("HTTPS://example.com/a")], "HTTPS://example.com/a"),
        (("https",), [Page(FIRST), Page("https-like:a")], FIRST),
        # The first page may name another one long before that comes.
        (
            ("canonical",),
            [Page(FIRST, "http://example.com/b"), Page(FIRST + "?a"), Page("http://example.com/b")],
            "/b",
        ),
        # A page that never came, or that has another text, is not there to be preferred.
        (("canonical",), [Page(FIRST), Page(FIRST + "?a", "http://example.com/elsewhere")], FIRST),
        (
            ("canonical",),
            [Page("http://example.com/\udcff"), Page(FIRST, "http://example.com/\udcff")],
            "\udcff",
        ),
    ],
)
def test_the_criteria_decide_in_the_order_of_the_setting(
    prefer: tuple[str, ...], pages: list[Page], expected: str
) -> None:
    preferred = told(ClusterBook(prefer), pages)
    assert preferred is not None
    assert preferred.endswith(expected)


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
ORDERS = st.permutations(PREFERENCES).flatmap(
    lambda order: st.integers(0, len(order)).map(lambda number: tuple(order[:number]))
)


def naive(order: tuple[str, ...], pages: list[Page]) -> str:
    """Return the best of all pages, looked at when all are there."""
    came = [page.url for page in pages]
    named = [page.canonical for page in pages]
    best = list(range(len(pages)))
    for criterion in (*order, "earlier"):
        match criterion:
            case "https":
                wanted = [n for n in best if came[n].startswith("https://")]
            case "canonical":
                most = max(named.count(came[n]) for n in best)
                wanted = [n for n in best if named.count(came[n]) == most]
            case "shorter":
                shortest = min(len(came[n]) for n in best)
                wanted = [n for n in best if len(came[n]) == shortest]
            case _:
                wanted = best[:1]
        best = wanted or best
    return came[best[0]]


@given(ORDERS, PAGES)
def test_it_is_the_best_of_all_pages_so_far_after_every_one(
    order: tuple[str, ...], pages: list[Page]
) -> None:
    book = ClusterBook(order)
    book.note(new(), *pages[0])
    for count, page in enumerate(pages[1:], 2):
        assert book.note(copy_of(pages[0].url), *page) == naive(order, pages[:count])
    (cluster,) = book.clusters()
    assert cluster.preferred == naive(order, pages)


@given(ORDERS, PAGES, st.data())
def test_pages_in_another_order_prefer_the_same_unless_only_earlier_tells_them_apart(
    order: tuple[str, ...], pages: list[Page], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(pages))
    one, other = told(ClusterBook(order), pages), told(ClusterBook(order), shuffled)
    assert one is not None
    assert other is not None
    before_earlier = order[: order.index("earlier")] if "earlier" in order else order
    if one != other:
        votes = [page.canonical for page in pages]
        preference = Preference(before_earlier)
        assert preference.key(one, votes.count(one), 0) == preference.key(other, votes.count(other), 0)


@given(ORDERS, PAGES, st.data())
def test_a_page_that_comes_again_changes_nothing(
    order: tuple[str, ...], pages: list[Page], data: st.DataObject
) -> None:
    book = ClusterBook(order)
    preferred = told(book, pages)
    before = [*book.clusters()]
    again = data.draw(st.sampled_from(pages[1:]))
    # It may name something else by now: what it named first stands.
    named = again.canonical and data.draw(st.sampled_from(URLS))
    revisit = Verdict(Status.REVISIT, duplicate_of=pages[0].url, cluster=0, reason=Reason.UNCHANGED)
    assert book.note(revisit, again.url, named) == preferred
    assert [*book.clusters()] == before


def test_beyond_the_bound_what_was_named_before_can_still_win_and_nothing_else() -> None:
    contest = Contest(Preference(["canonical"]), FIRST)
    for number in range(MAX_KNOWN):
        contest.enter(f"{FIRST}?a={number}", FIRST + "?named" if number == 0 else None)
    contest.enter(FIRST + "?late")
    size = contest.kept
    contest.enter(f"{FIRST}?a=1", FIRST + "?late")
    assert contest.winner == FIRST
    contest.enter(FIRST + "?named")
    assert contest.winner == FIRST + "?named"
    # One page had not named anything before, and named something new.
    assert contest.kept == size + 2


def test_what_a_page_named_when_it_came_first_stands_also_before_its_first_copy() -> None:
    book = ClusterBook(["canonical"])
    later = "http://example.com/later"
    book.note(new(), FIRST, later)
    book.note(Verdict(Status.REVISIT, cluster=0, reason=Reason.CHANGED), FIRST, FIRST)
    assert book.note(copy_of(FIRST), later) == later


# --- What is known of a cluster.


def test_a_page_without_a_copy_is_no_cluster() -> None:
    book = ClusterBook(PREFERENCES)
    assert book.note(new(), FIRST, FIRST) is None
    assert book.note(Verdict(Status.REVISIT, cluster=0, reason=Reason.UNCHANGED), FIRST) is None
    assert book.note(Verdict(Status.SKIPPED, reason=Reason.NOT_HTML), FIRST) is None
    assert book.note(Verdict(Status.UNKNOWN), FIRST) is None
    assert (len(book), book.largest) == (0, 0)


def test_a_first_page_that_comes_again_learns_what_is_preferred() -> None:
    book = ClusterBook(["https"])
    told(book, [Page(FIRST), Page("https://example.com/story")])
    revisit = Verdict(Status.REVISIT, cluster=0, reason=Reason.UNCHANGED)
    assert book.note(revisit, FIRST) == "https://example.com/story"
    (cluster,) = book.clusters()
    assert cluster.pages == 2


def test_a_cluster_tells_its_pages_a_few_addresses_and_its_hosts() -> None:
    book = ClusterBook()
    urls = [
        f"http://{host}.example/{n}"
        for n in range(2)
        for host in ("a", "b", "user:secret@a", "user:secret@b")
    ]
    told(book, [Page(url) for url in urls], number=7)
    (cluster,) = book.clusters()
    assert cluster == Cluster(7, 8, 8, urls[0], urls[0], tuple(urls[:SHOWN_URLS]), 2)
    assert book.largest == 8


def test_pages_of_earlier_crawls_count_in_the_size_and_not_among_the_pages() -> None:
    book = ClusterBook()
    book.note(copy_of(FIRST, rank=41), FIRST + "?a")
    book.note(copy_of(FIRST, rank=12), FIRST + "?b")
    (cluster,) = book.clusters()
    assert (cluster.pages, cluster.size, book.largest) == (3, 42, 42)


def test_a_page_whose_address_cannot_be_parsed_has_no_host() -> None:
    book = ClusterBook()
    told(book, [Page("http://[broken"), Page("http://[broken?a")])
    (cluster,) = book.clusters()
    assert cluster.hosts == 1


def test_the_clusters_with_the_most_pages_come_first() -> None:
    book = ClusterBook()
    for number, pages in [(3, 2), (1, 4), (2, 2)]:
        told(book, [Page(f"http://example.com/{number}?{n}") for n in range(pages)], number)
    assert [cluster.number for cluster in book.clusters()] == [1, 2, 3]


def test_a_first_page_that_comes_under_another_address_may_win_and_is_no_further_page() -> None:
    # The store has its address from an earlier crawl.
    book = ClusterBook(["https", "canonical"])
    revisit = Verdict(Status.REVISIT, cluster=0, reason=Reason.UNCHANGED)
    book.note(revisit, "https://example.com/moved", "https://example.com/moved")
    assert book.note(copy_of(FIRST), FIRST + "?a") == "https://example.com/moved"
    book.note(revisit, "https://example.com/moved/again")
    (cluster,) = book.clusters()
    assert (cluster.pages, cluster.first, cluster.preferred) == (2, FIRST, "https://example.com/moved")


# --- The bounds.


def test_clusters_that_were_not_met_for_the_longest_time_are_forgotten_and_counted() -> None:
    book = ClusterBook(["https"], max_clusters=2)
    for number in (1, 2):
        told(book, [Page(f"http://example.com/{number}"), Page(f"https://example.com/{number}")], number)
    book.note(copy_of("http://example.com/1", 1), "http://example.com/1?a")
    told(book, [Page("http://example.com/3"), Page("http://example.com/3?a")], 3)
    assert [cluster.number for cluster in book.clusters()] == [1, 3]
    # What was counted stays counted.
    assert (len(book), book.forgotten, book.largest) == (2, 1, 3)


def test_a_cluster_that_was_forgotten_begins_anew() -> None:
    book = ClusterBook(["https"], max_clusters=1)
    told(book, [Page(FIRST), Page(FIRST + "?a"), Page(FIRST + "?b")], 1)
    told(book, [Page("http://example.com/2"), Page("http://example.com/2?a")], 2)
    book.note(copy_of(FIRST, 1), FIRST + "?c")
    (cluster,) = book.clusters()
    assert (cluster.number, cluster.pages, cluster.first) == (1, 2, FIRST)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.booleans()), max_size=60))
def test_the_bounds_hold_whatever_comes(steps: list[tuple[int, int, bool]]) -> None:
    book = ClusterBook(PREFERENCES, max_clusters=3, max_addresses=12, max_waiting=2)
    for number, page, is_copy in steps:
        first = f"http://example.com/{number}"
        book.note(copy_of(first, number) if is_copy else new(number), f"{first}?{page}", first)
        assert len(book) <= 3
        assert len(book._waiting) <= 2
        assert book._addresses == sum(entry.kept for entry in book._entries.values())
        assert book._addresses <= 12


def test_what_a_page_names_is_forgotten_when_too_many_wait() -> None:
    book = ClusterBook(["canonical"], max_waiting=1)
    later = "http://example.com/later"
    book.note(new(1), FIRST, later)
    book.note(new(2), "http://example.com/2", "http://example.com/2")
    assert book.note(copy_of(FIRST, 1), later) == FIRST


def test_stored_pages_are_gathered_by_cluster_and_a_url_that_comes_again_is_one() -> None:
    later = "https://example.com/later"
    pages = [(1, FIRST, later), (1, FIRST, None), (1, later, None), (4, FIRST, None), (4, FIRST, None)]
    assert [*gathered(pages, Preference(["canonical"]))] == [(1, (FIRST, later), later)]
    assert [*gathered([], Preference())] == []
