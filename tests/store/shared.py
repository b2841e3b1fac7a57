"""What every store must do that several crawlers use at once, each in a run of its own, and that knows who is live.

A backend's test file subclasses ``SharedContract`` and ``SharedMachine``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from scrapy_simhash.store import Header, Store, Visit
from tests.store.cases import FAR, SECOND_LOOK, header, posting
from tests.store.naive import NaiveStore


class SharedContract(ABC):
    """Tests of what a claim says of texts that other runs have delivered: whether those are *live*."""

    @abstractmethod
    def make(self, header: Header) -> Store:
        """Return an empty store, in the first run; it gives heartbeats, and sees those of others."""

    @abstractmethod
    def join(self, store: Store, has_heartbeat: bool = True) -> Store:
        """Return the same for another crawler, in a run of its own; or one that has no part in heartbeats."""

    @abstractmethod
    def end(self, store: Store) -> None:
        """End the run of *store* in order."""

    @abstractmethod
    def silence(self, store: Store) -> None:
        """Kill the run of *store*, so long ago that its last heartbeat does not count any more."""

    @pytest.fixture
    def one(self) -> Store:
        return self.make(header(SECOND_LOOK))

    def fate(self, store: Store, text_hash: int | None = 1, is_delivered: bool = True) -> str:
        """Claim a page, and return what became of its last visit."""
        return _fate(store.claim(posting("a", 5, text_hash=text_hash, is_delivered=is_delivered)).former)

    def test_a_text_that_another_run_at_work_has_delivered_is_live(self, one: Store) -> None:
        other = self.join(one)
        assert [self.fate(store) for store in (one, other)] == ["none", "live"]
        assert _fate(self.join(one).look(posting("a", 5, text_hash=1)).former) == "live"

    def test_what_a_run_itself_has_delivered_is_not_live(self, one: Store) -> None:
        other = self.join(one)
        assert [self.fate(store) for store in (one, one, other, one)] == ["none", "open", "live", "open"]

    def test_a_run_that_was_killed_is_not_live_and_who_comes_next_takes_its_place(self, one: Store) -> None:
        other, third = self.join(one), self.join(one)
        assert [self.fate(store) for store in (one, other)] == ["none", "live"]
        self.silence(one)
        assert [self.fate(store) for store in (other, other, third)] == ["open", "open", "live"]

    def test_who_asked_in_vain_does_not_settle_what_is_another_s(self, one: Store) -> None:
        other = self.join(one)
        assert [self.fate(store) for store in (one, other)] == ["none", "live"]
        self.end(other)
        third = self.join(one)
        assert self.fate(third) == "live"
        self.silence(one)
        assert self.fate(third) == "open", "the page would be lost, if this were settled"

    def test_a_text_is_settled_when_the_run_that_handed_it_on_ends_in_order(self, one: Store) -> None:
        other = self.join(one)
        assert [self.fate(store) for store in (one, other)] == ["none", "live"]
        self.end(one)
        assert [self.fate(store) for store in (other, self.join(one))] == ["settled", "settled"]

    def test_another_text_is_who_found_it_s(self, one: Store) -> None:
        other = self.join(one)
        assert self.fate(one) == "none"
        assert self.fate(other, text_hash=2) == "live", "the former text was another crawler's"
        assert self.fate(other, text_hash=2) == "open", "this one is not"
        assert self.fate(one, text_hash=2) == "live"

    @pytest.mark.parametrize("claimer", [0, 1])
    def test_a_claim_that_is_not_delivered_leaves_nothing_live(self, one: Store, claimer: int) -> None:
        stores = one, self.join(one)
        assert [self.fate(store) for store in stores] == ["none", "live"]
        assert self.fate(stores[claimer], is_delivered=False) == ["open", "live"][claimer]
        assert self.fate(stores[1]) == "open"
        assert self.fate(stores[0]) == "live", "it was delivered anew"

    def test_what_was_unsettled_is_not_live(self, one: Store) -> None:
        other = self.join(one)
        assert [self.fate(store) for store in (one, other)] == ["none", "live"]
        one.unsettle([b"a"])
        assert self.fate(other) == "open"
        assert self.fate(one) == "live", "it was delivered anew, by the other"

    def test_who_was_told_that_a_text_is_live_cannot_unsettle_it(self, one: Store) -> None:
        other = self.join(one)
        assert [self.fate(store) for store in (one, other)] == ["none", "live"]
        other.unsettle([b"a"])
        assert self.fate(self.join(one)) == "live"
        self.end(one)
        assert self.fate(other) == "settled"

    def test_who_has_no_part_in_heartbeats_is_not_live_and_sees_nobody(self, one: Store) -> None:
        quiet = self.join(one, has_heartbeat=False)
        assert self.fate(quiet) == "none"
        assert self.fate(one) == "open"
        assert self.fate(quiet) == "open"
        assert self.fate(one) == "open", "as without heartbeats, the text is that of who came last"

    def test_a_short_page_is_told_too(self, one: Store) -> None:
        other = self.join(one)
        for key in "ab":
            one.claim(posting(key, 8, is_short=True))
        assert _fate(other.claim(posting("b", 8, is_short=True)).former) == "live"


def _fate(former: Visit | None) -> str:
    if former is None:
        return "none"
    assert not (former.is_live and former.is_settled)
    return "live" if former.is_live else "settled" if former.is_settled else "open"


class SharedMachine(RuleBasedStateMachine):
    """Three crawlers at once, lived beside ``NaiveStore``: they end, are killed, and others take their places."""

    @abstractmethod
    def make(self, header: Header) -> Store:
        """As of ``SharedContract``; so are the others."""

    @abstractmethod
    def join(self, store: Store) -> Store: ...

    @abstractmethod
    def end(self, store: Store) -> None: ...

    @abstractmethod
    def silence(self, store: Store) -> None: ...

    @initialize()
    def start(self) -> None:
        first = self.make(header(SECOND_LOOK))
        self.stores: list[Store] = [first, self.join(first), self.join(first)]
        self.runs = [1, 2, 3]
        self.naive = NaiveStore(SECOND_LOOK)
        self.naive.live = {1, 2, 3}

    @rule(
        crawler=st.integers(0, 2),
        key=st.sampled_from("abc"),
        value=st.sampled_from([5, 5, 5, 4, FAR]),
        text_hash=st.sampled_from([1, 1, 1, 2, None]),
        is_delivered=st.sampled_from([True, True, True, False]),
        is_look=st.sampled_from([False, False, False, True]),
    )
    def visit(
        self,
        crawler: int,
        key: str,
        value: int,
        text_hash: int | None,
        is_delivered: bool,
        is_look: bool,
    ) -> None:
        page = posting(key, value, "", False, text_hash, is_delivered=is_delivered)
        self.naive.run = self.runs[crawler]
        store, what = self.stores[crawler], "look" if is_look else "claim"
        assert getattr(store, what)(page) == getattr(self.naive, what)(page)

    @rule(crawler=st.integers(0, 2), keys=st.sets(st.sampled_from("abc")))
    def unsettle(self, crawler: int, keys: set[str]) -> None:
        named = {key.encode() for key in keys}
        self.naive.run = self.runs[crawler]
        self.stores[crawler].unsettle(named)
        self.naive.unsettle(named)

    @rule(crawler=st.integers(0, 2), in_order=st.booleans())
    def end_and_begin_anew(self, crawler: int, in_order: bool) -> None:
        store = self.stores[crawler]
        if in_order:
            self.end(store)
            self.naive.ended.add(self.runs[crawler])
        else:
            self.silence(store)
            self.naive.live.discard(self.runs[crawler])
        self.stores[crawler] = self.join(store)
        self.runs[crawler] = max(self.runs) + 1
        self.naive.live.add(self.runs[crawler])

    @rule(key=st.sampled_from("abc"))
    def get(self, key: str) -> None:
        assert self.stores[0].get(key.encode()) == self.naive.get(key.encode())
