"""What is told of clusters when something is in the way; real crawls are in tests/crawls/."""

from __future__ import annotations

import logging

import pytest

from scrapy_simhash import Config, Status, Verdict
from scrapy_simhash.crawl.consequences import ClusterReporter
from scrapy_simhash.judge.clusters import Cluster, ClusterBook
from scrapy_simhash.signals import cluster_closed
from tests.stand_in import simhash_stats, stand_in

FIRST = "http://example.com/a"
COPY = Verdict(Status.NEAR_DUPLICATE, duplicate_of=FIRST, cluster=3, rank=1)


def test_stats_follow_each_page_and_are_absent_before_the_first_copy() -> None:
    crawler = stand_in()
    reporter = ClusterReporter(crawler, Config(prefer=("https",)))
    assert reporter.note_verdict(Verdict(Status.NEW, cluster=3, rank=0), FIRST, None) is None
    assert simhash_stats(crawler) == {}
    assert reporter.note_verdict(COPY, "http://example.com/b", None) == FIRST
    assert simhash_stats(crawler) == {"largest_cluster": 2}
    assert reporter.note_verdict(COPY, "https://example.com/c", None) == "https://example.com/c"
    assert simhash_stats(crawler) == {"largest_cluster": 3, "preferred_later": 1}


def test_a_fault_of_the_book_costs_a_stat_and_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("torn page")

    monkeypatch.setattr(ClusterBook, "note", broken)
    crawler = stand_in()
    reporter = ClusterReporter(crawler, Config())
    with caplog.at_level(logging.DEBUG):
        assert [reporter.note_verdict(COPY, f"http://example.com/{n}", None) for n in range(3)] == [None] * 3
    assert simhash_stats(crawler) == {"consequence_errors": 3}
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "DEBUG"]
    assert "http://example.com/0" in caplog.records[0].getMessage()


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
        reporter.note_verdict(verdict, first + "?copy", None)
    assert crawler.spider is not None
    with caplog.at_level(logging.DEBUG, logger="scrapy_simhash"):
        reporter.spider_closed(crawler.spider)
    assert [cluster.number for cluster in told] == [2]
    assert [record.getMessage() for record in caplog.records] == [
        "Cluster 2: 2 pages, first http://example.com/2, preferred http://example.com/2",
        "1 more clusters with copies were forgotten: they had no new page for a long time",
    ]
