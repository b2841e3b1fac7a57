"""The store on a real Redis Cluster: nodes are killed and shards move while four crawlers send claims."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from scrapy_simhash import Fingerprint
from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.page.fingerprint import FACTS_AT
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Posting
from scrapy_simhash.store.redis import RedisStore
from tests.store.cluster import NODE_TIMEOUT, redis_cluster
from tests.store.redis.stores import PATIENCE, waits
from tests.store.redis.test_sharded import HEADER

pytestmark = pytest.mark.usefixtures("client")

CRAWLERS, SHARDS, SCOPES, AT_ONCE = 4, 12, 40, 16
SLOTS = 100
#: Seconds between claims of one worker of a crawler.
PAUSE = 0.02
#: Max seconds for a reply: fewer than a replica waits before it takes over. Otherwise claims may outlast the outage.
TIMEOUT = NODE_TIMEOUT / 1000 / 2
#: Number of clusters in which every crawler claims pages before a node is killed, and again after the outage.
SOME = 200


class Answer(NamedTuple):
    """The answer to a crawler's claim in a cluster: *says* is ``new``, ``unknown``, or the URL of the
    original.
    """

    cluster: int
    url: str
    says: str


def posting_of(crawler: int, cluster: int) -> Posting:
    """Return the posting of *crawler* in a cluster, with a different URL and bit for each crawler."""
    randoms = random.Random(cluster)
    fingerprint = Fingerprint(
        randoms.getrandbits(64) ^ 1 << crawler, sketch=randoms.randbytes(FACTS_AT) + NONE
    )
    scope = f"{cluster % SCOPES}.example"
    url = f"https://{scope}/{cluster}/{crawler}"
    return Posting(url.encode(), url, scope, fingerprint)


async def crawl(
    crawler: int, url: str, prefix: str, has_begun: asyncio.Event, is_over: asyncio.Event
) -> list[Answer]:
    """Claim pages until *is_over* is set, and then in `SOME` more clusters."""
    store = RedisStore(url, prefix, HEADER, shards=SHARDS, timeout=TIMEOUT)
    store.check()
    answers, clusters = [], count()
    last: int | None = None

    async def work() -> None:
        nonlocal last
        for cluster in clusters:
            if last is None and is_over.is_set():
                last = cluster + SOME
            if last is not None and cluster > last:
                return
            posting = posting_of(crawler, cluster)
            try:
                claim = await store.claim(posting)
                says = claim.original or "new"
            except StoreUnavailable:
                says = "unknown"
            answers.append(Answer(cluster, posting.url, says))
            if cluster == SOME:
                has_begun.set()
            await asyncio.sleep(PAUSE)

    await asyncio.gather(*[work() for _ in range(AT_ONCE)])
    # Shards that were down reconnect by themselves, some seconds after the others.
    end = asyncio.get_running_loop().time() + PATIENCE
    while store.absence is not None and asyncio.get_running_loop().time() < end:
        for cluster in range(SCOPES):
            with suppress(StoreUnavailable):
                await store.look(posting_of(crawler, cluster))
        await asyncio.sleep(0.1)
    assert store.absence is None
    await store.close()
    return answers


def prefix_that_moves() -> str:
    """Return a key prefix with which one shard is in the first slots of the cluster, which the test moves."""
    from redis.crc import key_slot

    for number in count():
        prefix = f"moves-{number}"
        slots = [key_slot(f"{{{prefix}:{shard}}}".encode()) for shard in range(SHARDS)]
        if min(slots) < SLOTS:
            return prefix
    raise AssertionError


@pytest.mark.slow("a replica takes over, and crawlers wait for it")
@waits
async def test_crawls_survive_a_dead_node_and_moving_shards(tmp_path: Path) -> None:
    def break_it() -> None:
        dead = cluster.owner_of(0)
        cluster.masters()[dead].kill()
        cluster.await_failover(dead)
        cluster.reshard(SLOTS)

    prefix, is_over = prefix_that_moves(), asyncio.Event()
    with redis_cluster(tmp_path) as cluster:
        begun_events = [asyncio.Event() for _ in range(CRAWLERS)]
        crawls = [
            asyncio.ensure_future(crawl(number, cluster.url, prefix, has_begun, is_over))
            for number, has_begun in enumerate(begun_events)
        ]
        await asyncio.gather(*[has_begun.wait() for has_begun in begun_events])
        await asyncio.to_thread(break_it)
        is_over.set()
        results = await asyncio.gather(*crawls)
    answers = [answer for result in results for answer in result]
    outcomes = Counter("copy" if answer.says.startswith("http") else answer.says for answer in answers)
    # Every page was answered or is counted.
    assert len({answer.url for answer in answers}) == len(answers) == outcomes.total()
    assert 0 < outcomes["unknown"] < outcomes.total() / 2, outcomes
    by_cluster = defaultdict(list)
    for answer in answers:
        by_cluster[answer.cluster].append(answer)
    for members in by_cluster.values():
        firsts = {answer.url for answer in members if answer.says == "new"}
        originals = {answer.says for answer in members if answer.says.startswith("http")}
        # An unanswered claim may have been stored: only its reply was lost.
        unknown = {answer.url for answer in members if answer.says == "unknown"}
        assert len(firsts | originals) <= 1, members
        assert firsts or originals <= unknown, members
    assert any(answer.says == "new" for answer in answers if answer.cluster > max(by_cluster) - SOME // 2)
