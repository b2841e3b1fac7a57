"""Recognise near-duplicate pages while a Scrapy crawl runs.

Enable it in a project's settings with ``ADDONS = {"scrapy_simhash.Addon": 500}``, or use the parts by
themselves: :class:`PageFingerprinter` (makes the fingerprint of a page), :class:`SimhashIndex` (finds fingerprints
within a Hamming distance), :class:`NearDuplicateDetector` (tells which page repeats which),
:func:`dedup` and :func:`cluster` (many pages at once).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_simhash.config import Config
    from scrapy_simhash.crawl.addon import Addon
    from scrapy_simhash.crawl.downloader_middleware import SimhashDownloaderMiddleware
    from scrapy_simhash.crawl.drops import NearDuplicate, NearDuplicatePageItem, UnchangedPageItem
    from scrapy_simhash.crawl.item_pipeline import NearDuplicateItem, SimhashItemPipeline
    from scrapy_simhash.crawl.spider_middleware import SimhashSpiderMiddleware
    from scrapy_simhash.detector import NearDuplicateDetector
    from scrapy_simhash.display import to_dicts
    from scrapy_simhash.exceptions import (
        RecordDamaged,
        SettingError,
        SimhashError,
        StoreDamaged,
        StoreError,
        StoreLocked,
        StoreMismatch,
        StoreUnavailable,
    )
    from scrapy_simhash.files.batch import cluster, dedup
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.index import Match, SimhashIndex, hamming_distance
    from scrapy_simhash.judge.policy import SimhashPolicy
    from scrapy_simhash.observers.links import SimhashLinksMiddleware
    from scrapy_simhash.observers.recrawl.recrawling import RequestNotDue, SimhashValidatorsMiddleware
    from scrapy_simhash.observers.url_rules.guard import RequestSkipped
    from scrapy_simhash.page.fingerprint import Fingerprint
    from scrapy_simhash.page.text import Document
    from scrapy_simhash.verdict import Reason, Status, Verdict, result

__version__ = "1.0.0"

#: The module of each public name, imported on first use: searching a file of hashes does not need Scrapy, and --help
#: does not wait for it.
_HOMES = {
    "Addon": "crawl.addon",
    "Config": "config",
    "Document": "page.text",
    "Fingerprint": "page.fingerprint",
    "Match": "index",
    "NearDuplicate": "crawl.drops",
    "NearDuplicateDetector": "detector",
    "NearDuplicateItem": "crawl.item_pipeline",
    "NearDuplicatePageItem": "crawl.drops",
    "PageFingerprinter": "fingerprinter",
    "Reason": "verdict",
    "RecordDamaged": "exceptions",
    "RequestNotDue": "observers.recrawl.recrawling",
    "RequestSkipped": "observers.url_rules.guard",
    "SettingError": "exceptions",
    "SimhashDownloaderMiddleware": "crawl.downloader_middleware",
    "SimhashError": "exceptions",
    "SimhashIndex": "index",
    "SimhashItemPipeline": "crawl.item_pipeline",
    "SimhashLinksMiddleware": "observers.links",
    "SimhashPolicy": "judge.policy",
    "SimhashSpiderMiddleware": "crawl.spider_middleware",
    "SimhashValidatorsMiddleware": "observers.recrawl.recrawling",
    "Status": "verdict",
    "StoreDamaged": "exceptions",
    "StoreError": "exceptions",
    "StoreLocked": "exceptions",
    "StoreMismatch": "exceptions",
    "StoreUnavailable": "exceptions",
    "UnchangedPageItem": "crawl.drops",
    "Verdict": "verdict",
    "cluster": "files.batch",
    "dedup": "files.batch",
    "hamming_distance": "index",
    "result": "verdict",
    "to_dicts": "display",
}

__all__ = [
    "Addon",
    "Config",
    "Document",
    "Fingerprint",
    "Match",
    "NearDuplicate",
    "NearDuplicateDetector",
    "NearDuplicateItem",
    "NearDuplicatePageItem",
    "PageFingerprinter",
    "Reason",
    "RecordDamaged",
    "RequestNotDue",
    "RequestSkipped",
    "SettingError",
    "SimhashDownloaderMiddleware",
    "SimhashError",
    "SimhashIndex",
    "SimhashItemPipeline",
    "SimhashLinksMiddleware",
    "SimhashPolicy",
    "SimhashSpiderMiddleware",
    "SimhashValidatorsMiddleware",
    "Status",
    "StoreDamaged",
    "StoreError",
    "StoreLocked",
    "StoreMismatch",
    "StoreUnavailable",
    "UnchangedPageItem",
    "Verdict",
    "cluster",
    "dedup",
    "hamming_distance",
    "result",
    "to_dicts",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
