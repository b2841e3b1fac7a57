"""What is told of clusters when something is in the way; real crawls are in tests/crawls/."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, PageFingerprinter, Status, Verdict
from scrapy_simhash.crawl.marks import write_result
from scrapy_simhash.crawling import Page
from scrapy_simhash.judge.clusters import Cluster, ClusterBook
from scrapy_simhash.observers.clusters import ClusterReporter
from scrapy_simhash.signals import cluster_closed
from tests.stand_in import simhash_stats, stand_in

FIRST = "http://example.com/a"
NEW = Verdict(Status.NEW, cluster=3, rank=0)
COPY = Verdict(Status.NEAR_DUPLICATE, duplicate_of=FIRST, cluster=3, rank=1)


def preferred(reporter: ClusterReporter, verdict: Verdict, url: str) -> str | None:
    """Return what is preferred once the page at *url* came."""
    request = Request(url)
    page = Page(request, HtmlResponse(url), PageFingerprinter(Config()), verdict)
    write_result(page)
    reporter.page_compared(page)
    preferred: str | None = request.meta["simhash_result"]["preferred"]
    return preferred


def test_stats_follow_each_page_and_are_absent_before_the_first_copy() -> None:
    crawler = stand_in()
    reporter = ClusterReporter(crawler, Config(prefer=("https",)))
    assert preferred(reporter, NEW, FIRST) is None
    assert simhash_stats(crawler) == {}
    assert preferred(reporter, COPY, "http://example.com/b") == FIRST
    assert simhash_stats(crawler) == {"largest_cluster": 2}
    assert preferred(reporter, COPY, "https://example.com/c") == "https://example.com/c"
    assert simhash_stats(crawler) == {"largest_cluster": 3}


def test_clusters_that_were_forgotten_are_mentioned_in_the_log_and_sent_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawler = stand_in()
    told: list[Cluster] = []

    def hear(cluster: Cluster) -> None:
        told.append(cluster)

    crawler.signals.connect(hear, signal=cluster_closed)
    reporter = ClusterReporter(crawler, Config(debug=True))
    reporter.book = ClusterBook(max_clusters=1)
    for number in (1, 2):
        first = f"http://example.com/{number}"
        verdict = Verdict(Status.NEAR_DUPLICATE, duplicate_of=first, cluster=number)
        preferred(reporter, verdict, first + "?copy")
    assert crawler.spider is not None
    with caplog.at_level(logging.DEBUG, logger="scrapy_simhash"):
        reporter.spider_closed(crawler.spider)
    assert [cluster.number for cluster in told] == [2]
    assert [record.getMessage() for record in caplog.records] == [
        "Cluster 2: 2 pages, first http://example.com/2, preferred http://example.com/2",
        "1 more clusters with copies were forgotten: they had no new page for a long time",
    ]
