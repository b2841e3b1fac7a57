"""Thresholds and near misses: what a claim tells beside the answer, from every store that explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from scrapy_simhash import Config, Fingerprint, NearDuplicateDetector, Status
from scrapy_simhash.judge.measured import NOT_NEAR, Measured
from scrapy_simhash.page.fingerprint import UNKNOWN, OwnPart
from scrapy_simhash.store import Explains, MemoryStore, Store
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.cases import SECOND_LOOK, content, header, own_part, posting, url
from tests.store.redis.stores import Opener
from tests.store.sqlite.stores import Shelf

HEADER = header(SECOND_LOOK)


@pytest.fixture(params=["memory", "sqlite", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for kind in (MemoryStore, SqliteStore):
        monkeypatch.setattr(kind, "explains", True)
    if request.param == "redis":
        redis_store = pytest.importorskip("scrapy_simhash.store.redis.store").RedisStore
        monkeypatch.setattr(redis_store, "explains", True)
        opener = Opener(request.getfixturevalue("shared").url)
        yield opener.make(HEADER)
        opener.close()
        return
    shelf = Shelf(tmp_path)
    yield MemoryStore(HEADER) if request.param == "memory" else shelf.new(HEADER)
    shelf.close()


def drawn(random: Random) -> Fingerprint:
    """Return one of few pages, so that most have candidates, and some are near-duplicates."""
    value = random.choice((0, 0b111, 0b111_1111, 2**20 - 1))
    subject = random.choice(("night pilots", "night pilots", "day pilots", "boats"))
    fingerprint = content(value, text=f"story {random.randrange(3)}", subject=subject)
    own = (b"", b"", OwnPart(UNKNOWN, 100).to_bytes(), own_part(random.randrange(8)))
    return replace(fingerprint, own=random.choice(own))


def test_a_near_miss_is_the_most_alike_of_all_candidates(store: Store) -> None:
    random = Random(20)
    new: dict[str, Fingerprint] = {}
    misses = repeated = 0
    for number in range(60):
        fingerprint = drawn(random)
        claim = store.claim(posting(str(number), fingerprint))
        pairs = {
            other: Measured(fingerprint, its, SECOND_LOOK.min_similarity, SECOND_LOOK.reach)
            for other, its in new.items()
        }
        if claim.original is not None:
            assert claim.near_miss is None
            assert claim.threshold is not None
            # It is near by this rule.
            assert claim.threshold >= SECOND_LOOK.min_similarity
            repeated += 1
            continue
        new[url(str(number))] = fingerprint
        assert claim.threshold is None
        most = max((pair.alike for pair in pairs.values()), default=NOT_NEAR)
        assert (claim.near_miss is None) == (most == NOT_NEAR)
        if claim.near_miss is not None:
            misses += 1
            assert claim.near_miss.similarity == pairs[claim.near_miss.url].alike == most
            assert claim.near_miss.threshold < SECOND_LOOK.min_similarity
    assert misses > 5
    assert repeated > 5


def test_a_store_explains_where_somebody_reads_it() -> None:
    assert NearDuplicateDetector().store.explains  # type: ignore[union-attr]
    for report, explains in ((None, False), ("report.jsonl", True)):
        store = MemoryStore()
        NearDuplicateDetector(Config(report=report), store)
        assert isinstance(store, Explains)
        assert store.explains is explains


def test_a_verdict_tells_how_near_it_was() -> None:
    words = [f"word{number} and" for number in range(120)]
    detector = NearDuplicateDetector()

    def check(url: str, *lines: str) -> tuple[Status, float | None]:
        verdict = detector.check("<title>Boats of the bay</title><p>" + " ".join(lines), url)
        return verdict.status, verdict.threshold

    assert check("http://a.example/1", *words) == (Status.NEW, None)
    status, threshold = check("http://b.example/1", *words[:118])
    assert status is Status.NEAR_DUPLICATE
    assert threshold is not None
    assert threshold > 0.9
    verdict = detector.check(
        "<title>Boats of the bay</title><p>" + " ".join(words[:70]), "http://c.example/1"
    )
    assert verdict.status is Status.NEW
    miss = verdict.near_miss
    assert miss is not None
    assert (miss.url, verdict.threshold) == ("http://a.example/1", None)
    assert 0 < miss.threshold < 0.8
    assert miss.threshold == int(1000 * miss.similarity) / 1000
