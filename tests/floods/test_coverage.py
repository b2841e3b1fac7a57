"""Which patterns a flood has to itself, counted in bounded memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

import pytest

from scrapy_simhash.floods import coverage as module
from scrapy_simhash.floods.coverage import Coverage

HOST = "example.com"


def fed(flooded: int, others: int, *, least: int = 100) -> Coverage:
    """Return a coverage in which *flooded* of the pages under ``/x/*`` are of cluster 1."""
    coverage = Coverage(least)
    for number in range(flooded + others):
        coverage.count(HOST, ("/x/*",))
        if number < flooded:
            coverage.assign(HOST, ("/x/*",), 1)
    return coverage


@pytest.mark.parametrize(
    ("flooded", "others", "is_owned"),
    [
        (100, 0, True),
        (99, 0, False),
        (95, 5, True),
        (94, 6, False),
        (190, 10, True),
        (189, 11, False),
    ],
)
def test_a_flood_owns_a_pattern_from_95_of_100_pages_on(flooded: int, others: int, is_owned: bool) -> None:
    owned = fed(flooded, others).owned(HOST, ("/x/*",), 1)
    assert owned == ("/x/*" if is_owned else None)


def test_the_narrowest_pattern_is_named_and_waited_for_where_it_has_half_of_the_wider() -> None:
    coverage = Coverage(6)

    def add(*patterns: str) -> str | None:
        coverage.count(HOST, patterns)
        coverage.assign(HOST, patterns, 1)
        return coverage.owned(HOST, patterns, 1)

    for narrow in ("/x/a?p", "/x/a?q", "/x/b?p"):
        assert add(narrow, "/x/*") is None
        assert add(narrow, "/x/*") == ("/x/*" if narrow == "/x/b?p" else None)
    assert add("/x/a?p", "/x/*") == "/x/*"
    assert add("/x/a?p", "/x/*") is None
    assert add("/x/a?p", "/x/*") is None
    assert add("/x/a?p", "/x/*") == "/x/a?p"


def test_a_page_at_the_door_of_a_trap_does_not_have_the_whole_folder_stopped() -> None:
    coverage = Coverage(10)
    coverage.count(HOST, ("/x/*",))
    coverage.assign(HOST, ("/x/*",), 1)
    found = []
    for _ in range(10):
        coverage.count(HOST, ("/x/find?*", "/x/*"))
        coverage.assign(HOST, ("/x/find?*", "/x/*"), 1)
        found.append(coverage.owned(HOST, ("/x/find?*", "/x/*"), 1))
    assert found == [None] * 9 + ["/x/find?*"]


def test_hosts_and_clusters_are_apart() -> None:
    coverage = fed(100, 0)
    assert coverage.owned("other.example", ("/x/*",), 1) is None
    assert coverage.owned(HOST, ("/x/*",), 2) is None


def test_the_pages_of_a_stopped_pattern_say_nothing_about_the_wider_one() -> None:
    coverage = Coverage(10)
    for _ in range(10):
        coverage.count(HOST, ("/x/{number}", "/x/*"))
        coverage.assign(HOST, ("/x/{number}", "/x/*"), 1)
    coverage.stop(HOST, ("/x/{number}", "/x/*"), "/x/{number}")
    # Those that were under way when it was stopped.
    for _ in range(10):
        coverage.count(HOST, ("/x/{number}", "/x/*"))
        coverage.assign(HOST, ("/x/{number}", "/x/*"), 1)
    coverage.count(HOST, ("/x/*",))
    coverage.assign(HOST, ("/x/*",), 1)
    assert coverage.owned(HOST, ("/x/*",), 1) is None
    assert coverage.share(HOST, "/x/*", 1) == (1, 1)
    assert coverage.is_stopped(HOST, ("/x/{number}", "/x/*"))
    assert not coverage.is_stopped(HOST, ("/x/*",))
    assert not coverage.is_stopped("other.example", ("/x/{number}",))


def test_memory_is_bounded_and_what_is_forgotten_keeps_no_good_page_from_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_PATTERNS", 20)
    monkeypatch.setattr(module, "MOST_CLUSTERS", 4)
    random = Random(7)
    coverage = Coverage(5)
    pages: Counter[str] = Counter()
    clusters: dict[str, Counter[int]] = defaultdict(Counter)
    owned = 0
    for _ in range(20_000):
        pattern = f"/{min(int(random.expovariate(0.05)), 80)}/*"
        cluster = (
            random.choice([1, 1, 1, 1, 1, 1, 1, 2, 3]) if random.random() < 0.5 else int(pattern[1:-2]) + 10
        )
        coverage.count(HOST, (pattern,))
        coverage.assign(HOST, (pattern,), cluster)
        pages[pattern] += 1
        clusters[pattern][cluster] += 1
        assert len(coverage) <= 20
        flooded, total = coverage.share(HOST, pattern, cluster)
        # More pages than there were, fewer of the flood than there were, never the other way round.
        assert total >= pages[pattern] or total == 0
        assert flooded <= clusters[pattern][cluster]
        owned += coverage.owned(HOST, (pattern,), cluster) is not None
    assert len(pages) > 60


def test_a_flood_is_still_found_when_much_was_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PATTERNS", 100)
    coverage = Coverage(100)
    for number in range(10_000):
        coverage.count("other.example", (f"/{number}/*",))
    for number in range(200):
        coverage.count(HOST, (f"/{number}/*",))
    for _ in range(110):
        coverage.count(HOST, ("/x/*",))
        coverage.assign(HOST, ("/x/*",), 1)
    assert coverage.owned(HOST, ("/x/*",), 1) == "/x/*"
