"""The store on a real Redis Cluster: nodes die and shards move while four crawlers send claims."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

import pytest

from scrapy_simhash import Fingerprint
from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.page.fingerprint import FACTS_AT
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store import Posting
from scrapy_simhash.store.redis import RedisStore
from tests.store.cluster import RedisCluster, redis_cluster
from tests.store.redis.stores import PATIENCE
from tests.store.redis.test_sharded import HEADER

pytestmark = pytest.mark.usefixtures("client")

CRAWLERS, SHARDS, SCOPES, AT_ONCE = 4, 12, 40, 16
SLOTS = 100
#: Seconds between claims of one worker of a crawler.
PAUSE = 0.02
#: Clusters that every crawler claims before a node is killed, and after everything is over.
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


async def crawl(crawler: int, url: str, prefix: str, marks: dict[str, Any]) -> list[Answer]:
    """Claim pages until everything is over, and some more."""
    store = RedisStore(url, prefix, HEADER, shards=SHARDS)
    store.check()
    answers, clusters = [], count()
    last: int | None = None

    async def work() -> None:
        nonlocal last
        for cluster in clusters:
            if last is None and marks["over"].is_set():
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
                marks["begun"].release()
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


def run_crawl(crawler: int, url: str, prefix: str, marks: dict[str, Any], found: Any) -> None:
    try:
        found.put(asyncio.run(crawl(crawler, url, prefix, marks)))
    except BaseException as error:
        found.put(repr(error))
        raise


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def prefix_that_moves() -> str:
    """Return a prefix for which one shard is among the first slots of the cluster."""
    from redis.crc import key_slot

    for number in count():
        prefix = f"moves-{number}"
        slots = [key_slot(f"{{{prefix}:{shard}}}".encode()) for shard in range(SHARDS)]
        if min(slots) < SLOTS:
            return prefix
    raise AssertionError


@pytest.mark.slow("a replica takes over, and crawlers wait for it")
def test_crawls_survive_a_dead_node_and_moving_shards(cluster: RedisCluster) -> None:
    spawn = get_context("spawn")
    over: Event = spawn.Event()
    marks: dict[str, Any] = {"begun": spawn.Semaphore(0), "over": over}
    found = spawn.Queue()
    arguments = cluster.url, prefix_that_moves(), marks, found
    crawlers = [spawn.Process(target=run_crawl, args=(n, *arguments), daemon=True) for n in range(CRAWLERS)]
    for crawler in crawlers:
        crawler.start()
    for _ in crawlers:
        assert marks["begun"].acquire(timeout=60)
    dead = cluster.owner_of(0)
    cluster.masters()[dead].kill()
    cluster.await_failover(dead)
    cluster.reshard(SLOTS)
    over.set()
    results = [found.get(timeout=120) for _ in crawlers]
    for crawler in crawlers:
        crawler.join()
    assert [result for result in results if isinstance(result, str)] == []
    answers = [answer for result in results for answer in result]
    said = Counter("copy" if answer.says.startswith("http") else answer.says for answer in answers)
    # Every page was answered or is counted.
    assert len({answer.url for answer in answers}) == len(answers) == said.total()
    assert 0 < said["unknown"] < said.total() / 2, said
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
