"""A damaged record of any store affects only its page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import Claim, Posting
from tests.store.cases import content, posting, unique_text

#: Opens the store as a context manager, with the options of its class.
Opened = Callable[..., AbstractContextManager[Any]]

FAR = content(0xFFFF_0000_FFFF_0000, text="far")


def page(key: str, what: int | Fingerprint, is_short: bool = False) -> Posting:
    return posting(key, what, is_short=is_short, page_hash=abs(hash(what)), seen=1)


def with_own(value: int, own: int, edited: int = 0) -> Fingerprint:
    return Fingerprint(value, sketch=content(value, edited).sketch, own=unique_text(own, edited))


LIKE_A = with_own(1, own=1 << 60 | 1, edited=9)
#: Page a is damaged; b is a near-duplicate of a. Pages c (whose text was replaced), d (a copy of c) and the
#: short pages are unrelated.
PAGES = (
    page("a", with_own(0, own=1 << 60)),
    page("b", LIKE_A),
    page("c", content(0xF0F0, text="before")),
    page("c", FAR),
    page("d", FAR),
    page("e", 7, is_short=True),
    page("f", 7, is_short=True),
)
#: Visits of pages unlike a, including new ones.
OTHERS = (
    *PAGES[3:],
    page("g", content(FAR.value ^ 1, 5, text="far")),
    page("h", content(0xAAAA, text="other")),
)


def fill(opened: Opened) -> None:
    with opened() as store:
        for one in PAGES:
            store.claim(one)


def ask_others(store: Any) -> list[tuple[object, ...]]:
    """Return the claims of undamaged pages, without the numbers of new pages."""
    store.deliver({b"a": None, b"b": None, b"d": None})
    return [comparable(store.claim(one)) for one in OTHERS]


def comparable(claim: Claim) -> tuple[object, ...]:
    former = claim.former and claim.former._replace(number=0, cluster=0)
    return (former, claim.original, claim.distance, claim.similarity, claim.is_same_text, claim.rank)


def ask_anything(store: Any) -> None:
    """Use a store that may be damaged anywhere: each call returns or raises StoreError."""
    with suppress(StoreError):
        list(store)
    with suppress(StoreError):
        store.runs()
    for one in PAGES:
        for ask in (store.look, store.claim):
            with suppress(StoreError):
                assert ask(one).original != one.url
        with suppress(StoreError):
            store.get(one.key)
        with suppress(StoreError):
            store.deliver({one.key: one.own_page_hash})
