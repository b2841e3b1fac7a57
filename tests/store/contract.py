"""What every store must do. A backend's test file subclasses ``StoreContract`` and ``StoreMachine``.

The machine lives the life of a store beside ``NaiveStore``, which remembers everything and looks at all of it.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from scrapy_simhash.store import Claim, Posting, Store

FAR = 0xFFFF_0000_FFFF_0000  # far from 0 and from its neighbours


def posting(key: str, value: int, scope: str = "") -> Posting:
    return Posting(key.encode(), f"https://example.com/{key}", scope, value)


def url(key: str) -> str:
    return posting(key, 0).url


class Original(NamedTuple):
    """A fingerprint that can be found, and the page whose content it was first."""

    scope: str
    value: int
    page: int


class NaiveStore:
    """A store as the protocol words it: lists, and a look at every entry."""

    def __init__(self, max_distance: int) -> None:
        self.max_distance = max_distance
        self.pages: list[bytes] = []
        self.urls: dict[int, str] = {}
        self.latest: dict[int, int] = {}
        self.cluster: dict[int, int] = {}
        self.originals: list[Original] = []

    def claim(self, posting: Posting) -> Claim:
        is_new = posting.key not in self.pages
        if is_new:
            self.pages.append(posting.key)
        page = self.pages.index(posting.key)
        former = self.latest.get(page)
        self.latest[page] = posting.value
        near = [
            ((original.value ^ posting.value).bit_count(), original.page)
            for original in self.originals
            if original.scope == posting.scope
        ]
        near = sorted(pair for pair in near if pair[0] <= self.max_distance)
        # Its own content before that of its cluster, before the nearest, before the oldest.
        own = [pair for pair in near if pair[1] == page]
        kin = [pair for pair in near if pair[1] == self.cluster.get(page)]
        chosen = next(iter(own or kin or near), None)
        if chosen is None:
            self.originals.append(Original(posting.scope, posting.value, page))
            self.urls[page] = posting.url
        distance, cluster = chosen or (None, page)
        self.cluster[page] = cluster
        if cluster == page:
            return Claim(former, page, None, None)
        return Claim(former, cluster, self.urls[cluster], distance)


class StoreContract:
    """Tests of the protocol, for a store that takes fingerprints up to 3 bits apart for one content."""

    def make(self, max_distance: int = 3) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def store(self) -> Store:
        return self.make()

    def test_an_empty_store_knows_nothing(self, store: Store) -> None:
        assert (len(store), store.index_size) == (0, 0)

    def test_new_content_is_the_page_s_own(self, store: Store) -> None:
        assert store.claim(posting("a", 0)) == Claim(None, 0, None, None)
        assert store.claim(posting("b", FAR)) == Claim(None, 1, None, None)
        assert (len(store), store.index_size) == (2, 2)

    @pytest.mark.parametrize(("value", "distance"), [(0, 0), (0b1, 1), (1 << 63 | 0b11, 3)])
    def test_content_within_the_distance_is_that_of_the_first_page(
        self, store: Store, value: int, distance: int
    ) -> None:
        store.claim(posting("a", 0))
        assert store.claim(posting("b", value)) == Claim(None, 0, url("a"), distance)
        assert (len(store), store.index_size) == (2, 1)

    def test_content_beyond_the_distance_is_new(self, store: Store) -> None:
        store.claim(posting("a", 0))
        assert store.claim(posting("b", 0b1111)) == Claim(None, 1, None, None)

    def test_clusters_do_not_drift_along_a_chain(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        assert store.claim(posting("b", 0b000111)).cluster == 0
        # Near b, which is no original, but not near a.
        assert store.claim(posting("c", 0b111111)) == Claim(None, 2, None, None)
        assert store.claim(posting("d", 0b011111)) == Claim(None, 2, url("c"), 1)

    def test_of_several_originals_the_nearest_decides_then_the_first(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        store.claim(posting("b", 0b001111))
        assert store.claim(posting("nearer to b", 0b000111)).original == url("b")
        assert store.claim(posting("between", 0b000011)).original == url("a")

    def test_a_page_is_never_a_duplicate_of_itself(self, store: Store) -> None:
        store.claim(posting("a", 5))
        assert store.claim(posting("a", 5)) == Claim(5, 0, None, None)
        assert store.claim(posting("a", 7)) == Claim(5, 0, None, None)
        assert (len(store), store.index_size) == (1, 1)

    def test_a_revisit_tells_the_fingerprint_of_last_time_not_of_the_first(self, store: Store) -> None:
        formers = [store.claim(posting("a", value)).former for value in (0, 1, FAR, 0)]
        assert formers == [None, 0, 1, FAR]

    def test_a_duplicate_stays_one_at_a_revisit(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        assert store.claim(posting("b", 1)) == Claim(1, 0, url("a"), 1)
        assert store.claim(posting("b", 0b11)) == Claim(1, 0, url("a"), 2)
        assert len(store) == 2

    def test_a_page_that_changed_keeps_its_earlier_content_too(self, store: Store) -> None:
        store.claim(posting("a", 0))
        assert store.claim(posting("a", FAR)) == Claim(0, 0, None, None)
        assert store.index_size == 2
        assert store.claim(posting("a", 0)) == Claim(FAR, 0, None, None)
        assert store.claim(posting("b", 0)) == Claim(None, 0, url("a"), 0)
        assert store.claim(posting("c", FAR ^ 1)) == Claim(None, 0, url("a"), 1)

    def test_a_page_can_become_a_duplicate_and_be_itself_again(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", FAR))
        assert store.claim(posting("b", 1)) == Claim(FAR, 0, url("a"), 1)
        assert store.claim(posting("b", FAR)) == Claim(1, 1, None, None)

    def test_content_like_its_own_is_its_own_though_the_page_was_a_duplicate_of_late(
        self, store: Store
    ) -> None:
        store.claim(posting("a", 0b0000))
        store.claim(posting("b", 0b1111))
        assert store.claim(posting("b", 0b0000)).cluster == 0
        assert store.claim(posting("b", 0b0001)) == Claim(0, 1, None, None)

    def test_a_duplicate_can_become_an_original(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        assert store.claim(posting("b", FAR)) == Claim(1, 1, None, None)
        assert store.claim(posting("c", FAR)) == Claim(None, 1, url("b"), 0)

    def test_a_page_stays_in_its_cluster_though_another_is_nearer(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        store.claim(posting("b", 0b000111))
        store.claim(posting("c", 0b111111))
        assert store.claim(posting("b", 0b001111)) == Claim(0b000111, 2, url("c"), 2)
        # Now as near to a as to c.
        assert store.claim(posting("b", 0b000111)) == Claim(0b001111, 2, url("c"), 3)

    def test_pages_of_different_scopes_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 5, scope="a.example"))
        assert store.claim(posting("b", 5, scope="b.example")) == Claim(None, 1, None, None)
        assert store.claim(posting("c", 5, scope="b.example")) == Claim(None, 1, url("b"), 0)
        assert store.index_size == 2

    def test_all_64_bits_and_any_key_can_be_kept(self, store: Store) -> None:
        keys = [b"", b"\0", b"\xff" * 32, "é漢".encode()]
        for number, key in enumerate(keys):
            value = (2**64 - 1) ^ (0xFF << 16 * number)
            assert store.claim(Posting(key, "https://é.example/漢?\x00", "", value)).cluster == number
        assert store.claim(Posting(keys[0], "https://é.example/", "", 0)).former == (2**64 - 1) ^ 0xFF

    @pytest.mark.parametrize("max_distance", [0, 1, 5])
    def test_the_distance_is_the_one_asked_for(self, max_distance: int) -> None:
        store = self.make(max_distance)
        store.claim(posting("a", 0))
        assert store.claim(posting("at it", 2**max_distance - 1)).cluster == 0
        assert store.claim(posting("beyond", 2 ** (max_distance + 1) - 1 << 30)).cluster == 2


class StoreMachine(RuleBasedStateMachine):
    """Few pages, few contents, many visits: revisits, changes and kin are the rule."""

    seen = Bundle("seen")

    def make(self, max_distance: int) -> Store:
        raise NotImplementedError

    @initialize(max_distance=st.sampled_from([0, 1, 3]))
    def start(self, max_distance: int) -> None:
        self.store = self.make(max_distance)
        self.naive = NaiveStore(max_distance)

    def claim(self, key: str, scope: str, value: int) -> int:
        visit = posting(key, value, scope)
        assert self.store.claim(visit) == self.naive.claim(visit)
        return value

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        scope=st.sampled_from(["", "x"]),
        value=st.integers(0, 2**64 - 1),
    )
    def visit_with_any_content(self, key: str, scope: str, value: int) -> int:
        return self.claim(key, scope, value)

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        scope=st.sampled_from(["", "", "", "x"]),
        value=seen,
        bits=st.sets(st.integers(0, 7), max_size=5),
    )
    def visit_with_content_like_another(self, key: str, scope: str, value: int, bits: set[int]) -> int:
        return self.claim(key, scope, value ^ sum(1 << bit for bit in bits))

    @rule(key=st.sampled_from("abcdefgh"))
    def visit_again_unchanged(self, key: str) -> None:
        if key.encode() in self.naive.pages:
            page = self.naive.pages.index(key.encode())
            self.claim(key, "", self.naive.latest[page])

    @invariant()
    def both_hold_as_much(self) -> None:
        assert len(self.store) == len(self.naive.pages)
        assert self.store.index_size == len(self.naive.originals)
