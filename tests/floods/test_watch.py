"""The watch: when a flood is noticed, and when not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.floods import FloodWatch, Kind, Seen, Suspect
from scrapy_simhash.floods import watch as module

FIRST = "https://example.com/day/0"


def day(number: int, host: str = "example.com") -> str:
    return f"https://{host}/day/{number}"


def test_a_flood_is_noticed_once_with_the_page_that_makes_it_one() -> None:
    watch = FloodWatch(5)
    seen = [watch.add(day(number), 0, FIRST) for number in range(8)]
    assert seen[:4] == [None] * 4
    assert [(s.is_new, s.flood.size) for s in seen[4:] if s] == [
        (True, 5),
        (False, 6),
        (False, 7),
        (False, 8),
    ]
    assert seen[4] is not None
    flood = seen[4].flood
    assert (flood.kind, flood.host, flood.cluster, flood.original) == (Kind.REPEATS, "example.com", 0, FIRST)
    assert flood.urls == tuple(day(number) for number in range(5))
    assert flood.pattern == seen[4].pattern == "/day/{number}"
    assert [(flood.size, flood.kind) for flood in watch.floods] == [(8, Kind.REPEATS)]


def test_a_flood_is_one_of_one_host_and_one_cluster() -> None:
    watch = FloodWatch(5)
    for number in range(4):
        for host in ("a.example", "b.example"):
            for cluster in (0, 1):
                assert watch.add(day(10 * number + cluster, host), cluster, FIRST) is None
    seen = watch.add(day(99, "b.example"), 1, FIRST)
    assert seen is not None
    assert (seen.flood.host, seen.flood.cluster) == ("b.example", 1)


def test_one_address_counts_once_among_the_first() -> None:
    watch = FloodWatch(5)
    for _ in range(4):
        for number in range(4):
            assert watch.add(day(number), 0, FIRST) is None


def test_pages_of_no_cluster_are_no_flood_but_keep_a_pattern_from_being_stopped() -> None:
    watch = FloodWatch(5)
    assert not any(watch.add(day(number), None) for number in range(20))
    seen = [watch.add(day(100 + number), 0, FIRST) for number in range(10)]
    assert [s.pattern for s in seen if s] == [None] * 6


def test_a_pattern_that_is_stopped_is_not_named_again() -> None:
    watch = FloodWatch(5)
    for number in range(5):
        seen = watch.add(day(number), 0, FIRST)
    assert seen is not None
    assert seen.pattern is not None
    assert not watch.has_stopped
    watch.stop(day(4), seen.pattern)
    assert watch.has_stopped
    assert watch.is_stopped(day(99))
    assert not watch.is_stopped(day(99, "other.example"))
    seen = watch.add(day(5), 0, FIRST)
    assert seen is not None
    assert (seen.pattern, seen.flood.pattern) == (None, "/day/{number}")


def test_a_size_of_1_is_every_page() -> None:
    seen = FloodWatch(1).add(FIRST, 0, None)
    assert seen is not None
    assert seen.flood.size == 1


def silent(
    watch: FloodWatch, *numbers: int, kind_of: Callable[[Suspect], Kind | None] | None = None
) -> list[Seen | None]:
    return [watch.add(day(number), None, says_nothing=True, kind_of=kind_of) for number in numbers]


def test_pages_without_text_are_a_flood_when_they_are_most_of_their_host() -> None:
    watch = FloodWatch(5)
    for number in range(8):
        watch.add(f"https://example.com/story/{number}", number)
    assert silent(watch, *range(8)) == [None] * 8
    (seen,) = silent(watch, 8)
    assert seen is not None
    assert (seen.flood.kind, seen.flood.cluster, seen.flood.original) == (Kind.EMPTY_SHELL, None, None)
    assert seen.flood.size == 9


def test_pages_without_text_that_are_asked_for_again_count_once() -> None:
    watch = FloodWatch(20)
    for _ in range(10):
        assert silent(watch, *range(19)) == [None] * 19


def test_a_flood_that_is_none_after_all_is_asked_about_again_when_there_is_as_much_more() -> None:
    asked: list[Suspect] = []

    def kind_of(suspect: Suspect) -> Kind | None:
        asked.append(suspect)
        return None

    watch = FloodWatch(5)
    assert silent(watch, *range(12), kind_of=kind_of) == [None] * 12
    assert asked == [Suspect(True, "/day/{number}")] * 2
    assert watch.floods == []


def test_a_suspect_is_told_what_most_of_the_addresses_have_in_common() -> None:
    asked: list[Suspect] = []

    def kind_of(suspect: Suspect) -> Kind | None:
        asked.append(suspect)
        return Kind.TRAP

    watch = FloodWatch(5)
    watch.add("https://example.com/", 0, None, kind_of=kind_of)
    for number in range(4):
        watch.add(day(number), 0, "https://example.com/", kind_of=kind_of)
    assert asked == [Suspect(False, "/day/{number}")]
    assert watch.floods[0].pattern is None


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_SINGLES", "MOST_COUNTS", "MOST_HOSTS", "MOST_SILENT", "MOST_FLOODS"):
        monkeypatch.setattr(module, name, 10)
    watch = FloodWatch(3)
    for number in range(300):
        for visit in range(3):
            watch.add(day(visit, f"{number}.example"), number, FIRST)
            watch.add(f"https://{number}.example/silent/{visit}", None, says_nothing=True)
    assert len(watch.floods) == 10
    assert len(watch._singles) <= 10
    assert len(watch._silent) <= 10
    assert len(watch._counts) <= 10
    assert len(watch._hosts) <= 10


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(0, 60)), max_size=300))
def test_what_is_forgotten_never_makes_a_flood(pages: list[tuple[int, int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MOST_SINGLES", "MOST_COUNTS", "MOST_HOSTS"):
            patch.setattr(module, name, 4)
        watch = FloodWatch(4)
        really: dict[tuple[int, str], set[str]] = defaultdict(set)
        for cluster, host, number in pages:
            url = day(number, f"{host}.example")
            if url in really[cluster, f"{host}.example"]:
                continue  # a revisit, which the watch is not told of
            really[cluster, f"{host}.example"].add(url)
            seen = watch.add(url, cluster, FIRST)
            assert seen is None or seen.flood.size <= len(really[cluster, f"{host}.example"])


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(["example.com", "example.org"]), st.booleans()),
        max_size=3 * module.BATCH,
    )
)
def test_new_pages_that_are_counted_together_count_as_one_by_one(
    pages: list[tuple[int, str, bool]],
) -> None:
    together, one_by_one = FloodWatch(3), FloodWatch(3)
    met: set[int] = set()
    for number, (cluster, host, says_nothing) in enumerate(pages):
        url, original = day(number, host), f"https://{host}/first/{cluster}"
        if cluster and cluster not in met:
            met.add(cluster)
            together.add_new(url, cluster)
            assert one_by_one.add(url, cluster) is None
        elif not cluster and not says_nothing:
            together.add_new(url, None)
            assert one_by_one.add(url, None) is None
        else:
            arguments = (url, cluster, original) if cluster else (url, None)
            seen = together.add(*arguments, says_nothing=not cluster)
            assert seen == one_by_one.add(*arguments, says_nothing=not cluster)
    assert together.floods == one_by_one.floods
