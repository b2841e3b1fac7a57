from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.notes import SITE, Name, Note
from scrapy_simhash.page import site
from scrapy_simhash.page.fingerprint import sketch
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.scope import host_of
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import run_sync
from tests.page.site.test_table import packed

#: Some text blocks, the last one short.
PIECES = packed([2, 4, 6, 9])
A, B, C, D = (f"https://{name}.example/page" for name in "abcd")


def about(title_key: int | str) -> bytes:
    return sketch([1, 2, 3], [f"title_key{title_key}"])


def learn_pages(sites: SiteProfiles, url: str, title_keys: int = 20, pieces: bytes = PIECES) -> None:
    for title_key in range(title_keys):
        sites.learn(url, pieces, about(title_key))


class FailingStore(SqliteStore):
    """A store in memory that raises while *works* is False."""

    works = True

    def profile_of(self, host: str) -> SiteProfile:
        """Return the stored profile of *host*."""
        return SiteProfile.from_bytes(dict(self.notes(SITE))[host])

    def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        self._check()
        return super().note(kind, name)

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        self._check()
        return super().replace_notes(kind, notes)

    def _check(self) -> None:
        if not self.works:
            raise StoreUnavailable("the disk is full")


@pytest.fixture
def store() -> FailingStore:
    return FailingStore()


@pytest.fixture
def _room_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "MAX_HOSTS", 2)


# --- One profile.


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 99), max_size=60), st.integers(0, 99)),
        max_size=40,
    )
)
def test_a_profile_survives_a_round_trip_through_bytes(learned: list[tuple[list[int], int]]) -> None:
    profile = SiteProfile()
    for keys, title_key in learned:
        profile.learn(packed(keys), about(title_key))
    again = SiteProfile.from_bytes(profile.to_bytes())
    assert (again.pages, again.is_known, again.known()) == (profile.pages, profile.is_known, profile.known())
    for keys, _ in learned:
        assert again.flags(packed(keys)) == profile.flags(packed(keys))
    assert again.to_bytes() == profile.to_bytes()


def test_a_pinned_profile_is_used_and_learns_nothing(store: FailingStore) -> None:
    profile = SiteProfile()
    for title_key in range(20):
        profile.learn(PIECES, about(title_key))
    profile.is_pinned = True
    before = profile.to_bytes()
    store.replace_notes(SITE, [Note("a.example", None, before)])
    sites = SiteProfiles(store)
    learn_pages(sites, A, pieces=packed([12, 14]))
    profile.learn(packed([12, 14]), about(99))
    assert profile.to_bytes() == sites.of(A).to_bytes() == before
    assert sites.of(A).flags(PIECES) == bytes([1]) * 4
    store.works = False
    # Nothing has changed, so nothing is written.
    run_sync(sites.share())


# --- Many profiles.


@pytest.mark.usefixtures("_room_for_two")
def test_the_least_recently_used_host_is_dropped_without_a_store() -> None:
    sites = SiteProfiles()
    learn_pages(sites, A)
    learn_pages(sites, B)
    sites.of(A)
    learn_pages(sites, C)
    assert [sites.of(url).pages for url in (A, C)] == [20, 20]
    assert sites.of(B).pages == 0


@pytest.mark.usefixtures("_room_for_two")
def test_models_dropped_from_memory_are_loaded_from_the_store(store: FailingStore) -> None:
    sites = SiteProfiles(store)
    for url in (A, B, C, D):
        learn_pages(sites, url)
        run_sync(sites.share())
    assert sorted(map(str, dict(store.notes(SITE)))) == [host_of(url) for url in (A, B, C, D)]
    assert [(sites.of(url).pages, sites.of(url).is_known) for url in (A, B, C, D)] == [(20, True)] * 4
    assert len(sites._profiles) == 2


@pytest.mark.usefixtures("_room_for_two")
def test_pending_writes_of_a_store_are_not_lost(store: FailingStore) -> None:
    sites = SiteProfiles(store)
    for _ in range(3):
        sites.of(C), sites.of(D)
        sites.learn(A, PIECES, about(0))
    assert (list(store.notes(SITE)), sites.of(A).pages) == ([], 3)
    run_sync(sites.share())
    assert store.profile_of("a.example").pages == 3
    assert list(dict(store.notes(SITE))) == ["a.example"], "hosts without learned data are not written"


def test_a_site_is_unknown_and_requested_again_while_the_store_fails(store: FailingStore) -> None:
    sites = SiteProfiles(store)
    learn_pages(sites, A)
    run_sync(sites.share())
    again = SiteProfiles(store)
    store.works = False
    assert not again.of(A).is_known
    again.learn(A, PIECES, about(1))
    store.works = True
    run_sync(again.share())
    # The pages during the outage did not replace the stored profile.
    assert store.profile_of("a.example").pages == 20
    assert again.of(A).is_known


@pytest.mark.usefixtures("_room_for_two")
def test_a_failing_store_at_most_doubles_the_hosts_in_memory(store: FailingStore) -> None:
    sites = SiteProfiles(store)
    learn_pages(sites, A)
    for number in range(50):
        store.works = True
        sites.of(f"https://{number}.example/")
        store.works = False
        learn_pages(sites, f"https://{number}.example/", title_keys=2)
        run_sync(sites.share())
        assert (len(sites._profiles), len(sites._changed)) <= (2, 2)


def test_a_damaged_profile_is_learned_again(store: FailingStore) -> None:
    store.replace_notes(SITE, [Note("a.example", None, b"not a profile")])
    sites = SiteProfiles(store)
    learn_pages(sites, A)
    run_sync(sites.share())
    assert store.profile_of("a.example").pages == 20


def test_threads_may_read_while_one_thread_learns(
    store: FailingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "MAX_HOSTS", 3)
    sites = SiteProfiles(store)
    urls = [f"https://{number}.example/" for number in range(9)]
    wrong: list[Exception] = []

    def read() -> None:
        try:
            for number in range(3_000):
                sites.of(urls[number % 9]).flags(PIECES)
        except Exception as error:
            wrong.append(error)

    threads = [Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(900):
        sites.learn(urls[number % 9], PIECES, about(number))
        if number % 3 == 2:
            run_sync(sites.share())
    for thread in threads:
        thread.join()
    run_sync(sites.share())
    assert wrong == []
    assert [store.profile_of(host_of(url)).pages for url in urls] == [100] * 9
