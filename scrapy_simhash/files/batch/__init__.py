"""Verdicts on stored pages, the same as in a crawl that receives the pages in this order."""

from scrapy_simhash.files.batch.page import Counts, Outcome, Step
from scrapy_simhash.files.batch.python import cluster, dedup
from scrapy_simhash.files.batch.run import KEEP, Judge, Options, PageCluster, RecordsChanged, Run
from scrapy_simhash.files.workers import WorkerDied

__all__ = [
    "KEEP",
    "Counts",
    "Judge",
    "Options",
    "Outcome",
    "PageCluster",
    "RecordsChanged",
    "Run",
    "Step",
    "WorkerDied",
    "cluster",
    "dedup",
]
