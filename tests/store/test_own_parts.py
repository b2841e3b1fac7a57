"""Own parts and profiles of sites in the stores that keep them."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from benchmarks.lib.shared_text.sites import REPOSTS
from scrapy_simhash import Config, Fingerprint, NearDuplicateDetector, Status
from scrapy_simhash.page.fingerprint import UNKNOWN, WHOLE, OwnPart
from scrapy_simhash.page.fingerprint.own_part import JOB, identity_of
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.store import AsyncStore, KeepsSites, MemoryStore, Store, candidates
from scrapy_simhash.store.columns import OwnParts
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.cases import SECOND_LOOK, content, header, posting, url
from tests.store.cases import own_part as own
from tests.store.killed import killed
from tests.store.remote import RemoteStore
from tests.store.sqlite.stores import Shelf

HEADER = header(SECOND_LOOK)
KIEL, ULM = (identity_of(JOB, [["nurse"], [], [town]]) for town in ("kiel", "ulm"))


def page(template: int, own_bytes: bytes, subject: str = "night pilots") -> Fingerprint:
    """Return a page of another template for each number: far from the others in bits and in shingles."""
    value = int.from_bytes(bytes([template] * 8), "big") * 0x9E3779B97F4A7C15 % 2**64
    return replace(content(value, text=f"template {template}", subject=subject), own=own_bytes)


@pytest.fixture
def store(any_store: Store) -> Store:
    return any_store


def test_of_many_candidates_the_nearest_ones_are_compared(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = OwnPart(UNKNOWN, 100).to_bytes()
    for number, value in enumerate((0b1, 0b11, 0b111, 0b1111)):
        # Near in bits and in nothing else, but the last: it has the text that is asked for.
        text = "asked" if number == 3 else f"sibling {number}"
        store.claim(posting(str(number), replace(content(value, text=text, subject=""), own=unknown)))
    asked = replace(content(0, text="asked", subject=""), own=unknown)
    assert store.look(posting("9", asked)).original == url("3")
    monkeypatch.setattr(candidates, "MOST_COMPARED", 3)
    assert store.look(posting("9", asked)).original is None
    # A page's own content is always among them.
    assert store.look(posting("3", asked)).content == 3


def test_in_a_crowd_a_page_is_found_by_its_subject_and_its_own_part(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "scrapy_simhash")
    monkeypatch.setattr(candidates, "MOST_NEARBY", 2)
    far_away = 2**64 - 2**32
    for number, value in enumerate((0b1, 0b11)):
        store.claim(
            posting(str(number), content(value, text=f"sibling {number}", subject=f"number {number}"))
        )
    third = replace(content(0b111, text="third", subject="number three"), own=own(far_away))
    fourth = content(0b1111, text="fourth", subject="number four")
    store.claim(posting("2", third))
    store.claim(posting("3", fourth))
    assert (len(store), store.index_size) == (4, 4)
    # All the others are nearer than the fourth, whose subject finds it all the same.
    assert store.look(posting("9", fourth)).original == url("3")
    far = replace(fourth, value=0b111_1110_0000)
    assert store.look(posting("9", far))[3:5] == (url("3"), 10)
    assert store.look(posting("9", replace(far, sketch=content(0, text="fourth").sketch))).original is None
    assert store.look(posting("9", page(7, own(far_away)))).original == url("2")
    # Without a subject it cannot be found; it is known all the same.
    store.claim(posting("4", content(0b11111, text="fifth", subject="")))
    assert (len(store), store.index_size) == (5, 4)
    assert [store.remove(key) for key in (b"2", b"4")] == [True, True]
    assert (len(store), store.index_size) == (3, 3)
    told = [message for message in caplog.messages if "are within 8 bits of each other, and new" in message]
    assert len(told) == 1


def test_what_is_found_by_its_subject_is_found_so_after_opening_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MOST_NEARBY", 2)
    store = shelf.new(HEADER)
    for number in range(5):
        value = (1 << number) - 1
        store.claim(
            posting(str(number), content(value, text=f"sibling {number}", subject=f"number {number}"))
        )
    asked = posting("9", content(1 << 40, text="sibling 4", subject="number 4"))
    assert store.look(asked).original == url("4")
    again = shelf.reopen(store, in_order=True, header=HEADER)
    assert again.look(asked).original == url("4")
    assert again.index_size == 5
    assert again._index("").nearest([0], 1)[1] == [2], "by their text"


def test_the_text_of_one_page_is_found_as_the_own_part_of_another(store: Store) -> None:
    """Where a site repeats nothing of a page, its own part is all its text."""
    a = replace(content(0xABCDEF, text="own"), own=OwnPart(WHOLE, 100).to_bytes())
    store.claim(posting("a", a))
    assert store.claim(posting("b", page(2, own(0xABCDEF)))).original == url("a")


def test_adverts_of_one_job_in_two_places_are_two_and_a_repost_is_found(store: Store) -> None:
    """By their structured data: nothing else tells them apart."""
    in_kiel, in_ulm = (
        OwnPart.from_bytes(own(0b1111_0000))._replace(identity=town).to_bytes() for town in (KIEL, ULM)
    )
    store.claim(posting("a", page(1, in_kiel)))
    claim = store.claim(posting("b", replace(page(1, in_ulm), value=page(1, b"").value ^ 1)))
    assert (claim.original, claim.is_by_learning) == (None, True)
    again = store.claim(posting("c", replace(page(1, in_ulm), value=page(1, b"").value ^ 2)))
    assert (again.original, again.is_by_learning) == (url("b"), False)
    # Found by the value of its own part.
    assert store.look(posting("d", page(2, in_ulm))).original == url("b")
    assert [store.remove(key) for key in (b"b", b"c")] == [True, True]
    assert store.look(posting("d", page(2, in_ulm))).original is None
    assert store.index_size == 1


def test_own_parts_of_contents_are_kept_as_bytes() -> None:
    parts = OwnParts()
    given = [b"", bytes(11), b"\1" + b"\xff" * 10, own(1), b"\2" + bytes(130), bytes(10) + b"\1", own(2)]
    given += [
        OwnPart(WHOLE, 9, identity=KIEL).to_bytes(),
        OwnPart.from_bytes(own(3))._replace(identity=KIEL).to_bytes(),
    ]
    for number, one in enumerate(given):
        parts[number] = one
    assert [parts[number] for number in range(len(given))] == given
    # Another in its place, and all others stay.
    for number, one in enumerate(given[::-1]):
        parts[number] = one
    assert [parts[number] for number in range(len(given))] == given[::-1]


# --- Profiles.


def test_profiles_are_kept_in_the_file(shelf: Shelf) -> None:
    store = shelf.new(HEADER)
    assert isinstance(store, KeepsSites)
    assert not isinstance(MemoryStore(), KeepsSites)
    store.keep_sites([("b.example", b"1"), ("a.example", b"22")])
    store.keep_sites([("b.example", b"333")])
    for in_order in (True, False):
        store = shelf.reopen(store, in_order)
        assert list(store.sites()) == [("a.example", b"22"), ("b.example", b"333")]
        assert (store.load_site("b.example"), store.load_site("c.example")) == (b"333", None)
    reader = SqliteStore(store._path, read_only=True)
    assert reader.load_site("a.example") == b"22"
    reader.close()


KILLED = """
import sys
from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import NearDuplicateDetector
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.test_own_parts import HEADER

detector = NearDuplicateDetector(store=SqliteStore(sys.argv[1], HEADER))
pages = make_site(PLANS[4]).pages
for number in range(1, 10_000):
    page = pages[number % len(pages)]
    detector.check(page.html, f"https://jobs.example/{number}")
    print(number, flush=True)
"""


def test_a_kill_loses_what_was_learned_from_500_pages_at_most(tmp_path: Path) -> None:
    path = tmp_path / "pages.sqlite"
    seen = killed(KILLED, str(path))
    store = SqliteStore(path, HEADER)
    data = store.load_site("jobs.example")
    assert data is not None
    profile = SiteProfile.from_bytes(data)
    assert seen - 500 <= profile.pages <= seen + 1
    # And the next run knows the site.
    detector = NearDuplicateDetector(store=store)
    assert detector.sites is not None
    assert detector.sites.of("https://jobs.example/").is_known
    store.close()


def test_what_was_learned_is_written_at_the_end(shelf: Shelf) -> None:
    store = shelf.new(HEADER)
    detector = NearDuplicateDetector(store=store)
    story = " ".join(f"the ship and {word} went out to the sea" for word in "abcdefgh")
    detector.check(f"<p>{story}", "https://a.example/")
    assert list(store.sites()) == []
    detector.flush()
    ((host, data),) = store.sites()
    assert (host, SiteProfile.from_bytes(data).pages) == ("a.example", 1)


def test_something_is_learned_with_every_store_unless_it_is_switched_off() -> None:
    for store in (MemoryStore(HEADER), RemoteStore(HEADER)):
        assert type(NearDuplicateDetector(store=store).sites) is SiteProfiles
    assert NearDuplicateDetector(Config(site_learning=False)).sites is None
    assert NearDuplicateDetector(Config(rule="classic")).sites is None


@pytest.mark.parametrize("store", [MemoryStore(HEADER), RemoteStore(HEADER)], ids=["here", "elsewhere"])
def test_coroutines_learn_too(store: Store | AsyncStore) -> None:
    detector = NearDuplicateDetector(store=store)
    pages = make_site(PLANS[4]).pages

    async def check_all() -> int:
        copies = 0
        for number, one in enumerate(pages):
            page_url = f"https://jobs.example/{number}"
            await detector.load_site(page_url)
            verdict = await detector.conclude_async(detector.read(one.html, page_url), page_url)
            copies += verdict.status is Status.NEAR_DUPLICATE
        await detector.flush_async()
        return copies

    assert 0.9 * REPOSTS <= asyncio.run(check_all()) <= REPOSTS
    assert detector.sites is not None
    assert detector.sites.known == 1


def test_among_many_of_one_subject_the_page_itself_and_the_nearest_are_compared(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MOST_COMPARED", 4)
    for number in range(6):
        # Of one subject, far from each other, and with nothing in common.
        value = int.from_bytes(bytes([number] * 8), "big") * 0x9E3779B97F4A7C15 % 2**64
        store.claim(posting(str(number), content(value, text=f"page {number}")))
    last = content(5 * 0x0101010101010101 * 0x9E3779B97F4A7C15 % 2**64, text="page 5")
    assert store.look(posting("5", last)).content == 5
    assert store.look(posting("9", replace(last, value=last.value ^ 1))).original == url("5"), "by its text"
    moved = replace(last, value=last.value ^ 2**40 - 1)
    assert store.look(posting("5", moved)).content == 5, "its own content"
