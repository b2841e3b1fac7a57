"""A site that is crawled every week of a simulated year: all changes must be reported once.

Pages change at different rates: every week, every four or thirteen weeks at random, never. New pages appear;
some vanish for six weeks, either from the start page or as a 404; some move to another URL. After each crawl
its reports are compared with the real changes: each report must be true, and each change must be reported
within a limit. A moved page is reported as new or as moved; the old URL as moved or, if the text has changed
since, as not seen.

A quarter of the stories are on a host whose ETags never change, so that it answers every conditional request
with 304. If the recrawl mode skips pages that are not due, all stories are on the other host.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

from benchmarks.soak import Web, etag_of
from tests.chaos import DAY, Handler
from tests.clock import Clock
from tests.crawls.feed import feed_lines
from tests.crawls.harness import ENABLED, RECRAWL, forked

WEEKS, STORIES, AWAY = 52, 24, 6
HOME, LIAR = "https://www.host-0.example/", "https://www.host-1.example/"
#: Modes of ``SIMHASH_RECRAWL``.
WAYS = ("always", "auto")
#: Max weeks until a change is reported if only the changed page shows it, and that page was not requested or its host
#: wrongly answered 304. ``SIMHASH_RECRAWL`` requests each page after 30 days.
LATE = 5


class YearWeb(Web):
    """The site in one week. A page is identified by its story, its text by story and version."""

    def __init__(self, week: int, way: str) -> None:
        super().__init__(1)
        #: The text of each existing page by URL, and the URLs (existing or not) that the start page links to.
        self.texts: dict[str, tuple[int, int]] = {}
        self.links: list[str] = []
        for story in range(STORIES + week // 4):
            draw = Random(f"year {story}")
            rate, leaves = draw.choice((1.0, 0.25, 1 / 13, 0.0)), draw.randrange(4, WEEKS)
            version = sum(draw.random() < rate for _ in range(week))
            url = f"{LIAR if way == 'always' and story % 4 == 3 else HOME}stories/{story}"
            if story % 6 == 0 and week >= leaves:
                url += "-moved"
            is_away = story % 6 in (1, 2) and leaves <= week < leaves + AWAY
            if not is_away:
                self.texts[url] = story, version
            if not is_away or story % 6 == 1:
                self.links.append(url)

    def page(self, url: str) -> bytes:
        links = "".join(f'<a href="{link}">{link}</a>' for link in self.links) if url == HOME else ""
        story, version = self.texts.get(url, (1_000, 0))
        title, body = self._story(0, story + 10_000 * version, "en")
        return self._dressed(title, f"<nav>{links}</nav>{body}", "menu", "en")


class YearHandler(Handler):
    async def download_request(self, request: Request) -> Response:
        if request.url == HOME or request.url in self._spider.web.texts:  # type: ignore[attr-defined]
            if request.url.startswith(LIAR):
                etag = etag_of(request.url.encode())
                if request.headers.get("If-None-Match") == etag.encode():
                    return Response(request.url, status=304, request=request)
                response = await super().download_request(request)
                response.headers["ETag"] = etag
                return response
            return await super().download_request(request)
        return HtmlResponse(request.url, status=404, request=request)


class YearSpider(Spider):
    """Requests all links of the start page."""

    name = "year"

    def __init__(self, week: int, way: str) -> None:
        super().__init__()
        self.web, self.making_ns = YearWeb(week, way), 0

    async def start(self) -> AsyncIterator[Request]:
        yield Request(HOME)

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield an item, because pages without items do not count as delivered, and follow all links to
        stories.
        """
        yield {"url": response.url}
        if response.url == HOME:
            yield from (Request(url) for url in self.web.links)


def crawl(week: int, way: str) -> None:
    """Crawl in this process, in the current folder."""
    Clock(week * 7 * DAY).install()
    # Draws which 304 responses are checked: with this seed the first crawl with conditional requests detects
    # the wrong ones.
    random.seed(1 + week)
    settings: dict[str, Any] = {
        "DOWNLOAD_HANDLERS": {"https": YearHandler},
        "SIMHASH_STORE": "store/",
        "SIMHASH_CHANGES": "changes.jsonl",
        **RECRAWL,
        "HTTPCACHE_DIR": str(Path("cache").absolute()),
        "SIMHASH_RECRAWL": {"": way},
        # Makes the random checks apply to the same pages in each run.
        "CONCURRENT_REQUESTS": 1,
        "LOG_FILE": "log",
        "TELNETCONSOLE_ENABLED": False,
    }
    process = CrawlerProcess({**ENABLED, **settings})
    crawler = process.create_crawler(YearSpider)
    process.crawl(crawler, week, way)
    process.start(install_signal_handlers=False)
    assert crawler.stats is not None
    Path("stats.json").write_text(json.dumps(crawler.stats.get_stats(), default=str))


def year(way: str, folder: Path) -> dict[str, Any]:
    """Crawl for a year; return figures, and wrong or late reports under ``faults``."""
    known: dict[str, tuple[int, int] | None] = {HOME: None}
    since: dict[str, int] = {}
    sent = expected = changed = lines = 0
    latest: dict[str, tuple[int, int]] = {}
    late: Counter[int] = Counter()
    faults: list[str] = []
    for week in range(WEEKS):
        done = forked("-m", "tests.crawls.year", "--crawl", str(week), way, cwd=folder)
        web, stats = YearWeb(week, way), json.loads((folder / "stats.json").read_text())
        if done.returncode or any("errors" in name for name in stats):
            faults.append(f"week {week}: {done.stderr[-500:]} {stats}")
        # Scrapy's count includes responses from the cache.
        sent += stats["downloader/request_count"] - stats.get("httpcache/hit", 0)
        expected += 1 + len(web.links)
        changed += sum(latest.get(url, text) != text for url, text in web.texts.items())
        latest = web.texts
        feed = feed_lines(folder)
        for line in feed[lines:]:
            url, change, now = line["url"], line["change"], web.texts.get(line["url"])
            if change == "moved":
                # A line about two pages: a page that is gone, and the new URL of its text.
                former = line["previous_url"]
                is_right = known.get(former) == now and web.texts.get(former) is None
                known[former] = None
            else:
                is_right = {
                    "new": url not in known,
                    "gone": now is None and known.get(url) is not None,
                    "not_seen": now is None and known.get(url) is not None,
                    "back": now is not None and url in known and known[url] is None,
                }.get(change, None not in (now, known.get(url)) and now != known.get(url))
            if change in ("changed", "small_change"):
                late[week - since.get(url, week)] += 1
            if not is_right and url != HOME:
                faults.append(
                    f"week {week}: {url} is reported as {change}, and was {known.get(url)}, is {now}"
                )
            known[url] = now
        lines = len(feed)
        for url in known.keys() | web.texts.keys():
            if known.get(url) == web.texts.get(url):
                since.pop(url, None)
            else:
                weeks = week - since.setdefault(url, week)
                # Changes of the start page must be reported at once.
                may_be_late = url in known and url in web.links and (way == "auto" or url.startswith(LIAR))
                if weeks > LATE or not may_be_late:
                    faults.append(
                        f"week {week}: {url} was {known.get(url)}, is {web.texts.get(url)}, not reported"
                    )
    with closing(sqlite3.connect(folder / "store" / "year.sqlite")) as store:
        ((pages,),) = store.execute("SELECT count(*) FROM pages").fetchall()
    return {
        "requests": sent,
        "of": expected,
        "changes that happened": changed,
        "reported, by weeks of delay": dict(sorted(late.items())),
        "pages in the store": pages,
        "faults": faults,
    }


if __name__ == "__main__":
    crawl(int(sys.argv[2]), sys.argv[3])
