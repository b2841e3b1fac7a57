"""Recognise near-duplicate pages while a Scrapy crawl runs.

Enable it in a project's settings with ``ADDONS = {"scrapy_simhash.Addon": 500}``, or use the parts by
themselves: :class:`PageFingerprinter` (a page to 64 bits), :class:`SimhashIndex` (which fingerprints lie within a
few bits), :class:`NearDuplicateDetector` (which page repeats which).
"""

from scrapy_simhash.addon import Addon
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.downloader_middleware import SimhashDownloaderMiddleware
from scrapy_simhash.exceptions import SettingError, SimhashError
from scrapy_simhash.fingerprint import Fingerprint
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.index import Match, SimhashIndex, hamming_distance
from scrapy_simhash.spider_middleware import NearDuplicate, SimhashSpiderMiddleware
from scrapy_simhash.text import Document
from scrapy_simhash.verdict import Reason, Status, Verdict

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "Config",
    "Document",
    "Fingerprint",
    "Match",
    "NearDuplicate",
    "NearDuplicateDetector",
    "PageFingerprinter",
    "Reason",
    "SettingError",
    "SimhashDownloaderMiddleware",
    "SimhashError",
    "SimhashIndex",
    "SimhashSpiderMiddleware",
    "Status",
    "Verdict",
    "hamming_distance",
]
