"""A spider that writes down what it is told, for crawls that are killed, and crawls that share a store."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response


class Witness(scrapy.Spider):
    """Asks for *pages* of *site* in an order of its own, and writes down the verdict on each in *file*."""

    name = "witness"

    def __init__(self, site: str, pages: int, seed: int, file: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.site = site
        self.numbers = Random(seed).sample(range(pages), pages)
        self.file = Path(file)

    async def start(self) -> AsyncIterator[Any]:
        """Ask for every page, also for those that Scrapy has noted as seen."""
        for number in self.numbers:
            yield scrapy.Request(f"{self.site}{number}", dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        """Write the verdict down."""
        marks = {name: response.meta.get(f"simhash_{name}") for name in ("status", "value", "duplicate_of")}
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"url": response.url, "time": time.time(), **marks}) + "\n")
        yield {"url": response.url}


def crawl_on(site: str, pages: int, folder: Path, seed: int, file: Path) -> None:
    """Crawl in this process; the verdicts go to *file*."""
    file.touch()
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "JOBDIR": str(folder / "job"),
            "LOG_FILE": str(file.with_suffix(".log")),
            "LOG_LEVEL": "INFO",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Witness, site=site, pages=pages, seed=seed, file=str(file))
    process.start()
