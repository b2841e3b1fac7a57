"""Spiders of the tests about reports and clusters."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy_simhash.signals import cluster_closed, near_duplicate_found
from tests.crawls.spiders import Follower, Visitor, path_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_simhash.judge.clusters import Cluster


class Clusters(Visitor):
    """Notes what the signals say of clusters: which URL is preferred so far, and each cluster at the end."""

    name = "clusters"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        crawler.signals.connect(spider.found, signal=near_duplicate_found)
        crawler.signals.connect(spider.cluster_closed, signal=cluster_closed)
        return spider

    def found(self, preferred: str | None) -> None:
        self.notes.append(preferred and path_of(preferred))

    def cluster_closed(self, cluster: Cluster, spider: Visitor) -> None:
        assert spider is self
        self.notes.append(asdict(cluster))


class Bystander(Clusters):
    """Fails at every cluster."""

    name = "bystander"

    def cluster_closed(self, cluster: Cluster, spider: Visitor) -> None:
        raise RuntimeError("a handler of somebody else")


class Walker(Follower):
    """Follows links one by one, so that each has a depth and a referer."""

    name = "walker"
