"""Stores of commands: claiming pages in the order of iteration recreates a store."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.cli.stores import SyncStore, walk
from scrapy_simhash.judge.rule import Rule, SimilarityRule
from scrapy_simhash.store import Posting
from scrapy_simhash.store.sqlite import SqliteStore
from tests.examples import examples
from tests.store.cases import CLASSIC, SECOND_LOOK, content, header, posting, url

KEYS = st.sampled_from("abcdefgh")
#: Few values near each other, so that there are many copies and changes.
VALUES = [
    Fingerprint(bits) if edited is None else content(bits, edited)
    for bits in (0, 0b1, 0b111, 0b11_1111, 0b1_1111_1111, 0xFFF0, 0xFFFF_0000)
    for edited in (None, None, 0, 30, 60, 90)
]
#: With text hashes: each text has one fingerprint, but several texts may share it.
TEXTS = [
    (value, page_hash)
    for number, value in enumerate(VALUES)
    for page_hash in (None, 2 * number + 1, 2 * number + 2)
]
VISITS = st.builds(
    lambda key, text, scope, seen: posting(key, text[0], scope, page_hash=text[1], seen=seen),
    KEYS,
    st.sampled_from(TEXTS),
    st.sampled_from(["", "", "x"]),
    st.integers(0, 9),
)
SHORT_VISITS = st.builds(posting, KEYS, st.integers(0, 3), is_short=st.just(True))
EVENTS = st.lists(VISITS | SHORT_VISITS | KEYS, max_size=40)
RULES = st.sampled_from([CLASSIC, SECOND_LOOK, SimilarityRule(6, 0.9)])


def store_after(events: Sequence[Posting | str], rule: Rule) -> SyncStore:
    """Return a store after visits to pages and the removal of keys."""
    store = SqliteStore(header=header(rule))
    for event in events:
        if isinstance(event, Posting):
            store.claim(event)
        else:
            store.remove(event.encode())
    return SyncStore(store)


def imported(source: SyncStore, target: SyncStore | None = None) -> SyncStore:
    store = SyncStore(SqliteStore(header=source.header)) if target is None else target
    for page in walk(source):
        store.claim(page.posting)
    return store


def facts(store: SyncStore) -> dict[bytes, tuple[object, ...]]:
    """Return all data of each page without its number and history, which count visits."""
    found: dict[bytes, tuple[object, ...]] = {}
    for page in walk(store):
        visit = page.posting._replace(history=None)
        found[visit.key] = (visit, visit.fingerprint.sketch, page.original)
    return found


def contents(store: SyncStore) -> list[tuple[object, ...]]:
    """Return the searchable values of pages."""
    originals = [page.posting for page in walk(store) if page.cluster == page.number]
    return sorted((p.key, p.scope, p.fingerprint.value, p.is_short) for p in originals)


@settings(max_examples=examples(300), deadline=None)
@given(EVENTS, RULES)
def test_all_pages_and_their_last_visits_are_imported_once(events: list[Posting | str], rule: Rule) -> None:
    source = store_after(events, rule)
    once, twice = imported(source), imported(source, imported(source))
    assert {key: fact[:2] for key, fact in facts(once).items()} == {
        key: fact[:2] for key, fact in facts(source).items()
    }
    assert len(once) == len(source)
    assert (facts(twice), contents(twice), twice.index_size) == (facts(once), contents(once), once.index_size)


def originals(store: SyncStore) -> dict[str, str | None]:
    return {page.posting.url: page.original for page in walk(store)}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # A page that became a copy of a newer page is imported as its copy.
        (
            [posting("a", 0), posting("b", 0xFFFF_0000), posting("c", 0xFF), posting("b", 0xFE)],
            {"a": None, "b": "c", "c": None},
        ),
        (
            [posting("a", 0), posting("b", 1), posting("c", 0xFF), posting("b", 0xFE)],
            {"a": None, "b": "c", "c": None},
        ),
        # A page whose original was removed becomes a copy of another page.
        ([posting("a", 0), posting("b", 0b111), posting("c", 0b11111), "a"], {"b": "c", "c": None}),
    ],
)
def test_an_imported_page_has_the_nearest_original(
    events: list[Posting | str], expected: dict[str, str | None]
) -> None:
    found = originals(imported(store_after(events, CLASSIC)))
    assert found == {url(key): key_of and url(key_of) for key, key_of in expected.items()}
