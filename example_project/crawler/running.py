"""Run a spider of this project in this very process. Its items and its log go to ``out/``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.settings import Settings

HERE = Path(__file__).parents[1]
OUT = HERE / "out"


def run(
    spider: str, start: str, settings: Settings, shows_progress: bool = False, called: str = ""
) -> dict[str, Any]:
    """Crawl from *start* on; write feed and log, return Scrapy's stats. Only once a process: its event loop ends.

    The files are those of the spider, or of what it is *called* if several of one name crawl at once.
    """
    OUT.mkdir(exist_ok=True)
    files = called or spider
    log_of(files).unlink(missing_ok=True)
    settings.set("FEEDS", {feed_of(files): {"format": "jsonlines", "overwrite": True, "encoding": "utf8"}})
    settings.set("LOG_FILE", str(log_of(files)))
    settings.set("LOG_LEVEL", "INFO")
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    if shows_progress:
        crawler.signals.connect(_show_progress, signal=signals.response_received)
    process.crawl(crawler, start=start)
    process.start()
    if shows_progress:
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    if crawler.stats is None:
        raise RuntimeError(f"the crawl did not start: see {log_of(files)}")
    return crawler.stats.get_stats()


def feed_of(spider: str) -> Path:
    """Return the file of a spider's items."""
    return OUT / f"{spider}.jsonl"


def log_of(spider: str) -> Path:
    """Return the file of what Scrapy logged."""
    return OUT / f"{spider}.log"


def items_of(spider: str) -> list[dict[str, Any]]:
    """Return the items of a spider's last run."""
    return [json.loads(line) for line in feed_of(spider).read_text("utf-8").splitlines()]


def shown(path: Path) -> str:
    """Return *path* as a report names it: from the folder on in which the project lies."""
    return str(path.relative_to(HERE.parent))


def _show_progress(response: Any, request: Any, spider: Any) -> None:
    pages = spider.crawler.stats.get_value("response_received_count", 0)
    print(f"\r{pages} pages ...", end="", file=sys.stderr, flush=True)
