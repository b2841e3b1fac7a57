"""The contract of stores. The tests of a backend subclass ``StoreContract`` or, for a permanent store,
``PersistentContract``, and a state machine of ``machine.py``.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from scrapy_simhash import Fingerprint
from scrapy_simhash.detector import explained, verdict_of
from scrapy_simhash.exceptions import StoreError, StoreMismatch
from scrapy_simhash.judge.measured import NOT_NEAR, Measured
from scrapy_simhash.judge.rule import ClassicRule
from scrapy_simhash.notes import PAGE, RULES, SITE, Note
from scrapy_simhash.page.fingerprint import UNKNOWN, WHOLE, UniqueText
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Header, Posting, candidates
from tests.store.cases import (
    CLASSIC,
    FACTS,
    FAR,
    LINES,
    NAMES,
    ROWS,
    SECOND_LOOK,
    THINGS,
    bare,
    content,
    header,
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
    page, content_word = words.split()
    scope, _, key = page.rpartition(":")
    if content_word.startswith("'"):
        return posting(key, int(content_word.strip("'")), scope, is_short=True)
    return posting(key, FAR if content_word == "F" else int(content_word, 2), scope)


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
    def test_each_copy_has_the_expected_original(self, store: Any, scenario: str) -> None:
        naive = NaiveStore(store.header.rule)
        for step in scenario.split(", "):
            words, _, expected = step.partition(" = ")
            visit = visit_of(words)
            claim = store.claim(visit)
            assert bare(claim) == bare(naive.claim(visit)), step
            first, _, distance = expected.partition(" ")
            assert (claim.original, claim.distance) == (
                (url(first), int(distance)) if expected else (None, None)
            ), step
        assert (len(store), store.index_size) == (len(naive), naive.index_size)

    def test_all_64_bits_and_any_key_can_be_stored(self, store: Any) -> None:
        keys = [b"", b"\0", b"\xff" * 32, "é漢".encode()]
        values = [(2**64 - 1) ^ (0xFF << 16 * number) for number in range(len(keys))]
        for number, (key, value) in enumerate(zip(keys, values, strict=True)):
            claim = store.claim(Posting(key, "https://é.example/漢?\x00", "", Fingerprint(value)))
            assert claim.cluster == number
        former = store.claim(Posting(keys[0], "https://é.example/", "", Fingerprint(0))).former
        assert former.posting.fingerprint.value == values[0]

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
            visit = posting(key, page, scope, page_hash=random.choice((None, None, number, number // 9)))
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
DAY = 86_400


class PersistentContract(StoreContract):
    """Tests of a permanent store."""

    @abstractmethod
    def reopen(self, store: Any, in_order: bool, header: Header | None = None, **options: Any) -> Any:
        """Close *store*, or simulate a kill, and open it again, with another *header* if given."""

    def test_texts_with_lone_surrogates_are_kept(self, careful: Any) -> None:
        odd = posting("a", content(5), "caf\udce9.example")._replace(
            url="https://example.com/\ud800\udce9é\0漢"
        )
        exact = posting("b", 5, "caf\udce9.example", is_short=True)
        careful.claim(odd)
        careful.claim(exact)
        careful = self.reopen(careful, in_order=False)
        assert [(page.url, page.scope) for page in careful] == [(one.url, one.scope) for one in (odd, exact)]
        assert careful.look(posting("c", content(4), odd.scope)).original == odd.url
        assert careful.look(posting("c", 5, odd.scope, is_short=True)).original == exact.url

    def test_runs_are_counted_and_listed_with_their_ends(self, store: Any) -> None:
        store = self.reopen(store, in_order=True)
        store = self.reopen(store, in_order=False)
        first, second, third = store.runs()
        assert (first.number, second.number, third.number) == (1, 2, 3)
        assert first.ended is not None
        assert first.ended >= first.started
        assert first.reason == "finished"
        assert (second.ended, second.reason, third.ended) == (None, None, None)

    @abstractmethod
    def read(self, store: Any) -> Any:
        """Open *store* a second time, to read it while it is written."""

    def test_a_reader_sees_the_pages_stored_so_far_and_changes_nothing(self, careful: Any) -> None:
        careful.claim(posting("a", content(5)))
        reader = self.read(careful)
        assert (len(reader), reader.index_size, reader.header) == (1, 1, careful.header)
        assert bare(reader.look(posting("b", content(4)))) == bare(careful.look(posting("b", content(4))))
        assert reader.runs() == careful.runs()
        careful.claim(posting("b", FAR))
        assert [whole(page) for page in reader] == [whole(page) for page in careful]
        assert bare(reader.get(b"b")) == bare(careful.get(b"b"))
        for change, *arguments in (
            (reader.claim, posting("c", 1)),
            (reader.remove, b"a"),
            (reader.replace_notes, SITE, [Note("a.example", 0, b"profile")]),
        ):
            with pytest.raises(StoreError, match="opened read-only"):
                change(*arguments)
        reader.close()
        assert (len(careful), len(careful.runs())) == (2, 1)

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

    def test_a_store_of_other_fingerprints_is_refused_and_unchanged(self, store: Any) -> None:
        store.claim(posting("a", 0))
        right, rule = store.header, store.header.rule
        of_rule = (
            "MAX_DISTANCE is 3 there, 2 here" if rule == CLASSIC else "RULE is 'similarity' there, 'classic'"
        )
        for wrong, message in ((Header("web-0"), "scheme"), (header(ClassicRule(2)), f"SIMHASH_{of_rule}")):
            for read_only in (False, True):
                with pytest.raises(StoreMismatch, match=rf"{message}.*Nothing was changed"):
                    self.reopen(store, True, wrong, read_only=read_only)
        assert self.reopen(store, True, right).claim(posting("b", 0)).original == url("a")

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

    # --- Pages that were not seen for a time.

    def test_pages_not_seen_for_the_given_time_are_removed(
        self, store: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        now, ages = int(time.time()), {"old": (0, 100), "copy": (1, 10), "new": (FAR, 0)}
        ages |= {"older": (FAR >> 1, 91), "touched": (FAR << 8 & 2**64 - 1, 91)}
        for key, (value, days) in ages.items():
            store.claim(posting(key, value, page_hash=value, seen=now - days * DAY))
        store.claim(posting("short", 7, is_short=True, seen=now - 100 * DAY))
        store.touch([(b"touched", now)])
        caplog.set_level("INFO", "scrapy_simhash")
        store = self.reopen(store, in_order=True, keep=90 * DAY)
        assert {page.key for page in store} == {b"copy", b"new", b"touched"}
        assert (len(store), store.index_size) == (3, 2)
        (line,) = (line for line in caplog.messages if "removed" in line)
        assert line.endswith(": removed 3 pages that were not seen again")
        # The copy is compared again, like a page whose original was removed by hand. Numbers are not reused.
        assert store.get(b"copy").original is None
        assert store.claim(posting("copy", 1)).cluster == 6
        assert store.claim(posting("another", 0, page_hash=0)).original == url("copy")
        assert len(self.reopen(store, in_order=True)) == 4, "without keep nothing is removed"

    @pytest.mark.parametrize("years", [50, -50, 1])
    def test_a_pause_or_a_wrong_clock_removes_nothing(
        self, careful: Any, years: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = int(time.time())
        careful.claim(posting("a", 0, seen=now - 80 * DAY))
        careful.claim(posting("b", FAR, seen=now))
        monkeypatch.setattr(time, "time", lambda: now + years * 365 * DAY)
        # A killed run, whose end does not depend on the changed clock.
        assert len(self.reopen(careful, in_order=False, keep=90 * DAY)) == 2
