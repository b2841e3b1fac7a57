"""What a crawl takes whose crawlers share a store in Redis: memory of each part, time of a claim, and servers.

Each figure is *measured* (for one page, one claim, one site, by the programs in ``benchmarks/``; the plan multiplies
it) or foreseen by a *model*. What is measured is of one machine; a network adds its round trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

from scrapy_simhash.config import MAX_SHARDS, Config
from scrapy_simhash.index.plans.cost import Core
from scrapy_simhash.index.plans.probing_cost import probing_cost
from scrapy_simhash.index.plans.probing_plan import ProbingPlan

#: Bytes in Redis: of a new page, of one that repeats another (the middle of 230 to 360), of what is known of a site,
#: of a text that can be found from other scopes. ``benchmarks/stores_redis.py``, URLs of 77 characters.
NEW_BYTES, COPY_BYTES, SITE_BYTES, TEXT_BYTES = 540, 295, 20_000, 250
#: Sites of which a shard keeps what is known.
MOST_SITES = 10_000
#: Microseconds of a claim at the server, which uses one processor core, and in the crawler beside the search.
SERVER_MICROSECONDS, CRAWLER_MICROSECONDS = 34, 150
#: Microseconds in which a crawler reads a content from the log.
READ_MICROSECONDS = 2
#: Contents of a shard: some 135 MB.
MOST_CONTENTS = 250_000
#: A server that saves what it holds needs up to so many times its memory meanwhile.
WHILE_SAVING = 2
#: Microseconds of a search from which on it takes most of a claim.
SLOW_SEARCH = 1_000
MEASURED, MODEL = "measured", "model"


class Figure(NamedTuple):
    """A line of the plan."""

    name: str
    value: float
    unit: str
    by: str
    """``measured``, or ``model``."""


class CrawlPlan(NamedTuple):
    """How large a crawl is to be."""

    pages: int
    scopes: int
    crawlers: int
    active: int
    """Scopes that a crawler has in memory at a time."""
    new: float
    """Share of the pages that repeat no other one, 0 to 1."""
    node_bytes: int
    """Memory of a server."""

    @property
    def contents(self) -> int:
        """How many contents can be found."""
        return ceil(self.pages * self.new)

    @property
    def shards(self) -> int:
        """How many shards to set: one is moved from server to server, and read when a scope comes, as a whole."""
        shards = Config.redis_shards
        while self.contents > shards * MOST_CONTENTS and shards < MAX_SHARDS:
            shards *= 2
        return shards

    @property
    def store_bytes(self) -> float:
        """What the store takes in Redis."""
        sites = min(self.scopes, MOST_SITES * (self.shards if self.is_cut else 1))
        pages = self.contents * NEW_BYTES + (self.pages - self.contents) * COPY_BYTES
        return pages + sites * SITE_BYTES

    @property
    def nodes(self) -> int:
        """How many servers hold it, replicas not counted."""
        return ceil(WHILE_SAVING * self.store_bytes / self.node_bytes)

    @property
    def is_cut(self) -> bool:
        """Whether there are scopes that a store can be cut by."""
        return self.scopes > 1

    def figures(self, core: Core) -> Iterator[Figure]:
        """Yield what it takes with an index of *core*."""
        distance = Config.candidate_distance
        plan = ProbingPlan.even(distance, 5)
        of_scope = ceil(self.contents / self.scopes)
        search = probing_cost(plan, of_scope, core)
        yield Figure("store in Redis", self.store_bytes, "bytes", MEASURED)
        yield Figure("texts for SIMHASH_ACROSS_SCOPES, if set", self.contents * TEXT_BYTES, "bytes", MEASURED)
        every = search.bytes * self.contents
        yield Figure("index in each crawler, one server", every, "bytes", MODEL)
        if self.is_cut:
            name = f"index in each crawler, several servers, {self.active:,} scopes"
            yield Figure(name, search.bytes * of_scope * self.active, "bytes", MODEL)
        yield Figure(f"a search among {of_scope:,} contents", search.microseconds, "microseconds", MODEL)
        claim = search.microseconds + CRAWLER_MICROSECONDS
        yield Figure("a claim in the crawler, search included", claim, "microseconds", MODEL)
        yield Figure("a claim at the server", SERVER_MICROSECONDS, "microseconds", MEASURED)
        yield Figure("claims of all crawlers", self.crawlers * 1e6 / claim, "a second", MODEL)
        yield Figure(
            "claims that the servers take", self.nodes * 1e6 / SERVER_MICROSECONDS, "a second", MODEL
        )
        if self.is_cut:
            read = READ_MICROSECONDS * self.contents / min(self.shards, self.scopes)
            yield Figure("first page of a scope", read, "microseconds", MODEL)
        yield Figure("servers, replicas not counted", self.nodes, "", MODEL)

    def advice(self, core: Core) -> str:
        """Return which store to use."""
        if self.nodes == 1:
            return "one server holds it: SIMHASH_REDIS_URL names that"
        if not self.is_cut:
            return "one server does not hold it, and without scopes it is not cut: set SIMHASH_SCOPE, give --scopes"
        if self.nodes > min(self.scopes, self.shards):
            return "a scope is on one server, which does not hold it: use smaller scopes, or larger servers"
        of_scope = ceil(self.contents / self.scopes)
        slow = probing_cost(ProbingPlan.even(Config.candidate_distance, 5), of_scope, core).microseconds
        masters = f"{self.nodes:,} masters and their replicas"
        advice = f"a cluster holds it: {masters}, SIMHASH_REDIS_SHARDS = {self.shards}"
        return advice + (", and searches are slow: use smaller scopes" if slow > SLOW_SEARCH else "")

    def to_dict(self, core: Core) -> dict[str, Any]:
        """Return all of it, as JSON has it."""
        figures = [figure._asdict() for figure in self.figures(core)]
        return {
            **self._asdict(),
            "shards": self.shards,
            "index": core.name,
            "figures": figures,
            "advice": self.advice(core),
        }
