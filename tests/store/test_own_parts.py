"""What a crawl learns about sites is kept with its pages, and own parts take little room."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from benchmarks.lib.shared_text.sites import REPOSTS
from scrapy_simhash import Config, NearDuplicateDetector, Status
from scrapy_simhash.page.fingerprint import WHOLE, OwnPart
from scrapy_simhash.page.fingerprint.own_part import JOB, identity_of
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.store import AsyncStore, KeepsSites, MemoryStore, Store
from scrapy_simhash.store.columns import OwnParts
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.cases import SECOND_LOOK, header
from tests.store.cases import own_part as own
from tests.store.killed import killed
from tests.store.remote import RemoteStore
from tests.store.sqlite.stores import Shelf

HEADER = header(SECOND_LOOK)
KIEL, ULM = (identity_of(JOB, [["nurse"], [], [town]]) for town in ("kiel", "ulm"))


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
