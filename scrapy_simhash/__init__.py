"""Recognise near-duplicate pages while a Scrapy crawl runs.

Enable the add-on in a project's settings with ``ADDONS = {"scrapy_simhash.Addon": 500}``, or use its parts directly:
:class:`PageFingerprinter` computes the fingerprint of a page, :class:`SimhashIndex` finds fingerprints within a
Hamming distance, :class:`NearDuplicateDetector` finds the original of each near-duplicate, and :func:`dedup` and
:func:`cluster` compare many pages at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_simhash.config import Config as Config
    from scrapy_simhash.crawl.addon import Addon as Addon
    from scrapy_simhash.crawl.downloader_middleware import (
        SimhashDownloaderMiddleware as SimhashDownloaderMiddleware,
    )
    from scrapy_simhash.crawl.drops import NearDuplicate as NearDuplicate
    from scrapy_simhash.crawl.drops import NearDuplicatePageItem as NearDuplicatePageItem
    from scrapy_simhash.crawl.drops import UnchangedPageItem as UnchangedPageItem
    from scrapy_simhash.crawl.item_pipeline import NearDuplicateItem as NearDuplicateItem
    from scrapy_simhash.crawl.item_pipeline import SimhashItemPipeline as SimhashItemPipeline
    from scrapy_simhash.crawl.spider_middleware import SimhashSpiderMiddleware as SimhashSpiderMiddleware
    from scrapy_simhash.crawling import main_text as main_text
    from scrapy_simhash.detector import NearDuplicateDetector as NearDuplicateDetector
    from scrapy_simhash.exceptions import RecordDamaged as RecordDamaged
    from scrapy_simhash.exceptions import SettingError as SettingError
    from scrapy_simhash.exceptions import SimhashError as SimhashError
    from scrapy_simhash.exceptions import StoreDamaged as StoreDamaged
    from scrapy_simhash.exceptions import StoreError as StoreError
    from scrapy_simhash.exceptions import StoreLocked as StoreLocked
    from scrapy_simhash.exceptions import StoreMismatch as StoreMismatch
    from scrapy_simhash.exceptions import StoreUnavailable as StoreUnavailable
    from scrapy_simhash.files.batch import cluster as cluster
    from scrapy_simhash.files.batch import dedup as dedup
    from scrapy_simhash.fingerprinter import PageFingerprinter as PageFingerprinter
    from scrapy_simhash.index import Match as Match
    from scrapy_simhash.index import SimhashIndex as SimhashIndex
    from scrapy_simhash.index import hamming_distance as hamming_distance
    from scrapy_simhash.judge.policy import SimhashPolicy as SimhashPolicy
    from scrapy_simhash.observers.recrawl.cache import PageStorage as PageStorage
    from scrapy_simhash.observers.recrawl.cache import RecrawlPolicy as RecrawlPolicy
    from scrapy_simhash.observers.recrawl.middleware import (
        SimhashRecrawlMiddleware as SimhashRecrawlMiddleware,
    )
    from scrapy_simhash.observers.url_rules.listener import RequestSkipped as RequestSkipped
    from scrapy_simhash.page.fingerprint import Fingerprint as Fingerprint
    from scrapy_simhash.page.text import Document as Document
    from scrapy_simhash.verdict import Reason as Reason
    from scrapy_simhash.verdict import Status as Status
    from scrapy_simhash.verdict import Verdict as Verdict
    from scrapy_simhash.verdict import result as result

__version__ = "1.0.0"

#: Public names by module, imported at first use, so that --help and a search in a file of hashes do not import
#: Scrapy. Type checkers read the imports above; a test compares the two.
_PUBLIC = {
    "config": "Config",
    "crawl.addon": "Addon",
    "crawl.downloader_middleware": "SimhashDownloaderMiddleware",
    "crawl.drops": "NearDuplicate NearDuplicatePageItem UnchangedPageItem",
    "crawl.item_pipeline": "NearDuplicateItem SimhashItemPipeline",
    "crawl.spider_middleware": "SimhashSpiderMiddleware",
    "crawling": "main_text",
    "detector": "NearDuplicateDetector",
    "exceptions": "RecordDamaged SettingError SimhashError StoreDamaged StoreError StoreLocked StoreMismatch"
    " StoreUnavailable",
    "files.batch": "cluster dedup",
    "fingerprinter": "PageFingerprinter",
    "index": "Match SimhashIndex hamming_distance",
    "judge.policy": "SimhashPolicy",
    "observers.recrawl.cache": "PageStorage RecrawlPolicy",
    "observers.recrawl.middleware": "SimhashRecrawlMiddleware",
    "observers.url_rules.listener": "RequestSkipped",
    "page.fingerprint": "Fingerprint",
    "page.text": "Document",
    "verdict": "Reason Status Verdict result",
}
_HOMES = {name: home for home, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
