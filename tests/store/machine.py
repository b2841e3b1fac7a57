"""Random operations on any store, compared with ``NaiveStore``. The tests of a backend subclass ``StoreMachine`` or,
for a permanent store, ``PersistentMachine``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from scrapy_simhash import Fingerprint
from scrapy_simhash.judge.rule import ClassicRule, Rule, SimilarityRule
from scrapy_simhash.page.fingerprint import DOUBTFUL, UNKNOWN, WHOLE, UniqueText
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Header, History, Touch
from tests.store.cases import (
    FACTS,
    LINES,
    MIRRORED,
    NAMES,
    ROWS,
    bare,
    content,
    header,
    posting,
    unique_text,
    whole,
)
from tests.store.naive import NaiveStore

#: Unique texts of few kinds, near to each other or far apart, some near the values of pages.
UNIQUE_TEXTS = st.sampled_from(
    [
        *[
            UniqueText(kind, tokens).to_bytes()
            for kind in (UNKNOWN, WHOLE, DOUBTFUL)
            for tokens in (20, 2_000)
        ],
        *[unique_text(value, edited) for value in (1, 0xFF, 0xF0F0 << 32) for edited in (0, 30, 200)],
        unique_text(0, tokens=5),
        unique_text(3, tokens=5),
    ]
)


class StoreMachine(RuleBasedStateMachine):
    """Few pages, few contents, many visits: revisits, changes and matches are frequent."""

    seen = Bundle("seen")

    @abstractmethod
    def make(self, header: Header) -> Any:
        """Return an empty store; a subclass must implement only this."""

    @initialize(
        rule=st.sampled_from(
            [
                *(ClassicRule(max_distance) for max_distance in (0, 1, 3)),
                *(SimilarityRule(*of) for of in ((10, 0.8), (6, 0.9), (16, 0.5), (2, 0.8), (10, 1.0))),
            ]
        ),
        facts=st.sampled_from([FACTS, LINES, ROWS, (*LINES, NONE), (*NAMES, *LINES, MIRRORED)]),
    )
    def start(self, rule: Rule, facts: tuple[bytes, ...]) -> None:
        self.store = self.make(header(rule))
        self.naive = NaiveStore(rule)
        self.clock, self.facts = 0, facts

    def claim(
        self,
        key: str,
        scope: str,
        what: Fingerprint,
        page_hash: int | None = None,
        is_delivered: bool = False,
        is_short: bool = False,
        history: History | None = None,
    ) -> Fingerprint:
        self.clock += 1
        visit = posting(key, what, scope, is_short, page_hash, self.clock, is_delivered)
        visit = visit._replace(text_hash=page_hash and page_hash // 2, history=history)
        expected = self.naive.claim(visit)
        assert bare(self.store.claim(visit)) == bare(expected)
        return what

    def stated(self, number: int) -> bytes:
        return self.facts[number % len(self.facts)]

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        scope=st.sampled_from(["", "x"]),
        value=st.integers(0, 2**64 - 1),
        has_sketch=st.booleans(),
        stated=st.integers(0, 99),
        page_hash=st.sampled_from([None, 0, 2**64 - 1]),
        is_delivered=st.booleans(),
    )
    def visit_with_any_content(
        self,
        key: str,
        scope: str,
        value: int,
        has_sketch: bool,
        stated: int,
        page_hash: int | None,
        is_delivered: bool,
    ) -> Fingerprint:
        what = content(value, facts=self.stated(stated)) if has_sketch else Fingerprint(value)
        return self.claim(key, scope, what, page_hash, is_delivered)

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        scope=st.sampled_from(["", "", "", "x"]),
        like=seen,
        bits=st.sets(st.integers(0, 15), max_size=12),
        edited=st.sampled_from([None, 0, 10, 30, 60, 90, 150]),
        title_key=st.sampled_from(["night pilots", "night pilots", "day pilots", ""]),
        stated=st.integers(0, 99),
        page_hash=st.sampled_from([None, 0, 0, 2**64 - 1]),
    )
    def visit_with_content_like_another(
        self,
        key: str,
        scope: str,
        like: Fingerprint,
        bits: set[int],
        edited: int | None,
        title_key: str,
        stated: int,
        page_hash: int | None,
    ) -> Fingerprint:
        value = like.value ^ sum(1 << bit for bit in bits)
        what = (
            Fingerprint(value)
            if edited is None
            else content(value, edited, title_key, facts=self.stated(stated))
        )
        return self.claim(key, scope, what, page_hash)

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        like=seen,
        bits=st.sets(st.integers(0, 40), max_size=20),
        edited=st.sampled_from([0, 10, 90]),
        text=st.sampled_from(["", "", "x"]),
        stated=st.integers(0, 99),
        own=UNIQUE_TEXTS,
    )
    def visit_with_unique_text(
        self, key: str, like: Fingerprint, bits: set[int], edited: int, text: str, stated: int, own: bytes
    ) -> Fingerprint:
        value = like.value ^ sum(1 << bit for bit in bits)
        return self.claim(
            key, "", replace(content(value, edited, text=text, facts=self.stated(stated)), own=own)
        )

    @rule(key=st.sampled_from("abcdefgh"), scope=st.sampled_from(["", "x"]), value=st.integers(0, 3))
    def visit_with_a_short_text(self, key: str, scope: str, value: int) -> None:
        self.claim(key, scope, Fingerprint(value), is_short=True)

    @rule(key=st.sampled_from("abcdefgh"))
    def visit_again_unchanged(self, key: str) -> None:
        page = self.naive.get(key.encode())
        if page is not None:
            last = page.posting
            self.claim(key, last.scope, last.fingerprint, last.page_hash, is_short=last.is_short)

    @rule(
        key=st.sampled_from("abcdefgh"),
        like=seen,
        times=st.tuples(st.integers(1, 50), st.integers(1, 50)),
        changes=st.integers(0, 3),
    )
    def import_with_its_visits(
        self, key: str, like: Fingerprint, times: tuple[int, int], changes: int
    ) -> None:
        self.claim(key, "", like, 1, history=History(*times, visits=changes + 2, changes=changes))

    @rule(
        keys=st.lists(st.sampled_from("abcdefgh"), max_size=4, unique=True),
        touch=st.sampled_from(Touch),
        seconds=st.integers(0, 3),
    )
    def touch(self, keys: list[str], touch: Touch, seconds: int) -> None:
        visits = [(key.encode(), self.clock + seconds) for key in keys]
        self.store.touch(visits, touch)
        self.naive.touch(visits, touch)

    @rule(pages=st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([None, 0, 1, 2**64 - 1])))
    def deliver(self, pages: dict[str, int | None]) -> None:
        named = {key.encode(): page_hash for key, page_hash in pages.items()}
        self.store.deliver(named)
        self.naive.deliver(named)

    @rule(key=st.sampled_from("abcdefgh"), like=seen)
    def look(self, key: str, like: Fingerprint) -> None:
        visit = posting(key, like)
        assert bare(self.store.look(visit)) == bare(self.naive.look(visit))

    @rule(key=st.sampled_from("abcdefgh"))
    def remove(self, key: str) -> None:
        assert self.store.remove(key.encode()) == self.naive.remove(key.encode())

    @rule(key=st.sampled_from("abcdefgh"))
    def get(self, key: str) -> None:
        page, expected = self.store.get(key.encode()), self.naive.get(key.encode())
        assert bare(page) == bare(expected)
        if page is not None and expected is not None:
            assert whole(page.posting) == whole(expected.posting)
            assert page.posting.history == expected.posting.history
            assert page.rank == expected.rank

    @rule()
    def equal_text_is_one_cluster(self) -> None:
        clusters: dict[tuple[str, int], set[int]] = {}
        for page in filter(None, map(self.store.get, map(str.encode, "abcdefgh"))):
            scope, page_hash, is_short = page.posting.scope, page.posting.page_hash, page.posting.is_short
            # A copy of a removed page is compared again on its next visit.
            has_text = page_hash is not None and not is_short
            if has_text and (page.original is not None or page.cluster == page.number):
                clusters.setdefault((scope, page_hash), set()).add(page.cluster)
        assert all(len(found) == 1 for found in clusters.values())

    @rule()
    def go_through_all(self) -> None:
        assert [whole(posting) for posting in self.store] == [whole(p) for p in self.naive.postings()]

    @invariant()
    def both_hold_as_much(self) -> None:
        assert len(self.store) == len(self.naive)
        assert self.store.index_size == self.naive.index_size


class PersistentMachine(StoreMachine):
    """The machine with a permanent store, which is reopened many times."""

    #: Number of runs that have begun.
    runs_begun = 1

    @abstractmethod
    def reopen(self, store: Any, in_order: bool) -> Any:
        """Close *store*, or simulate a kill, and open it again."""

    @rule(in_order=st.booleans())
    def open_again(self, in_order: bool) -> None:
        self.store = self.reopen(self.store, in_order)
        self.runs_begun += 1
        self.naive.run = self.runs_begun
