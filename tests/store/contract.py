"""The contract of stores. The tests of a backend subclass ``StoreContract`` or, for a permanent store,
``PersistentContract``, and a state machine of ``machine.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from scrapy_simhash import Fingerprint
from scrapy_simhash.detector import explained, verdict_of
from scrapy_simhash.exceptions import StoreMismatch
from scrapy_simhash.judge.measured import NOT_NEAR, Measured
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.notes import PAGE, RULES, SITE, Note
from scrapy_simhash.page.fingerprint import UNKNOWN, WHOLE, UniqueText
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Claim, Header, History, Posting, Row, Touch, candidates
from tests.store.cases import (
    CLASSIC,
    FACTS,
    FAR,
    LINES,
    NAMES,
    ROWS,
    SECOND_LOOK,
    THINGS,
    Answer,
    ask,
    bare,
    content,
    copy,
    header,
    original,
    posting,
    unique_text,
    url,
    whole,
)
from tests.store.naive import NaiveStore

#: Visits in order: the page, with an optional scope before a colon; its content, as bits, F for FAR, or in
#: quotes the text of a page too short for a fingerprint; then, after "=", the original and its distance, if
#: the page is a copy.
SCENARIOS = {
    "a page within the distance is a copy of the first": "a 0, b 0 = a 0, c 1 = a 1, d 11 = a 2, e 111 = a 3",
    "beyond the distance a page is new": "a 0, b 1111, c F, d F = c 0",
    "clusters do not drift along a chain": "a 000000, b 000111 = a 3, c 111111, d 011111 = c 1",
    "the nearest of several originals is chosen, then the first": "a 0000, b 1111, c 0111 = b 1, d 0011 = a 2",
    "a page is never a duplicate of itself": "a 0, a 0, a 1, a 11",
    "copies of a former text are new": "a 0, b 0 = a 0, a F, c 0, d F = a 0, b 0 = c 0",
    "a page that has its former text again is compared with its current text": "a 0, a F, a 0, b 0 = a 0, c F",
    "a small change does not replace an original": "a 0, a 111, b 111 = a 3, c 1111",
    "a duplicate stays a duplicate at a revisit": "a 0, b 1 = a 1, b 1 = a 1, b 11 = a 2",
    "an original can become a duplicate and an original again": "a 0, b F, b 1 = a 1, c F, b F = c 0",
    "a page that is now a copy is not an original": "a 0, b 1111, b 0 = a 0, b 1 = a 1",
    "a duplicate can become an original": "a 0, b 1 = a 1, b F, c F = b 0",
    # In the end b is as near to a as to c.
    "a page stays in its cluster": "a 000000, b 000111 = a 3, c 111111, b 001111 = c 2, b 000111 = c 3",
    "pages of different scopes do not match": "x:a 1, y:b 1, y:c 1 = b 0, x:d '8', y:e '8', y:f '8' = e 0",
    "short pages match only if they are equal": "a '8', b '8' = a 0, c '9', a '8', b '8' = a 0",
    "a short page that changed is compared again": "a '8', b '9', b '8' = a 0, b '9', a '9' = b 0",
    "short and long pages do not match": "a 1000, b '8', c 1000 = a 0, d '8' = b 0",
    "a page keeps its identity with a long or a short text": "a 101, a '8', b '8' = a 0, c 101, a 101 = c 0",
}


def visit_of(words: str) -> Posting:
    """Return the posting of a visit in ``SCENARIOS``."""
    page, said = words.split()
    scope, _, key = page.rpartition(":")
    if said.startswith("'"):
        return posting(key, int(said.strip("'")), scope, is_short=True)
    return posting(key, FAR if said == "F" else int(said, 2), scope)


def drawn(random: Random) -> Fingerprint:
    """Return a random page from a small choice, so that most have candidates and some are near-duplicates."""
    value = random.choice((0, 0b111, 0b111_1111, 2**20 - 1))
    title_key = random.choice(("night pilots", "night pilots", "day pilots", "boats"))
    fingerprint = content(value, text=f"story {random.randrange(3)}", title_key=title_key)
    own = (b"", b"", UniqueText(UNKNOWN, 100).to_bytes(), unique_text(random.randrange(8)))
    return replace(fingerprint, own=random.choice(own))


class StoreContract(ABC):
    """Tests of the protocol, for a store with a max distance of 3 bits.

    Fingerprints without a sketch are compared by the classic rule in any store, so these tests run with both
    rules.
    """

    #: Whether the store keeps the visits of a page.
    keeps_history = True

    @abstractmethod
    def make(self, header: Header) -> Any:
        """Return an empty store; a subclass must implement only this."""

    @pytest.fixture(params=[CLASSIC, SECOND_LOOK], ids=["classic", "second look"])
    def store(self, request: pytest.FixtureRequest) -> Any:
        return self.make(header(request.param))

    @pytest.fixture
    def careful(self) -> Any:
        """A store that compares sketches."""
        return self.make(header(SECOND_LOOK))

    @pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
    def test_claims_have_the_results_of_a_simple_model(self, store: Any, scenario: str) -> None:
        # By page: number, value, whether it is an original, whether it is short.
        rows: dict[str, tuple[int, int, bool, bool]] = {}
        count = 0
        for step in scenario.split(", "):
            words, _, of = step.partition(" = ")
            visit = visit_of(words)
            key, value = visit.key.decode(), visit.fingerprint.value
            number, former, was_original, was_short = rows.get(key, (count, None, True, False))
            near = former is not None and (former ^ value).bit_count() <= (0 if visit.is_short else 3)
            keeps_row = not of and was_original and near and was_short == visit.is_short
            if (was_original or not of) and not keeps_row:
                number, count = count, count + 1
            if not keeps_row:
                rows[key] = number, value, not of, visit.is_short
            expected = original(number, former)
            if of:
                first, distance = of.split()
                expected = copy(first, rows[first][0], int(distance), former)
            assert ask(store, visit) == expected, step
        findable = [
            key for key, (_, _, is_original, is_short) in rows.items() if is_original and not is_short
        ]
        assert (len(store), store.index_size) == (len(rows), len(findable))

    def test_all_64_bits_and_any_key_can_be_stored(self, store: Any) -> None:
        keys = [b"", b"\0", b"\xff" * 32, "é漢".encode()]
        for number, key in enumerate(keys):
            value = (2**64 - 1) ^ (0xFF << 16 * number)
            claim = store.claim(Posting(key, "https://é.example/漢?\x00", "", Fingerprint(value)))
            assert claim.cluster == number
        again = ask(store, Posting(keys[0], "https://é.example/", "", Fingerprint(0)))
        assert again.former == (2**64 - 1) ^ 0xFF

    # --- Equal text.

    @pytest.mark.parametrize(
        ("first", "second", "is_same"),
        [(7, 7, True), (0, 0, True), (7, 8, False), (None, None, False), (7, None, False), (None, 0, False)],
    )
    def test_a_copy_has_the_same_text_when_both_hashes_are_known_and_equal(
        self, store: Any, first: int | None, second: int | None, is_same: bool
    ) -> None:
        store.claim(posting("a", 0, page_hash=first))
        assert store.look(posting("b", 0, page_hash=second)).is_same_text is is_same
        assert store.claim(posting("b", 0, page_hash=second)).is_same_text is is_same
        assert store.claim(posting("b", 1, page_hash=second)).is_same_text is is_same, (
            "the bits do not matter"
        )

    def test_pages_with_equal_text_are_one_cluster(self, careful: Any) -> None:
        near, between, far = content(0), content(1, edited=35), content(3, edited=70)
        careful.claim(posting("a", near, page_hash=1))
        assert careful.claim(posting("b", between, page_hash=2)).original == url("a")
        assert careful.look(posting("c", far)).original is None, "only near b"
        for asked in (careful.look, careful.claim):
            claim = asked(posting("c", far, page_hash=2))
            assert claim[1:6] == (0, url("a"), 0, 1.0, False), "the text of b, not that of a"
        assert careful.look(posting("d", far, "x", page_hash=2)).original is None, "in another scope"
        # The page had another text before.
        careful.claim(posting("e", FAR, page_hash=5))
        assert careful.claim(posting("e", content(FAR, text="x"), page_hash=2)).original == url("a")
        # No page has that text any more.
        for number, key in enumerate("bce"):
            assert careful.look(posting("d", far, page_hash=2)).original == url("a")
            careful.claim(posting(key, between, page_hash=6 + number))
        assert careful.look(posting("d", far, page_hash=2)).original is None
        # The original is removed.
        careful.claim(posting("b", between, page_hash=2))
        assert careful.remove(b"a")
        for key, first in (("f", None), ("g", "f"), ("b", "f")):
            claim = careful.claim(posting(key, content(0xABCDEF << 20, text=key), page_hash=2))
            assert claim.original == (first and url(first))

    # --- Pages that are near several clusters.

    def test_a_page_that_is_near_only_a_copy_is_new_and_names_its_cluster(self, careful: Any) -> None:
        first, between, last = (content(2**at - 1, edited=35 * at) for at in range(3))
        for key, page in (("a", first), ("b", between)):
            assert careful.claim(posting(key, page)).cluster == 0
        for asked in (careful.look, careful.claim):
            claim = asked(posting("c", last))
            assert (claim.original, claim.cluster, claim.also_near) == (None, 2, (0,))
        assert careful.look(posting("e", last)).also_near == (0,), "c is in its own cluster"
        # Members of the same cluster, and the page itself, do not count.
        assert careful.look(posting("b", last)).also_near == ()
        assert careful.look(posting("x", last, "x")).also_near == ()
        assert careful.look(posting("x", last, is_short=True)).also_near == ()

    # --- Pages whose facts contradict each other.

    def test_a_page_that_contradicts_its_original_has_its_own_cluster(self, careful: Any) -> None:
        one, other = (content(0, facts=facts) for facts in LINES)
        careful.claim(posting("a", one, page_hash=1))
        for asked in (careful.look, careful.claim):
            claim = asked(posting("b", other, page_hash=2))
            assert (claim.original, claim.distance, claim.similarity, claim.contradicts) == (
                url("a"),
                0,
                1.0,
                True,
            )
            assert (claim.cluster, claim.rank, claim.also_near) == (1, 0, (0,))
        assert (len(careful), careful.index_size) == (2, 2)
        page = careful.get(b"b")
        assert (page.cluster, page.original) == (1, None)
        # Its copies join its cluster; a page without facts is a copy of the oldest.
        for key, facts, first in (("c", LINES[1], "b"), ("d", LINES[0], "a"), ("e", NONE, "a")):
            claim = careful.claim(posting(key, content(0, facts=facts)))
            assert (claim.original, claim.contradicts) == (url(first), False)
        # With the same text it is a copy, whatever its facts are.
        claim = careful.claim(posting("f", other, page_hash=1))
        assert (claim.original, claim.contradicts) == (url("a"), False)

    @pytest.mark.parametrize("seed", range(4))
    def test_pages_of_all_kinds_have_the_results_of_the_definition(self, careful: Any, seed: int) -> None:
        random, naive = Random(seed), NaiveStore(SECOND_LOOK)
        generic = contradicting = near_copies = 0
        for number in range(150):
            text, facts = random.choice(
                (("a", LINES), ("b", ROWS), ("c", (NONE,)), ("d", (*NAMES, *THINGS)), ("e", FACTS))
            )
            value = int.from_bytes(text.encode() * 8, "big") ^ random.randrange(8)
            title_key, edited = random.choice(("", "", "night pilots")), random.randrange(0, 200, 20)
            own = random.choice((b"", UniqueText(WHOLE, 100).to_bytes(), unique_text(value, edited, text)))
            page = replace(content(value, edited, title_key, text, random.choice(facts)), own=own)
            key, scope = str(random.randrange(2 * number + 1)), random.choice(("", "", "x"))
            visit = posting(key, page, scope, page_hash=random.choice((None, None, number)))
            generic += naive.has_generic_title(visit)
            claim, expected = bare(careful.claim(visit)), bare(naive.claim(visit))
            assert claim == expected
            contradicting += claim.contradicts
            near_copies += claim.original is None and claim.also_near != ()
            if number % 10 == 9:
                gone = str(random.randrange(number)).encode()
                assert careful.remove(gone) == naive.remove(gone)
        assert min(generic, contradicting, near_copies) > 2

    # --- Dense regions.

    def test_the_nearest_of_many_candidates_are_compared(
        self, careful: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        unknown = UniqueText(UNKNOWN, 100).to_bytes()
        for number, value in enumerate((0b1, 0b11, 0b111, 0b1111)):
            # All are near in bits, but only the last one has the text of the query.
            text = "asked" if number == 3 else f"sibling {number}"
            careful.claim(posting(str(number), replace(content(value, text=text, title_key=""), own=unknown)))
        asked = replace(content(0, text="asked", title_key=""), own=unknown)
        assert careful.look(posting("9", asked)).original == url("3")
        monkeypatch.setattr(candidates, "MAX_COMPARED", 3)
        assert careful.look(posting("9", asked)).original is None
        # A page's own row is always a candidate.
        assert careful.look(posting("3", asked)).cluster == 3

    def test_in_a_dense_region_a_page_is_found_by_title_key_and_unique_text(
        self, careful: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(candidates, "MAX_NEARBY", 2)
        far_away = 2**64 - 2**32
        for number, value in enumerate((0b1, 0b11)):
            what = content(value, text=f"sibling {number}", title_key=f"number {number}")
            careful.claim(posting(str(number), what))
        third = replace(content(0b111, text="third", title_key="number three"), own=unique_text(far_away))
        fourth = content(0b1111, text="fourth", title_key="number four")
        careful.claim(posting("2", third))
        careful.claim(posting("3", fourth))
        assert (len(careful), careful.index_size) == (4, 4)
        # All the others are nearer than the fourth, which is found by its title key.
        assert careful.look(posting("9", fourth)).original == url("3")
        far = replace(fourth, value=0b111_1110_0000)
        assert careful.look(posting("9", far))[2:4] == (url("3"), 10)
        without = replace(far, sketch=content(0, text="fourth").sketch)
        assert careful.look(posting("9", without)).original is None
        under_another_template = replace(content(0xABCDEF << 20, text="template"), own=unique_text(far_away))
        assert careful.look(posting("9", under_another_template)).original == url("2")
        # Without a title key the page is not found by others, but it is still stored.
        careful.claim(posting("4", content(0b11111, text="fifth", title_key="")))
        assert (len(careful), careful.index_size) == (5, 4)
        assert [careful.remove(key) for key in (b"2", b"4")] == [True, True]
        assert (len(careful), careful.index_size) == (3, 3)

    # --- Near misses.

    def test_a_near_miss_is_the_most_similar_of_all_candidates(
        self, careful: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        random = Random(20)
        new: dict[str, Fingerprint] = {}
        misses = repeated = 0
        for number in range(60):
            fingerprint = drawn(random)
            visit = posting(str(number), fingerprint)
            claim = careful.claim(visit)
            verdict = explained(verdict_of(visit, claim), visit, claim, SECOND_LOOK)
            pairs = {
                other: Measured(fingerprint, its, SECOND_LOOK.min_similarity, SECOND_LOOK.reach)
                for other, its in new.items()
            }
            if claim.original is not None:
                assert verdict.near_miss is None
                assert verdict.threshold is not None
                # The pair is near by this rule.
                assert verdict.threshold >= SECOND_LOOK.min_similarity
                repeated += 1
                continue
            new[url(str(number))] = fingerprint
            assert verdict.threshold is None
            most = max((pair.alike for pair in pairs.values()), default=NOT_NEAR)
            assert (verdict.near_miss is None) == (most == NOT_NEAR)
            if verdict.near_miss is not None:
                misses += 1
                assert verdict.near_miss.similarity == pairs[verdict.near_miss.url].alike == most
                assert verdict.near_miss.threshold < SECOND_LOOK.min_similarity
        assert misses > 5
        assert repeated > 5

    # --- The rest of the protocol.

    def test_a_look_stores_nothing(self, store: Any) -> None:
        store.claim(posting("a", 0))
        for _ in range(2):
            assert bare(store.look(posting("b", 1))) == Claim(
                None, 0, url("a"), 1, 1 - 1 / 64, False, 1, b"a"
            )
            assert bare(store.look(posting("b", FAR))) == Claim(None, 1, None, None, None, False, 0)
            assert store.look(posting("a", FAR)).cluster == 1, "its text would be replaced"
        former = store.look(posting("a", FAR)).former
        assert bare(former) == Row(0, posting("a", 0), 0)
        assert (len(store), store.index_size) == (1, 1)

    def test_a_row_has_the_visits_of_its_page(self, store: Any) -> None:
        if not self.keeps_history:
            pytest.skip("it keeps no history")
        store.claim(posting("a", 5, page_hash=1, seen=10)._replace(text_hash=7))
        store.touch([(b"a", 20)])
        page = store.get(b"a")
        assert (page.posting.seen, page.posting.text_hash, page.rank) == (20, 7, 0)
        assert page.posting.history == History(10, 20, 2, 0)
        store.claim(posting("a", 5, page_hash=1, seen=30)._replace(text_hash=7))
        assert store.get(b"a").posting.history == History(10, 30, 3, 0)
        former = store.claim(posting("a", 4, page_hash=2, seen=40)._replace(text_hash=8)).former
        assert former is not None
        assert (former.posting.seen, former.posting.history) == (30, History(10, 30, 3, 0))
        store.claim(posting("a", FAR, page_hash=3, seen=50))
        page = store.get(b"a")
        assert (page.posting.text_hash, page.posting.history) == (None, History(10, 50, 5, 2))
        store.claim(posting("b", FAR, page_hash=3, seen=60))
        assert store.get(b"b").rank == 1

    def test_postings_are_imported_with_their_visits(self, store: Any) -> None:
        if not self.keeps_history:
            pytest.skip("it keeps no history")
        store.claim(posting("a", 5, page_hash=1, seen=9)._replace(history=History(3, 7, 4, 2)))
        page = store.get(b"a")
        assert (page.posting.seen, page.posting.history) == (9, History(3, 7, 4, 2))
        store.claim(posting("a", 5, page_hash=1, seen=12)._replace(history=History(1, 11, 2, 1)))
        assert store.get(b"a").posting.history == History(1, 11, 6, 3)
        store.claim(posting("a", 5, page_hash=2, seen=13)._replace(history=History(12, 13, 1, 0)))
        assert store.get(b"a").posting.history == History(1, 13, 7, 4)

    def test_a_removed_page_is_neither_known_nor_found(self, store: Any) -> None:
        store.claim(posting("a", 0))
        store.claim(posting("a", FAR))
        store.claim(posting("b", 8, is_short=True))
        assert store.remove(b"a")
        assert store.remove(b"b")
        assert not store.remove(b"a")
        assert not store.remove(b"c")
        assert (len(store), store.index_size, store.get(b"a")) == (0, 0, None)
        assert ask(store, posting("c", FAR)) == original(3)
        assert ask(store, posting("d", 8, is_short=True)) == original(4)
        assert ask(store, posting("a", 0)) == original(5), "numbers are not used again"

    def test_all_pages_of_a_host_can_be_removed(self, store: Any) -> None:
        urls = ("https://a.example/1", "https://A.example/2", "https://b.example/")
        for url_of_page in urls:
            store.claim(Posting(url_of_page.encode(), url_of_page, "", Fingerprint(len(url_of_page))))
        assert store.remove_host("a.example") == 2
        assert [page.url for page in store] == [urls[2]]
        assert store.remove_host("a.example") == 0
        assert len(store) == 1


#: The two ways in which a run ends.
ENDINGS = {"ended in order": True, "killed": False}


#: By page, the expected state at a claim: new, open (not delivered by another run) or delivered. The text of
#: a page has the hash 1, or 2 where a 2 follows; "+" claims the page as already delivered, and "?" only looks
#: it up. Between the claims pages are delivered, and runs end or are killed.
FATES = {
    "a claim delivers nothing": "a new, a open, end, a open, end, a open ?",
    "deliveries of earlier runs are known": "a new, b new, deliver, deliver a x, a open, end, a delivered, b open ?",
    "a kill changes nothing": "a new, b new, deliver a, kill, a delivered, b open, kill, a delivered ?",
    "a delivery is kept with its text": "a new, deliver a, end, a delivered, kill, a delivered, end, a delivered ?",
    "a different text was not delivered": "a new, deliver a, end, a delivered 2, a open 2, end, a open 2, a open",
    "a delivery counts for one text": "a new, a open 2, deliver a, end, a open 2, deliver a 2, end, a delivered 2",
    "a page may be delivered again": "a new, deliver a, end, a delivered, deliver a, a open, end, a delivered",
    "a claim may be delivered": "a new +, a open, end, a delivered, a delivered 2 +, a open 2, end, a delivered",
}


class PersistentContract(StoreContract):
    """Tests of a permanent store."""

    @abstractmethod
    def reopen(self, store: Any, in_order: bool, header: Header | None = None) -> Any:
        """Close *store*, or simulate a kill, and open it again, with another *header* if given."""

    @pytest.mark.parametrize("in_order", ENDINGS.values(), ids=ENDINGS)
    def test_claimed_pages_are_stored(self, careful: Any, in_order: bool) -> None:
        careful.claim(posting("a", content(0), seen=1, page_hash=1))
        careful.claim(posting("b", content(1, edited=20)))
        careful.claim(posting("c", 9, "x.example", is_short=True))
        careful.claim(posting("gone", content(FAR, text="x")))
        careful.remove(b"gone")
        before = [whole(p)[:6] for p in careful]
        again = self.reopen(careful, in_order)
        assert [whole(p)[:6] for p in again] == before
        assert (len(again), again.index_size) == (3, 1)
        assert ask(again, posting("d", content(0))) == Answer(None, 0, url("a"), 0, 1.0)
        assert ask(again, posting("e", 9, "x.example", is_short=True)) == copy("c", 2, 0)
        assert ask(again, posting("gone", content(FAR, text="x"))) == original(6), (
            "numbers are not used again"
        )

    @pytest.mark.parametrize("fates", FATES.values(), ids=FATES)
    def test_deliveries_of_another_run_are_known(self, store: Any, fates: str) -> None:
        for step in fates.split(", "):
            what, *words = step.split()
            if what in ("end", "kill"):
                store = self.reopen(store, in_order=what == "end")
            elif what == "deliver":
                before = [whole(one._replace(is_delivered=False)) for one in store]
                page_hash = 2 if "2" in words else 1
                store.deliver({key.encode(): page_hash for key in words})
                assert [whole(one._replace(is_delivered=False)) for one in store] == before
            else:
                ask = store.look if "?" in words else store.claim
                page_hash, is_delivered = (2 if "2" in words else 1), "+" in words
                former = ask(posting(what, 5, page_hash=page_hash, is_delivered=is_delivered)).former
                told = "new" if former is None else "open" if former.delivered is None else "delivered"
                assert told == words[0], step
        assert all(run.ended is None or run.ended >= run.started for run in store.runs())

    def test_runs_are_counted_and_listed_with_their_ends(self, store: Any) -> None:
        store = self.reopen(store, in_order=True)
        store = self.reopen(store, in_order=False)
        first, second, third = store.runs()
        assert (first.number, second.number, third.number) == (1, 2, 3)
        assert first.ended is not None
        assert first.ended >= first.started
        assert first.reason == "finished"
        assert (second.ended, second.reason, third.ended) == (None, None, None)

    @pytest.mark.parametrize("in_order", ENDINGS.values(), ids=ENDINGS)
    def test_a_note_is_replaced_only_with_its_current_version(self, store: Any, in_order: bool) -> None:
        assert store.note(SITE, "b.example") == (0, None)
        (first,) = store.replace_notes(SITE, [Note("b.example", 0, b"1")])
        assert (
            store.replace_notes(SITE, [Note("b.example", 0, b"x"), Note("b\udce9.example", 0, b"22")])[0]
            is None
        )
        (second,) = store.replace_notes(SITE, [Note("b.example", first, b"333")])
        assert second not in (None, 0, first)
        assert store.replace_notes(SITE, [Note("b.example", first, b"x")]) == [None]
        store.replace_notes(RULES, [Note("b.example", None, b"rules")])
        store = self.reopen(store, in_order)
        assert store.note(SITE, "b.example") == (second, b"333")
        assert list(store.notes(SITE)) == [("b.example", b"333"), ("b\udce9.example", b"22")]
        assert list(store.notes(RULES)) == [("b.example", b"rules")]
        assert store.replace_notes(RULES, [Note("b.example", None, b"new")])[0] is not None
        assert store.note(RULES, "b.example")[1] == b"new"

    def test_the_note_of_a_page_is_removed_with_it(self, store: Any) -> None:
        if PAGE not in store.note_kinds:
            pytest.skip("where a page is that was not met before, all shards would be asked")
        store.claim(posting("a", 5))
        store.claim(posting("b", 5))
        store.replace_notes(PAGE, [Note(b"a", None, b"about a"), Note(b"b", None, b"about b")])
        assert (store.note(PAGE, b"a")[1], store.note(PAGE, b"c")) == (b"about a", (0, None))
        assert store.remove(b"a")
        assert (store.note(PAGE, b"a"), store.note(PAGE, b"b")[1]) == ((0, None), b"about b")

    def test_the_time_of_a_later_visit_is_kept(self, store: Any) -> None:
        if PAGE not in store.note_kinds:
            pytest.skip("where a page is that was not met before, all shards would be asked")
        store.claim(posting("a", 5, seen=100))
        store.claim(posting("b", 5, seen=100))
        store.touch([(b"a", 200), (b"unknown", 200)])
        assert (store.get(b"a").posting.seen, len(store)) == (200, 2)
        former = store.claim(posting("a", 5, seen=300)).former
        assert former.posting.seen == 200
        if former.posting.history is not None:
            assert former.posting.history[1:3] == (200, 2)
            store.touch([(b"a", 400)], Touch.SEEN)
            row = store.get(b"a")
            assert (row.posting.seen, row.posting.history[1:3], row.is_gone) == (400, (300, 3), False)
            store.touch([(b"a", 500), (b"unknown", 500)], Touch.GONE)
            row = store.get(b"a")
            assert (row.posting.seen, row.posting.history[1:3], row.is_gone) == (400, (500, 3), True)
            # Within one second, too.
            store.touch([(b"b", 100)], Touch.GONE)
            assert store.claim(posting("b", 5, seen=600)).former.is_gone
            assert not store.get(b"b").is_gone

    def test_a_store_of_other_fingerprints_is_refused_and_unchanged(self, store: Any) -> None:
        store.claim(posting("a", 0))
        right = store.header
        for wrong in (Header("web-0"), header(SimilarityRule(8, 0.9))):
            with pytest.raises(StoreMismatch, match="Nothing was changed"):
                self.reopen(store, True, wrong)
        assert ask(self.reopen(store, True, right), posting("b", 0)) == copy("a", 0, 0)

    def test_pages_found_by_title_key_are_found_after_reopening(
        self, careful: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(candidates, "MAX_NEARBY", 2)
        for number in range(5):
            what = content((1 << number) - 1, text=f"sibling {number}", title_key=f"number {number}")
            careful.claim(posting(str(number), what))
        asked = posting("9", content(1 << 40, text="sibling 4", title_key="number 4"))
        again = self.reopen(careful, in_order=True)
        assert again.look(asked).original == url("4")
        assert again.index_size == 5
