"""What a walk yields, another store takes in: the same originals, and each copy with its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.cli.stores import walk
from scrapy_simhash.judge.rule import Rule, SimilarityRule
from scrapy_simhash.store import MemoryStore, Posting, Store
from tests.examples import examples
from tests.store.cases import CLASSIC, SECOND_LOOK, content, header, posting, url

KEYS = st.sampled_from("abcdefgh")
#: Few values, near each other, so that pages repeat each other, and change.
VALUES = st.builds(
    lambda bits, edited: Fingerprint(bits) if edited is None else content(bits, edited),
    st.sampled_from([0, 0b1, 0b111, 0b11_1111, 0b1_1111_1111, 0xFFF0, 0xFFFF_0000]),
    st.sampled_from([None, None, 0, 30, 60, 90]),
)
VISITS = st.builds(
    posting,
    KEYS,
    VALUES,
    st.sampled_from(["", "", "x"]),
    text_hash=st.sampled_from([None, 1, 2]),
    seen=st.integers(0, 9),
)
SHORT_VISITS = st.builds(posting, KEYS, st.integers(0, 3), is_short=st.just(True))
LIVES = st.lists(VISITS | SHORT_VISITS | KEYS, max_size=40)
RULES = st.sampled_from([CLASSIC, SECOND_LOOK, SimilarityRule(6, 0.9)])


def lived(life: Sequence[Posting | str], rule: Rule) -> Store:
    """Return a store in which pages were visited, and those named by their keys removed."""
    store = MemoryStore(header(rule))
    for event in life:
        if isinstance(event, Posting):
            store.claim(event)
        else:
            store.remove(event.encode())
    return store


def taken_in(source: Store, target: Store | None = None) -> Store:
    store = MemoryStore(source.header) if target is None else target
    for step in walk(source):
        store.claim(step.posting)
    return store


def facts(store: Store) -> dict[bytes, tuple[object, ...]]:
    """Return all that is known of each page, but for numbers, which count visits."""
    found: dict[bytes, tuple[object, ...]] = {}
    for step in walk(store):
        if step.page is not None:
            visit = step.page.posting
            found[visit.key] = (visit, visit.fingerprint.sketch, step.page.original)
    return found


def contents(store: Store) -> list[tuple[object, ...]]:
    """Return what can be found: which values of which pages."""
    originals = [
        step.posting for step in walk(store) if step.page is None or step.page.cluster == step.page.number
    ]
    return sorted((p.key, p.scope, p.fingerprint.value, p.is_short) for p in originals)


@settings(max_examples=examples(300), deadline=None)
@given(LIVES, RULES)
def test_all_pages_and_their_last_visits_are_taken_over(life: list[Posting | str], rule: Rule) -> None:
    source = lived(life, rule)
    target = taken_in(source)
    assert {key: fact[:2] for key, fact in facts(target).items()} == {
        key: fact[:2] for key, fact in facts(source).items()
    }
    assert len(target) == len(source)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(VISITS | SHORT_VISITS, max_size=40), RULES)
def test_the_same_can_be_found_as_long_as_nothing_was_removed(life: list[Posting | str], rule: Rule) -> None:
    source = lived(life, rule)
    target = taken_in(source)
    assert target.index_size == source.index_size
    assert contents(target) == contents(source)
    copies = {key for key, fact in facts(source).items() if fact[2] is not None}
    assert {key for key, fact in facts(target).items() if fact[2] is not None} == copies


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(VISITS | SHORT_VISITS, max_size=40, unique_by=lambda visit: visit.key), RULES)
def test_of_pages_that_were_visited_once_everything_is_the_same(
    life: list[Posting | str], rule: Rule
) -> None:
    source = lived(life, rule)
    target = taken_in(source)
    assert [tuple(step) for step in walk(target)] == [tuple(step) for step in walk(source)]


@settings(max_examples=examples(300), deadline=None)
@given(LIVES, RULES)
def test_taking_all_in_again_changes_nothing(life: list[Posting | str], rule: Rule) -> None:
    source = lived(life, rule)
    once, twice = taken_in(source), taken_in(source, taken_in(source))
    assert facts(twice) == facts(once)
    assert contents(twice) == contents(once)
    assert twice.index_size == once.index_size


def originals(store: Store) -> dict[str, str | None]:
    return {step.page.posting.url: step.page.original for step in walk(store) if step.page is not None}


@pytest.mark.parametrize(
    "life",
    [
        [posting("a", 0), posting("b", 0xFFFF_0000), posting("c", 0xFF), posting("b", 0xFE)],
        [posting("a", 0), posting("b", 1), posting("c", 0xFF), posting("b", 0xFE)],
    ],
    ids=["an original", "a copy"],
)
def test_a_page_that_came_to_repeat_a_younger_one_leaves_that_one_its_content(life: list[Posting]) -> None:
    source = lived(life, CLASSIC)
    assert originals(taken_in(source)) == {url("a"): None, url("b"): url("c"), url("c"): None}
    assert contents(taken_in(source)) == contents(source)


def test_a_page_that_was_an_original_finds_the_same_one_each_time_that_all_is_taken_in() -> None:
    # Of the last two, which are too far from each other, b is nearer to the later one.
    life = [posting("a", 0), posting("b", 0xFFFF_0000), posting("b", 0b111), posting("c", 0b11111)]
    once = taken_in(lived(life, CLASSIC))
    assert originals(once)[url("b")] == originals(taken_in(once, taken_in(once)))[url("b")] == url("c")


def test_a_page_whose_original_was_removed_takes_no_content_from_another() -> None:
    source = lived([posting("a", 0), posting("b", 0b111), posting("c", 0b11111), "a"], CLASSIC)
    assert originals(source) == {url("b"): None, url("c"): None}
    assert originals(taken_in(source)) == {url("b"): url("c"), url("c"): None}
