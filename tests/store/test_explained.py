"""Thresholds and near misses: what a claim tells beside the answer, from every store that explains."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from scrapy_simhash import Fingerprint
from scrapy_simhash.judge.measured import NOT_NEAR, Measured
from scrapy_simhash.page.fingerprint import UNKNOWN, OwnPart
from scrapy_simhash.store import MemoryStore, Store
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.cases import SECOND_LOOK, content, header, own_part, posting, url

HEADER = header(SECOND_LOOK)


@pytest.fixture
def store(any_store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of each kind that explains."""
    for kind in (MemoryStore, SqliteStore, RedisStore):
        monkeypatch.setattr(kind, "explains", True)
    return any_store


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
