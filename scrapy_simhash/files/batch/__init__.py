"""Verdicts on pages that lie on disk, or come from anywhere else: those that a crawl would give in their order."""

from scrapy_simhash.files.batch.journal import Journal, JournalMismatch
from scrapy_simhash.files.batch.page import Counts, Outcome, Step
from scrapy_simhash.files.batch.python import cluster, dedup
from scrapy_simhash.files.batch.run import KEEP, Judge, Options, PageCluster, RecordsChanged, Run
from scrapy_simhash.files.workers import WorkerDied

__all__ = [
    "KEEP",
    "Counts",
    "Journal",
    "JournalMismatch",
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
