"""What every store must do. A backend's test file subclasses ``StoreContract`` and ``StoreMachine``.

The machine lives the life of a store beside ``NaiveStore``, which remembers everything and looks at all of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from scrapy_simhash import Fingerprint
from scrapy_simhash.fingerprint import digest, sketch
from scrapy_simhash.rule import Rule
from scrapy_simhash.store import Claim, Posting, Store

FAR = 0xFFFF_0000_FFFF_0000  # far from 0 and from its neighbours
CLASSIC = Rule(min_similarity=0)
SECOND_LOOK = Rule()

SHINGLES = 400


@cache
def content(value: int, edited: int = 0, subject: str = "night pilots", text: str = "") -> Fingerprint:
    """Return a fingerprint with a sketch: of 400 shingles of *text*, the first *edited* are others.

    Contents of one text with m < n shingles edited differ in n - m shingles.
    """
    names = [f"{text}{i}{'edited' if i < edited else ''}" for i in range(SHINGLES)]
    shingles = [int.from_bytes(digest(name), "big") for name in names]
    return Fingerprint(value, SHINGLES, sketch(shingles, subject.split()))


def posting(key: str, what: int | Fingerprint, scope: str = "", is_exact: bool = False) -> Posting:
    fingerprint = Fingerprint(what) if isinstance(what, int) else what
    return Posting(key.encode(), f"https://example.com/{key}", scope, fingerprint, is_exact)


def url(key: str) -> str:
    return posting(key, 0).url


def original(cluster: int, former: int | None = None) -> Claim:
    """Return the claim of a page whose content is its own."""
    return Claim(former, cluster, None, None, None)


def copy(of: str, cluster: int, distance: int, former: int | None = None) -> Claim:
    """Return the claim of a page that repeats another one; neither has a sketch."""
    return Claim(former, cluster, url(of), distance, 1 - distance / 64)


class Original(NamedTuple):
    """A content that can be found, and the page whose content it was first."""

    scope: str
    fingerprint: Fingerprint
    is_exact: bool
    page: int


class NaiveStore:
    """A store as the protocol words it: lists, and a look at every entry."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.pages: list[bytes] = []
        self.urls: dict[int, str] = {}
        self.latest: dict[int, Fingerprint] = {}
        self.cluster: dict[int, int] = {}
        self.originals: list[Original] = []

    def claim(self, posting: Posting) -> Claim:
        is_new = posting.key not in self.pages
        if is_new:
            self.pages.append(posting.key)
        page = self.pages.index(posting.key)
        former = None if is_new else self.latest[page].value
        self.latest[page] = posting.fingerprint
        kin = sorted(self.kin(posting))
        # Its own content before that of its cluster, before the most alike, before the nearest, before the oldest.
        of_itself = [match for match in kin if match[-1] == page]
        of_cluster = [match for match in kin if match[-1] == self.cluster.get(page)]
        chosen = next(iter(of_itself or of_cluster or kin), None)
        if chosen is None:
            self.originals.append(Original(posting.scope, posting.fingerprint, posting.is_exact, page))
            self.urls[page] = posting.url
        difference, distance, _, cluster = chosen or (0, None, 0, page)
        self.cluster[page] = cluster
        if cluster == page:
            return Claim(former, page, None, None, None)
        return Claim(former, cluster, self.urls[cluster], distance, -difference)

    def kin(self, posting: Posting) -> list[tuple[float, int, int, int]]:
        """Return minus the similarity, the distance, the age and the page of every content that will do."""
        found = []
        for age, (scope, other, is_exact, page) in enumerate(self.originals):
            if (scope, is_exact) != (posting.scope, posting.is_exact):
                continue
            distance = (other.value ^ posting.fingerprint.value).bit_count()
            alike = self.rule.similarity(posting.fingerprint, other)
            if is_exact:
                alike = None if distance else 1.0
            if alike is not None:
                found.append((-alike, distance, age, page))
        return found

    @property
    def index_size(self) -> int:
        return sum(not entry.is_exact for entry in self.originals)


class StoreContract(ABC):
    """Tests of the protocol, for a store that takes fingerprints up to 3 bits apart for one content.

    Fingerprints without a sketch are told by the classic rule, whatever the store's: these tests run under both.
    """

    @abstractmethod
    def make(self, rule: Rule) -> Store:
        """Return an empty store of the kind under test: all that a subclass has to say."""

    @pytest.fixture(params=[CLASSIC, SECOND_LOOK], ids=["classic", "second look"])
    def store(self, request: pytest.FixtureRequest) -> Store:
        return self.make(request.param)

    @pytest.fixture
    def careful(self) -> Store:
        """A store that takes a second look."""
        return self.make(SECOND_LOOK)

    def test_an_empty_store_knows_nothing(self, store: Store) -> None:
        assert (len(store), store.index_size) == (0, 0)

    def test_new_content_is_the_page_s_own(self, store: Store) -> None:
        assert store.claim(posting("a", 0)) == original(0)
        assert store.claim(posting("b", FAR)) == original(1)
        assert (len(store), store.index_size) == (2, 2)

    @pytest.mark.parametrize(("value", "distance"), [(0, 0), (0b1, 1), (1 << 63 | 0b11, 3)])
    def test_content_within_the_distance_is_that_of_the_first_page(
        self, store: Store, value: int, distance: int
    ) -> None:
        store.claim(posting("a", 0))
        assert store.claim(posting("b", value)) == copy("a", 0, distance)
        assert (len(store), store.index_size) == (2, 1)

    def test_content_beyond_the_distance_is_new(self, store: Store) -> None:
        store.claim(posting("a", 0))
        assert store.claim(posting("b", 0b1111)) == original(1)

    def test_clusters_do_not_drift_along_a_chain(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        assert store.claim(posting("b", 0b000111)).cluster == 0
        # Near b, which is no original, but not near a.
        assert store.claim(posting("c", 0b111111)) == original(2)
        assert store.claim(posting("d", 0b011111)) == copy("c", 2, 1)

    def test_of_several_originals_the_nearest_decides_then_the_first(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        store.claim(posting("b", 0b001111))
        assert store.claim(posting("nearer to b", 0b000111)).original == url("b")
        assert store.claim(posting("between", 0b000011)).original == url("a")

    def test_a_page_is_never_a_duplicate_of_itself(self, store: Store) -> None:
        store.claim(posting("a", 5))
        assert store.claim(posting("a", 5)) == original(0, former=5)
        assert store.claim(posting("a", 7)) == original(0, former=5)
        assert (len(store), store.index_size) == (1, 1)

    def test_a_revisit_tells_the_fingerprint_of_last_time_not_of_the_first(self, store: Store) -> None:
        formers = [store.claim(posting("a", value)).former for value in (0, 1, FAR, 0)]
        assert formers == [None, 0, 1, FAR]

    def test_a_duplicate_stays_one_at_a_revisit(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        assert store.claim(posting("b", 1)) == copy("a", 0, 1, former=1)
        assert store.claim(posting("b", 0b11)) == copy("a", 0, 2, former=1)
        assert len(store) == 2

    def test_a_page_that_changed_keeps_its_earlier_content_too(self, store: Store) -> None:
        store.claim(posting("a", 0))
        assert store.claim(posting("a", FAR)) == original(0, former=0)
        assert store.index_size == 2
        assert store.claim(posting("a", 0)) == original(0, former=FAR)
        assert store.claim(posting("b", 0)) == copy("a", 0, 0)
        assert store.claim(posting("c", FAR ^ 1)) == copy("a", 0, 1)

    def test_a_page_can_become_a_duplicate_and_be_itself_again(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", FAR))
        assert store.claim(posting("b", 1)) == copy("a", 0, 1, former=FAR)
        assert store.claim(posting("b", FAR)) == original(1, former=1)

    def test_content_like_its_own_is_its_own_though_the_page_was_a_duplicate_of_late(
        self, store: Store
    ) -> None:
        store.claim(posting("a", 0b0000))
        store.claim(posting("b", 0b1111))
        assert store.claim(posting("b", 0b0000)).cluster == 0
        assert store.claim(posting("b", 0b0001)) == original(1, former=0)

    def test_a_duplicate_can_become_an_original(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        assert store.claim(posting("b", FAR)) == original(1, former=1)
        assert store.claim(posting("c", FAR)) == copy("b", 1, 0)

    def test_a_page_stays_in_its_cluster_though_another_is_nearer(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        store.claim(posting("b", 0b000111))
        store.claim(posting("c", 0b111111))
        assert store.claim(posting("b", 0b001111)) == copy("c", 2, 2, former=0b000111)
        # Now as near to a as to c.
        assert store.claim(posting("b", 0b000111)) == copy("c", 2, 3, former=0b001111)

    def test_pages_of_different_scopes_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 5, scope="a.example"))
        assert store.claim(posting("b", 5, scope="b.example")) == original(1)
        assert store.claim(posting("c", 5, scope="b.example")) == copy("b", 1, 0)
        assert store.index_size == 2

    def test_all_64_bits_and_any_key_can_be_kept(self, store: Store) -> None:
        keys = [b"", b"\0", b"\xff" * 32, "é漢".encode()]
        for number, key in enumerate(keys):
            value = (2**64 - 1) ^ (0xFF << 16 * number)
            claim = store.claim(Posting(key, "https://é.example/漢?\x00", "", Fingerprint(value)))
            assert claim.cluster == number
        again = store.claim(Posting(keys[0], "https://é.example/", "", Fingerprint(0)))
        assert again.former == (2**64 - 1) ^ 0xFF

    @pytest.mark.parametrize("max_distance", [0, 1, 5])
    def test_the_distance_is_the_one_asked_for(self, max_distance: int) -> None:
        store = self.make(Rule(max_distance, min_similarity=0))
        store.claim(posting("a", 0))
        assert store.claim(posting("at it", 2**max_distance - 1)).cluster == 0
        assert store.claim(posting("beyond", 2 ** (max_distance + 1) - 1 << 30)).cluster == 2

    # --- A second look: sketches decide.

    @pytest.mark.parametrize(
        ("second", "is_kin"),
        [
            (content(2**10 - 1), True),  # as far as candidates are looked for
            (content(2**11 - 1), False),  # not looked for, though it says the same
            (content(0b1, edited=40), True),
            (content(0b1, edited=100), False),
            (content(0, text="of another page"), False),  # the same 64 bits by chance
            (content(0b1, edited=40, subject="day pilots"), False),
            (content(0b1, subject="day pilots"), True),
            (content(0b1, subject=""), True),
        ],
    )
    def test_candidates_are_accepted_by_the_rule(
        self, careful: Store, second: Fingerprint, is_kin: bool
    ) -> None:
        first = content(0)
        careful.claim(posting("a", first))
        expected = original(1)
        if is_kin:
            distance = (first.value ^ second.value).bit_count()
            expected = Claim(None, 0, url("a"), distance, SECOND_LOOK.similarity(first, second))
        assert careful.claim(posting("b", second)) == expected
        assert (len(careful), careful.index_size) == (2, 1 if is_kin else 2)

    def test_without_a_second_look_sketches_say_nothing(self) -> None:
        store = self.make(CLASSIC)
        store.claim(posting("a", content(0)))
        assert store.claim(posting("b", content(0b111, text="of another page"))) == copy("a", 0, 3)
        assert store.claim(posting("c", content(0b1111))) == original(2)

    def test_of_several_originals_the_most_alike_decides_not_the_nearest(self, careful: Store) -> None:
        careful.claim(posting("a", content(0, edited=60)))
        careful.claim(posting("b", content(0b11 << 8 | 0b1, text="x")))
        careful.claim(posting("c", content(2**6 - 1 << 20)))
        claim = careful.claim(posting("d", content(0b1, edited=10)))
        assert (claim.original, claim.distance) == (url("c"), 7)

    def test_two_contents_with_the_same_64_bits_are_kept_apart(self, careful: Store) -> None:
        one, other = content(7, text="one"), content(7, text="other")
        careful.claim(posting("a", one))
        careful.claim(posting("b", other))
        assert careful.claim(posting("c", other)) == Claim(None, 1, url("b"), 0, 1.0)
        assert careful.claim(posting("d", one)) == Claim(None, 0, url("a"), 0, 1.0)

    def test_clusters_do_not_drift_along_a_chain_of_like_texts(self, careful: Store) -> None:
        a, b, c = content(0), content(0b1, edited=35), content(0b11, edited=70)
        assert SECOND_LOOK.similarity(a, b)
        assert SECOND_LOOK.similarity(b, c)
        assert SECOND_LOOK.similarity(a, c) is None
        careful.claim(posting("a", a))
        assert careful.claim(posting("b", b)).cluster == 0
        assert careful.claim(posting("c", c)) == original(2)

    def test_a_page_without_a_sketch_is_told_from_one_with_by_bits(self, careful: Store) -> None:
        careful.claim(posting("a", content(0)))
        assert careful.claim(posting("b", 0b111)) == copy("a", 0, 3)
        assert careful.claim(posting("c", 0b1111)) == original(2)
        # And a page with one from the page without.
        assert careful.claim(posting("d", content(0b1111, text="x"))) == copy("c", 2, 0)

    # --- Exact postings: pages too short for a fingerprint.

    def test_of_exact_postings_only_equal_ones_match(self, store: Store) -> None:
        assert store.claim(posting("a", 8, is_exact=True)) == original(0)
        assert store.claim(posting("b", 8, is_exact=True)) == copy("a", 0, 0)
        assert store.claim(posting("c", 9, is_exact=True)) == original(2)
        assert store.claim(posting("a", 8, is_exact=True)) == original(0, former=8)
        assert store.claim(posting("b", 8, is_exact=True)) == copy("a", 0, 0, former=8)
        assert len(store) == 3

    def test_exact_postings_and_fingerprints_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 8))
        assert store.claim(posting("b", 8, is_exact=True)) == original(1)
        assert store.claim(posting("c", 8)) == copy("a", 0, 0)
        assert store.claim(posting("d", 8, is_exact=True)) == copy("b", 1, 0)
        assert store.index_size == 1, "exact ones are in no index"

    def test_exact_postings_of_different_scopes_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 8, "a.example", is_exact=True))
        assert store.claim(posting("b", 8, "b.example", is_exact=True)) == original(1)
        assert store.claim(posting("c", 8, "b.example", is_exact=True)) == copy("b", 1, 0)

    def test_an_exact_posting_that_changed_is_compared_again(self, store: Store) -> None:
        store.claim(posting("a", 8, is_exact=True))
        assert store.claim(posting("b", 9, is_exact=True)) == original(1)
        assert store.claim(posting("b", 8, is_exact=True)) == copy("a", 0, 0, former=9)
        assert store.claim(posting("b", 9, is_exact=True)) == original(1, former=8)
        assert store.claim(posting("a", 9, is_exact=True)) == copy("b", 1, 0, former=8)


class StoreMachine(RuleBasedStateMachine):
    """Few pages, few contents, many visits: revisits, changes and kin are the rule."""

    seen = Bundle("seen")

    @abstractmethod
    def make(self, rule: Rule) -> Store:
        """Return an empty store of the kind under test: all that a subclass has to say."""

    @initialize(
        rule=st.sampled_from(
            [
                *(Rule(max_distance, min_similarity=0) for max_distance in (0, 1, 3)),
                *(Rule(), Rule(1, 6, 0.9), Rule(0, 16, 0.5), Rule(3, 10, 1.0)),
            ]
        )
    )
    def start(self, rule: Rule) -> None:
        self.store = self.make(rule)
        self.naive = NaiveStore(rule)

    def claim(self, key: str, scope: str, what: Fingerprint, is_exact: bool = False) -> Fingerprint:
        visit = posting(key, what, scope, is_exact)
        assert self.store.claim(visit) == self.naive.claim(visit)
        return what

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        scope=st.sampled_from(["", "x"]),
        value=st.integers(0, 2**64 - 1),
        has_sketch=st.booleans(),
    )
    def visit_with_any_content(self, key: str, scope: str, value: int, has_sketch: bool) -> Fingerprint:
        return self.claim(key, scope, content(value) if has_sketch else Fingerprint(value))

    @rule(
        target=seen,
        key=st.sampled_from("abcdefgh"),
        scope=st.sampled_from(["", "", "", "x"]),
        like=seen,
        bits=st.sets(st.integers(0, 15), max_size=12),
        edited=st.sampled_from([None, 0, 10, 30, 60, 90, 150]),
        subject=st.sampled_from(["night pilots", "night pilots", "day pilots", ""]),
    )
    def visit_with_content_like_another(
        self, key: str, scope: str, like: Fingerprint, bits: set[int], edited: int | None, subject: str
    ) -> Fingerprint:
        value = like.value ^ sum(1 << bit for bit in bits)
        return self.claim(
            key, scope, Fingerprint(value) if edited is None else content(value, edited, subject)
        )

    @rule(key=st.sampled_from("abcdefgh"), scope=st.sampled_from(["", "x"]), value=st.integers(0, 3))
    def visit_with_a_short_text(self, key: str, scope: str, value: int) -> None:
        self.claim(key, scope, Fingerprint(value), is_exact=True)

    @rule(key=st.sampled_from("abcdefgh"))
    def visit_again_unchanged(self, key: str) -> None:
        if key.encode() in self.naive.pages:
            page = self.naive.pages.index(key.encode())
            self.claim(key, "", self.naive.latest[page])

    @invariant()
    def both_hold_as_much(self) -> None:
        assert len(self.store) == len(self.naive.pages)
        assert self.store.index_size == self.naive.index_size
