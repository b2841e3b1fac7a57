"""Verdicts on pages that lie on disk, or come from anywhere else: those that a crawl would give in their order."""

from scrapy_simhash.files.batch.journal import Journal, JournalMismatch
from scrapy_simhash.files.batch.judge import Judge
from scrapy_simhash.files.batch.ledger import PageCluster
from scrapy_simhash.files.batch.pool import WorkerDied
from scrapy_simhash.files.batch.python import cluster, dedup
from scrapy_simhash.files.batch.run import KEEP, Options, RecordsChanged, Run
from scrapy_simhash.files.batch.steps import Counts, Outcome, Step

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
