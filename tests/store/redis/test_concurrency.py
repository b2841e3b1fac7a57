"""Concurrent claims by many crawlers have the results of sequential ones, in the order of the server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash import Fingerprint
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.store import Claim, Posting
from scrapy_simhash.store.redis import RedisStore
from tests.examples import examples
from tests.store.cases import CLASSIC, SECOND_LOOK, bare, content, header, posting, unique_text
from tests.store.naive import NaiveStore
from tests.store.redis.stores import opened, waits
from tests.store.server import RedisServer


@waits
async def test_a_replica_far_behind_catches_up(shared: RedisServer, prefix: str) -> None:
    numbers = random.Random(1)
    pages = [posting(str(i), numbers.getrandbits(64)) for i in range(600)]
    async with opened(shared.url, prefix) as one, opened(shared.url, prefix) as other:
        await other.runs()
        await asyncio.gather(*[one.claim(page) for page in pages])
        assert (len(other), other.index_size) == (0, 0)
        last = await asyncio.gather(
            *[other.claim(page._replace(key=b"again" + page.key)) for page in pages[-20:]]
        )
        assert [claim.original for claim in last] == [page.url for page in pages[-20:]]
        assert (len(other), other.index_size) == (620, 600)
        await one.remove(b"7")
        for page in pages[100:700]:
            await one.claim(page._replace(fingerprint=Fingerprint(page.fingerprint.value ^ 2**40 - 1)))
        assert await other.remove(b"8")
        assert not await other.remove(b"7")


@waits
async def test_a_cancelled_caller_does_not_cancel_others(shared: RedisServer, prefix: str) -> None:
    async with opened(shared.url, prefix) as store:
        await store.runs()
        tasks = [asyncio.ensure_future(store.claim(posting(str(i), content(i << 20)))) for i in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(claim, Claim) for claim in done[1::2])
        assert (await store.claim(posting("after", content(3 << 20)))).original


# --- All orders in which the requests of several crawlers can arrive.


class Steps:
    """Requests to the server that wait until they are released one by one."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []
        self.is_under_way = False
        #: Numbers of the answered requests, in the order of the server.
        self.order: list[int] = []

    def between(self, store: RedisStore) -> None:
        shard = store._shard(0)
        ask = shard.script

        async def slow(name: str, *arguments: Any) -> Any:
            turn = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            await turn
            try:
                reply = await ask(name, *arguments)
            finally:
                self.is_under_way = False
            if (name == "claim" and reply[:1] == b"S") or (name == "remove" and reply in (b"y", b"n")):
                self.order.append(_question.get())
            return reply

        shard.script = slow  # type: ignore[method-assign]

    async def run(self, work: list[asyncio.Task[Any]], choose: Callable[[int], int]) -> None:
        """Release requests until all *work* is done; *choose* returns the index of the next one, given their
        number.
        """
        while not all(task.done() for task in work):
            if self.waiting and not self.is_under_way:
                self.is_under_way = True
                self.waiting.pop(choose(len(self.waiting))).set_result(None)
            # Let the resulting tasks run.
            await asyncio.sleep(0.0002 if self.is_under_way else 0)


_question: ContextVar[int] = ContextVar("question")
_prefixes = count()


async def ask(store: RedisStore | NaiveStore, number: int, what: str, visit: Posting) -> Any:
    _question.set(number)
    answer: Any = store.remove(visit.key) if what == "remove" else getattr(store, what)(visit)
    return await answer if isinstance(store, RedisStore) else answer


contents = st.one_of(
    st.builds(content, st.integers(0, 7), st.sampled_from([0, 30, 60, 90]), text=st.sampled_from(["", "x"])),
    st.builds(Fingerprint, st.sampled_from([0, 1, 3, 7, 15, 31])),
)
contents = st.one_of(
    contents,
    st.builds(
        replace, contents, own=st.builds(unique_text, st.sampled_from([1, 7, 15]), st.sampled_from([0, 30]))
    ),
)
postings = st.builds(
    posting,
    st.sampled_from("abcdef"),
    contents,
    is_short=st.sampled_from([False] * 5 + [True]),
    page_hash=st.sampled_from([None, 0, 7]),
)
questions = st.tuples(st.sampled_from(["claim"] * 6 + ["look", "remove"]), postings)


@pytest.mark.parametrize("rule", [CLASSIC, SECOND_LOOK], ids=["classic", "second look"])
@settings(max_examples=examples(60))
@given(data=st.data(), asked=st.lists(questions, min_size=2, max_size=9), crawlers=st.integers(2, 3))
def test_concurrent_crawlers_get_the_results_of_one_crawler(
    shared: RedisServer, rule: Rule, data: st.DataObject, asked: list[tuple[str, Posting]], crawlers: int
) -> None:
    async def crawl() -> None:
        prefix = f"steps-{rule.name}-{next(_prefixes)}"
        steps = Steps()
        async with AsyncExitStack() as stack:
            stores = [
                await stack.enter_async_context(opened(shared.url, prefix, header(rule)))
                for _ in range(crawlers)
            ]
            for store in stores:
                await store.runs()
                steps.between(store)
            work = [
                asyncio.ensure_future(ask(stores[number % crawlers], number, *question))
                for number, question in enumerate(asked)
            ]
            await steps.run(work, lambda n: data.draw(st.integers(0, n - 1), label="next"))
        assert sorted(steps.order) == list(range(len(asked)))
        naive = NaiveStore(rule)
        # A page that is removed during another claim is still among the candidates of that claim.
        is_sure = all(what != "remove" for what, _ in asked)
        for number in steps.order:
            one, other = work[number].result(), await ask(naive, number, *asked[number])
            if isinstance(one, Claim) and not is_sure:
                one = one._replace(is_by_learning=other.is_by_learning)
            assert bare(one) == bare(other)

    asyncio.run(crawl())
