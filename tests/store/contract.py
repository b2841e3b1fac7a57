"""What every store must do, case by case. A backend's test file subclasses ``StoreContract`` or, when the store keeps
what it is told, ``PersistentContract``; and a machine of ``machine.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest

from scrapy_simhash import Fingerprint
from scrapy_simhash.exceptions import StoreMismatch
from scrapy_simhash.judge.rule import ClassicRule, SimilarityRule
from scrapy_simhash.store import Claim, Header, Page, Posting, Store, Visit
from tests.store.cases import (
    CLASSIC,
    FAR,
    SECOND_LOOK,
    Answer,
    ask,
    content,
    copy,
    header,
    original,
    posting,
    url,
    whole,
)


class StoreContract(ABC):
    """Tests of the protocol, for a store that takes fingerprints up to 3 bits apart for one content.

    Fingerprints without a sketch are told by the classic rule, whatever the store's: these tests run under both.
    """

    @abstractmethod
    def make(self, header: Header) -> Store:
        """Return an empty store of the kind under test: all that a subclass has to say."""

    @pytest.fixture(params=[CLASSIC, SECOND_LOOK], ids=["classic", "second look"])
    def store(self, request: pytest.FixtureRequest) -> Store:
        return self.make(header(request.param))

    @pytest.fixture
    def careful(self) -> Store:
        """A store that takes a second look."""
        return self.make(header(SECOND_LOOK))

    def test_an_empty_store_knows_nothing(self, store: Store) -> None:
        assert (len(store), store.index_size) == (0, 0)

    def test_new_content_is_the_page_s_own(self, store: Store) -> None:
        assert ask(store, posting("a", 0)) == original(0)
        assert ask(store, posting("b", FAR)) == original(1)
        assert (len(store), store.index_size) == (2, 2)

    @pytest.mark.parametrize(("value", "distance"), [(0, 0), (0b1, 1), (1 << 63 | 0b11, 3)])
    def test_content_within_the_distance_is_that_of_the_first_page(
        self, store: Store, value: int, distance: int
    ) -> None:
        store.claim(posting("a", 0))
        assert ask(store, posting("b", value)) == copy("a", 0, distance)
        assert (len(store), store.index_size) == (2, 1)

    def test_content_beyond_the_distance_is_new(self, store: Store) -> None:
        store.claim(posting("a", 0))
        assert ask(store, posting("b", 0b1111)) == original(1)

    def test_clusters_do_not_drift_along_a_chain(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        assert store.claim(posting("b", 0b000111)).cluster == 0
        # Near b, which is no original, but not near a.
        assert ask(store, posting("c", 0b111111)) == original(2)
        assert ask(store, posting("d", 0b011111)) == copy("c", 2, 1)

    def test_of_several_originals_the_nearest_decides_then_the_first(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        store.claim(posting("b", 0b001111))
        assert store.claim(posting("nearer to b", 0b000111)).original == url("b")
        assert store.claim(posting("between", 0b000011)).original == url("a")

    def test_a_page_is_never_a_duplicate_of_itself(self, store: Store) -> None:
        store.claim(posting("a", 5))
        assert ask(store, posting("a", 5)) == original(0, former=5)
        assert ask(store, posting("a", 7)) == original(0, former=5)
        assert (len(store), store.index_size) == (1, 1)

    def test_a_revisit_tells_the_fingerprint_of_last_time_not_of_the_first(self, store: Store) -> None:
        formers = [ask(store, posting("a", value)).former for value in (0, 1, FAR, 0)]
        assert formers == [None, 0, 1, FAR]

    def test_a_duplicate_stays_one_at_a_revisit(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        assert ask(store, posting("b", 1)) == copy("a", 0, 1, former=1)
        assert ask(store, posting("b", 0b11)) == copy("a", 0, 2, former=1)
        assert len(store) == 2

    def test_a_page_that_changed_keeps_its_earlier_content_too(self, store: Store) -> None:
        store.claim(posting("a", 0))
        assert ask(store, posting("a", FAR)) == original(0, former=0)
        assert store.index_size == 2
        assert ask(store, posting("a", 0)) == original(0, former=FAR)
        assert ask(store, posting("b", 0)) == copy("a", 0, 0)
        assert ask(store, posting("c", FAR ^ 1)) == copy("a", 0, 1)

    def test_a_page_can_become_a_duplicate_and_be_itself_again(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", FAR))
        assert ask(store, posting("b", 1)) == copy("a", 0, 1, former=FAR)
        assert ask(store, posting("b", FAR)) == original(1, former=1)

    def test_content_like_its_own_is_its_own_though_the_page_was_a_duplicate_of_late(
        self, store: Store
    ) -> None:
        store.claim(posting("a", 0b0000))
        store.claim(posting("b", 0b1111))
        assert store.claim(posting("b", 0b0000)).cluster == 0
        assert ask(store, posting("b", 0b0001)) == original(1, former=0)

    def test_a_duplicate_can_become_an_original(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        assert ask(store, posting("b", FAR)) == original(1, former=1)
        assert ask(store, posting("c", FAR)) == copy("b", 1, 0)

    def test_a_page_stays_in_its_cluster_though_another_is_nearer(self, store: Store) -> None:
        store.claim(posting("a", 0b000000))
        store.claim(posting("b", 0b000111))
        store.claim(posting("c", 0b111111))
        assert ask(store, posting("b", 0b001111)) == copy("c", 2, 2, former=0b000111)
        # Now as near to a as to c.
        assert ask(store, posting("b", 0b000111)) == copy("c", 2, 3, former=0b001111)

    def test_pages_of_different_scopes_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 5, scope="a.example"))
        assert ask(store, posting("b", 5, scope="b.example")) == original(1)
        assert ask(store, posting("c", 5, scope="b.example")) == copy("b", 1, 0)
        assert store.index_size == 2

    def test_all_64_bits_and_any_key_can_be_kept(self, store: Store) -> None:
        keys = [b"", b"\0", b"\xff" * 32, "é漢".encode()]
        for number, key in enumerate(keys):
            value = (2**64 - 1) ^ (0xFF << 16 * number)
            claim = store.claim(Posting(key, "https://é.example/漢?\x00", "", Fingerprint(value)))
            assert claim.cluster == number
        again = ask(store, Posting(keys[0], "https://é.example/", "", Fingerprint(0)))
        assert again.former == (2**64 - 1) ^ 0xFF

    def test_a_page_is_one_whether_its_text_is_long_or_short(self, store: Store) -> None:
        visits = [posting("a", 5), posting("a", 8, is_short=True), posting("a", 5)]
        formers = [store.claim(visit).former for visit in visits]
        assert [former and (former.value, former.is_short) for former in formers] == [
            None,
            (5, False),
            (8, True),
        ]
        assert (len(store), store.index_size) == (1, 1)
        assert ask(store, posting("b", 8, is_short=True)) == copy("a", 0, 0)
        assert ask(store, posting("c", 5)) == copy("a", 0, 0)

    @pytest.mark.parametrize("max_distance", [0, 1, 5])
    def test_the_distance_is_the_one_asked_for(self, max_distance: int) -> None:
        store = self.make(header(ClassicRule(max_distance)))
        store.claim(posting("a", 0))
        assert store.claim(posting("at it", 2**max_distance - 1)).cluster == 0
        assert store.claim(posting("beyond", 2 ** (max_distance + 1) - 1 << 30)).cluster == 2

    # --- A second look: sketches decide.

    @pytest.mark.parametrize(
        ("second", "is_kin"),
        [
            (content(2**20 - 1), True),  # found by its subject
            (content(2**8 - 1, subject=""), True),  # as far as candidates are looked for
            (content(2**9 - 1, subject=""), False),  # not looked for, though it says the same
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
            expected = Answer(None, 0, url("a"), distance, SECOND_LOOK.similarity(first, second))
        assert ask(careful, posting("b", second)) == expected
        assert (len(careful), careful.index_size) == (2, 1 if is_kin else 2)

    def test_without_a_second_look_sketches_say_nothing(self) -> None:
        store = self.make(header(CLASSIC))
        store.claim(posting("a", content(0)))
        assert ask(store, posting("b", content(0b111, text="of another page"))) == copy("a", 0, 3)
        assert ask(store, posting("c", content(0b1111))) == original(2)

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
        assert ask(careful, posting("c", other)) == Answer(None, 1, url("b"), 0, 1.0)
        assert ask(careful, posting("d", one)) == Answer(None, 0, url("a"), 0, 1.0)

    def test_clusters_do_not_drift_along_a_chain_of_like_texts(self, careful: Store) -> None:
        a, b, c = content(0), content(0b1, edited=35), content(0b11, edited=70)
        assert SECOND_LOOK.similarity(a, b)
        assert SECOND_LOOK.similarity(b, c)
        assert SECOND_LOOK.similarity(a, c) is None
        careful.claim(posting("a", a))
        assert careful.claim(posting("b", b)).cluster == 0
        assert ask(careful, posting("c", c)) == original(2)

    def test_a_page_without_a_sketch_is_told_from_one_with_by_bits(self, careful: Store) -> None:
        careful.claim(posting("a", content(0)))
        assert ask(careful, posting("b", 0b111)) == copy("a", 0, 3)
        assert ask(careful, posting("c", 0b1111)) == original(2)
        # And a page with one from the page without.
        assert ask(careful, posting("d", content(0b1111, text="x"))) == copy("c", 2, 0)

    # --- Exact postings: pages too short for a fingerprint.

    def test_of_exact_postings_only_equal_ones_match(self, store: Store) -> None:
        assert ask(store, posting("a", 8, is_short=True)) == original(0)
        assert ask(store, posting("b", 8, is_short=True)) == copy("a", 0, 0)
        assert ask(store, posting("c", 9, is_short=True)) == original(2)
        assert ask(store, posting("a", 8, is_short=True)) == original(0, former=8)
        assert ask(store, posting("b", 8, is_short=True)) == copy("a", 0, 0, former=8)
        assert len(store) == 3

    def test_exact_postings_and_fingerprints_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 8))
        assert ask(store, posting("b", 8, is_short=True)) == original(1)
        assert ask(store, posting("c", 8)) == copy("a", 0, 0)
        assert ask(store, posting("d", 8, is_short=True)) == copy("b", 1, 0)
        assert store.index_size == 1, "short ones are in no index"

    def test_exact_postings_of_different_scopes_have_nothing_in_common(self, store: Store) -> None:
        store.claim(posting("a", 8, "a.example", is_short=True))
        assert ask(store, posting("b", 8, "b.example", is_short=True)) == original(1)
        assert ask(store, posting("c", 8, "b.example", is_short=True)) == copy("b", 1, 0)

    def test_an_exact_posting_that_changed_is_compared_again(self, store: Store) -> None:
        store.claim(posting("a", 8, is_short=True))
        assert ask(store, posting("b", 9, is_short=True)) == original(1)
        assert ask(store, posting("b", 8, is_short=True)) == copy("a", 0, 0, former=9)
        assert ask(store, posting("b", 9, is_short=True)) == original(1, former=8)
        assert ask(store, posting("a", 9, is_short=True)) == copy("b", 1, 0, former=8)

    # --- The same text to the letter.

    @pytest.mark.parametrize(
        ("first", "second", "is_same"),
        [(7, 7, True), (0, 0, True), (7, 8, False), (None, None, False), (7, None, False), (None, 0, False)],
    )
    def test_a_copy_has_the_same_text_when_both_hashes_are_known_and_equal(
        self, store: Store, first: int | None, second: int | None, is_same: bool
    ) -> None:
        store.claim(posting("a", 0, text_hash=first))
        assert store.look(posting("b", 0, text_hash=second)).is_same_text is is_same
        assert store.claim(posting("b", 0, text_hash=second)).is_same_text is is_same
        assert store.claim(posting("b", 1, text_hash=second)).is_same_text is is_same, "bits say nothing"

    def test_of_an_original_nothing_is_said_about_its_text(self, store: Store) -> None:
        for _ in range(2):
            claim = store.claim(posting("a", 0, text_hash=7))
            assert (claim.original, claim.is_same_text) == (None, False)

    def test_the_text_is_compared_with_what_the_content_came_with_not_with_the_page_of_today(
        self, store: Store
    ) -> None:
        store.claim(posting("a", 0, text_hash=1))
        store.claim(posting("a", 1, text_hash=2))
        assert store.claim(posting("b", 0, text_hash=1)).is_same_text
        assert not store.claim(posting("c", 1, text_hash=2)).is_same_text
        store.claim(posting("a", FAR, text_hash=3))
        assert store.claim(posting("d", FAR, text_hash=3)).is_same_text, "of a later content too"

    def test_every_copy_of_an_exact_posting_has_the_same_text(self, store: Store) -> None:
        assert not store.claim(posting("a", 8, is_short=True)).is_same_text
        assert store.claim(posting("b", 8, is_short=True)).is_same_text

    # --- The order in which pages joined a cluster.

    def ranks(self, store: Store, *visits: Posting) -> list[int | None]:
        """Claim *visits*, and return their ranks, which are those that a look told before."""
        ranks = []
        for visit in visits:
            ranks.append(store.look(visit).rank)
            assert store.claim(visit).rank == ranks[-1]
        return ranks

    def test_the_original_has_rank_0_and_those_that_repeat_it_are_counted(self, store: Store) -> None:
        visits = [posting("a", 0), posting("b", 1), posting("c", FAR), posting("d", 0), posting("e", FAR)]
        assert self.ranks(store, *visits) == [0, 1, 0, 2, 1]

    def test_a_page_keeps_its_rank_at_revisits(self, store: Store) -> None:
        visits = [posting("a", 0), posting("b", 1), posting("c", 1)]
        assert self.ranks(store, *visits, *visits) == [0, 1, 2] * 2
        assert self.ranks(store, posting("b", 0b11), posting("d", 0)) == [1, 3]

    def test_the_contents_of_a_page_are_one_cluster(self, store: Store) -> None:
        assert self.ranks(store, posting("a", 0), posting("b", 0), posting("a", FAR)) == [0, 1, 0]
        assert self.ranks(store, posting("c", FAR), posting("b", FAR)) == [2, 1]

    def test_who_leaves_a_cluster_and_comes_back_takes_a_new_rank(self, store: Store) -> None:
        assert self.ranks(store, posting("a", 0), posting("b", FAR), posting("c", 0)) == [0, 0, 1]
        assert self.ranks(store, posting("c", FAR), posting("d", 0), posting("c", 0)) == [1, 2, 3]
        assert self.ranks(store, posting("c", 0xFF << 20), posting("c", 0)) == [0, 4]

    def test_an_original_that_repeated_another_page_for_a_while_has_rank_0_again(self, store: Store) -> None:
        assert self.ranks(store, posting("a", 0), posting("b", FAR), posting("c", FAR)) == [0, 0, 1]
        # Its own cluster goes on without it.
        assert self.ranks(store, posting("b", 0), posting("d", FAR), posting("b", FAR)) == [1, 2, 0]
        assert self.ranks(store, posting("e", FAR)) == [3]

    def test_a_rank_is_not_given_again_when_a_page_was_removed(self, store: Store) -> None:
        assert self.ranks(store, posting("a", 0), posting("b", 0), posting("c", 0)) == [0, 1, 2]
        store.remove(b"c")
        assert self.ranks(store, posting("d", 0), posting("c", 0), posting("b", 0)) == [3, 4, 1]

    def test_a_new_cluster_is_counted_from_1_though_its_members_had_ranks_in_one_that_was_removed(
        self, store: Store
    ) -> None:
        assert self.ranks(store, posting("a", 0), posting("b", 0), posting("c", 0)) == [0, 1, 2]
        store.remove(b"a")
        assert self.ranks(store, posting("c", 0), posting("b", 0), posting("a", 0)) == [0, 1, 2]

    def test_exact_postings_are_counted_too(self, store: Store) -> None:
        visits = [posting(key, 8, is_short=True) for key in "abcb"]
        assert self.ranks(store, *visits) == [0, 1, 2, 1]

    # --- The rest of the protocol.

    def test_a_look_stores_nothing(self, store: Store) -> None:
        store.claim(posting("a", 0))
        for _ in range(2):
            assert store.look(posting("b", 1)) == Claim(None, 0, 0, url("a"), 1, 1 - 1 / 64, False, 1, b"a")
            assert store.look(posting("b", FAR)) == Claim(None, 1, 1, None, None, None, False, 0)
        assert store.look(posting("a", FAR)).former == Visit(0, None, 0, 0, False)
        assert (len(store), store.index_size) == (1, 1)

    def test_a_page_can_be_looked_up(self, store: Store) -> None:
        first, second = posting("a", 5, text_hash=2**64 - 1, seen=1_700_000_000), posting("b", 7, text_hash=0)
        store.claim(first)
        store.claim(second)
        unsettled = second._replace(is_delivered=False)
        assert store.get(b"a") == Page(0, first._replace(is_delivered=False), 0, 0, None)
        assert store.get(b"b") == Page(1, unsettled, 0, 0, url("a"))
        assert store.get(b"c") is None

    def test_the_sketch_of_a_page_is_its_own(self, careful: Store) -> None:
        first, second, third = content(0), content(0b1, edited=20), content(0b1, edited=30)
        for what in (first, second, third):
            careful.claim(posting("a", first))
            careful.claim(posting("b", what))
            page = careful.get(b"b")
            assert page is not None
            assert page.posting.fingerprint.to_bytes() == what.to_bytes()
        careful.claim(posting("b", 0b11))
        page = careful.get(b"b")
        assert page is not None
        assert page.posting.fingerprint.sketch == b"", "not that of its content"

    def test_a_revisit_tells_time_and_text_of_the_last_one(self, store: Store) -> None:
        store.claim(posting("a", 5, text_hash=1, seen=100))
        assert store.claim(posting("a", 5, text_hash=2, seen=200)).former == Visit(5, 1, 100, 0, False)
        assert store.claim(posting("a", 5, seen=300)).former == Visit(5, 2, 200, 0, False)
        assert store.claim(posting("a", 5)).former == Visit(5, None, 300, 0, False)

    def test_a_page_that_was_removed_is_not_known_nor_found(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("a", FAR))
        store.claim(posting("b", 8, is_short=True))
        assert store.remove(b"a")
        assert store.remove(b"b")
        assert not store.remove(b"a")
        assert not store.remove(b"c")
        assert (len(store), store.index_size, store.get(b"a")) == (0, 0, None)
        assert ask(store, posting("c", FAR)) == original(2)
        assert ask(store, posting("d", 8, is_short=True)) == original(3)
        assert ask(store, posting("a", 0)) == original(4), "numbers are not used again"

    def test_who_repeats_a_page_that_was_removed_stays_and_is_compared_anew(self, store: Store) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("b", 1))
        store.remove(b"a")
        page = store.get(b"b")
        assert page is not None
        assert (page.cluster, page.original) == (0, None)
        assert ask(store, posting("b", 1)) == original(1, former=1)
        assert ask(store, posting("c", 1)) == copy("b", 1, 0)

    def test_postings_make_a_store_like_the_one_they_come_from(self, careful: Store) -> None:
        visits = [
            posting("a", content(0), seen=1, text_hash=1),
            posting("b", content(1, edited=20), seen=2, text_hash=2),
            posting("c", 9, "x.example", is_short=True, seen=3),
            posting("d", FAR, "x.example", seen=4),
            posting("a", content(FAR, text="x"), seen=5, text_hash=3),
            posting("d", FAR ^ 1, "x.example", seen=6),
        ]
        for visit in visits:
            careful.claim(visit)
        a, b, c, d, a_again, d_again = visits
        kept = [whole(p._replace(is_delivered=True)) for p in careful]
        assert kept == [whole(visit) for visit in (a, a_again, b, c, d, d_again)]

    def test_a_store_says_what_it_compares_by(self) -> None:
        wanted = header(SimilarityRule(8, 0.9))
        assert self.make(wanted).header == wanted

    def test_a_run_is_noted_with_its_end(self, store: Store) -> None:
        (run,) = store.runs()
        assert (run.number, run.ended, run.reason) == (1, None, None)
        assert run.started > 1_700_000_000


#: What may be asked of a run when it is over.
ENDINGS = {"ended in order": True, "killed": False}


class PersistentContract(StoreContract):
    """Tests of a store that keeps what it is told."""

    @abstractmethod
    def reopen(self, store: Store, in_order: bool, header: Header | None = None) -> Store:
        """Close *store*, or let it end as a kill would, and open it again, for another *header* if given."""

    @pytest.mark.parametrize("in_order", ENDINGS.values(), ids=ENDINGS)
    def test_what_was_claimed_is_still_there(self, careful: Store, in_order: bool) -> None:
        careful.claim(posting("a", content(0), seen=1, text_hash=1))
        careful.claim(posting("b", content(1, edited=20)))
        careful.claim(posting("c", 9, "x.example", is_short=True))
        careful.claim(posting("gone", content(FAR, text="x")))
        careful.remove(b"gone")
        before = [whole(p)[:-4] for p in careful]
        again = self.reopen(careful, in_order)
        assert [whole(p)[:-4] for p in again] == before
        assert (len(again), again.index_size) == (3, 1)
        assert ask(again, posting("d", content(0))) == Answer(None, 0, url("a"), 0, 1.0)
        assert ask(again, posting("e", 9, "x.example", is_short=True)) == copy("c", 2, 0)
        assert ask(again, posting("gone", content(FAR, text="x"))) == original(6), (
            "numbers are not used again"
        )

    @pytest.mark.parametrize("in_order", ENDINGS.values(), ids=ENDINGS)
    def test_ranks_and_their_counts_are_still_there(self, careful: Store, in_order: bool) -> None:
        visits = [posting("a", content(0)), posting("b", content(1, edited=20)), posting("c", content(0))]
        assert self.ranks(careful, *visits) == [0, 1, 2]
        careful.remove(b"c")
        again = self.reopen(careful, in_order)
        assert self.ranks(again, *visits, posting("d", content(0))) == [0, 1, 3, 4]

    def test_a_text_is_settled_when_the_run_that_handed_it_on_has_ended_in_order(self, store: Store) -> None:
        def settled(store: Store, text_hash: int = 1) -> bool:
            former = store.claim(posting("a", 5, text_hash=text_hash)).former
            assert former is not None
            return former.is_settled

        store.claim(posting("a", 5, text_hash=1))
        assert not settled(store)
        store = self.reopen(store, in_order=False)
        assert not settled(store), "nobody knows what the killed run did with it"
        store = self.reopen(store, in_order=True)
        assert settled(store)
        assert settled(store), "it was unchanged, so that what the earlier run did still counts"
        store = self.reopen(store, in_order=False)
        assert settled(store, text_hash=2)
        assert not settled(store, text_hash=2), "changed in this run"
        store = self.reopen(store, in_order=True)
        store.claim(posting("a", 5, text_hash=3, is_delivered=False))
        store = self.reopen(store, in_order=True)
        assert not settled(store, text_hash=3)

    def settled(self, store: Store, keys: str, text_hash: int = 1) -> str:
        """Return those of *keys* whose pages are settled, and leave no trace."""
        formers = {key: store.look(posting(key, 5, text_hash=text_hash)).former for key in keys}
        return "".join(key for key, former in formers.items() if former is not None and former.is_settled)

    def test_a_page_that_was_unsettled_after_its_claim_is_not_settled(self, store: Store) -> None:
        for key in "abcd":
            store.claim(posting(key, 5, text_hash=1))
        store.unsettle([])
        store.unsettle({b"a", b"c", b"of no page"})
        before = [whole(p) for p in store]
        store = self.reopen(store, in_order=True)
        assert self.settled(store, "abcd") == "bd"
        assert [whole(p._replace(is_delivered=False)) for p in store] == before, "and nothing else changed"

    def test_a_page_that_is_claimed_again_after_it_was_unsettled_is_settled(self, store: Store) -> None:
        for key in "ab":
            store.claim(posting(key, 5, text_hash=1))
        store.unsettle([b"a", b"b"])
        store.claim(posting("b", 5, text_hash=1))
        assert self.settled(self.reopen(store, in_order=True), "ab") == "b"

    def test_what_another_run_has_delivered_cannot_be_unsettled(self, store: Store) -> None:
        for key in "abc":
            store.claim(posting(key, 5, text_hash=1))
        store = self.reopen(store, in_order=True)
        for key, text_hash in (("a", 1), ("b", 2)):
            store.claim(posting(key, 5, text_hash=text_hash))
        store.unsettle([b"a", b"b", b"c"])
        store = self.reopen(store, in_order=True)
        assert (self.settled(store, "abc"), self.settled(store, "b", text_hash=2)) == ("ac", "")

    @pytest.mark.parametrize("in_order", ENDINGS.values(), ids=ENDINGS)
    def test_what_is_unsettled_in_a_later_run_does_not_concern_the_one_before(
        self, store: Store, in_order: bool
    ) -> None:
        store.claim(posting("a", 5, text_hash=1))
        store = self.reopen(store, in_order)
        store.unsettle([b"a"])
        assert self.settled(store, "a") == ("a" if in_order else "")

    def test_a_run_that_is_abandoned_settles_nothing(self, store: Store) -> None:
        store.claim(posting("a", 5, text_hash=1))
        store.abandon()
        store = self.reopen(store, in_order=True)
        assert self.settled(store, "a") == ""
        assert [run.ended for run in store.runs()] == [None, None]

    def test_runs_are_counted_and_told_with_their_ends(self, store: Store) -> None:
        store = self.reopen(store, in_order=True)
        store = self.reopen(store, in_order=False)
        first, second, third = store.runs()
        assert (first.number, second.number, third.number) == (1, 2, 3)
        assert first.ended is not None
        assert first.ended >= first.started
        assert first.reason == "finished"
        assert (second.ended, second.reason, third.ended) == (None, None, None)

    def test_a_store_of_other_fingerprints_is_refused_and_left_as_it_is(self, store: Store) -> None:
        store.claim(posting("a", 0))
        right = store.header
        for wrong in (Header("web-0"), header(SimilarityRule(8, 0.9))):
            with pytest.raises(StoreMismatch, match="Nothing was changed"):
                self.reopen(store, True, wrong)
        assert ask(self.reopen(store, True, right), posting("b", 0)) == copy("a", 0, 0)
