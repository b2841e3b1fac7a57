"""NotFoundPages: what each host answers at a URL that cannot exist, asked once a host.

A host that says 404 there is honest, and nothing is learned. One that says 200 has a page for "not found", and the
pages of the crawl that repeat it are known for what they are.
"""

from __future__ import annotations

import logging
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from scrapy_simhash.crawl.html import language_of, tree_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.fingerprinter import PageFingerprinter, Reading

logger = logging.getLogger(__name__)

#: What the verdict on a page that is not there has among its hints.
HINT_NOT_FOUND = "not_found"
#: Hosts that are asked; the pages of any more are checked as without.
MOST_HOSTS = 1_000
#: Bytes of an answer beyond which nothing is learned from it: no such page is that large, and it is read in the loop.
LARGEST = 256 * 1024


class _Answer(NamedTuple):
    """What a host says at a URL that cannot exist."""

    url: str
    """Where the answer came from in the end."""
    reading: Reading


class NotFoundPages:
    """Asks through the crawl's own engine, so that robots.txt, delays and proxies hold; no page waits for it."""

    def __init__(self, crawler: Crawler, fingerprinter: PageFingerprinter) -> None:
        self._crawler = crawler
        self._fingerprinter = fingerprinter
        #: The first page of each host that was asked, until its answer is there.
        self._firsts: dict[str, Reading | None] = {}
        self._answers: dict[str, _Answer] = {}

    def meet(self, host: str, url: str, reading: Reading) -> None:
        """Take note of the page at *url*; the first one of a host has the host asked."""
        if host in self._firsts or len(self._firsts) >= MOST_HOSTS:
            return
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return
        self._firsts[host] = reading
        deferred_from_coro(self._ask(host, f"{parts.scheme}://{parts.netloc}/{token_hex(12)}"))

    def recognises(self, host: str, url: str, reading: Reading, *, was_redirected: bool) -> bool:
        """Tell whether the page at *url* is what *host* answers at a URL that cannot exist.

        A page that was asked for at the URL from which the answer came, or at the front of the host, is a page of
        its own. If it is the same, the host shows one of its pages to strangers, and the answer is forgotten.
        """
        answer = self._answers.get(host)
        if answer is None or not self._is_same(answer.reading, reading):
            return False
        if not was_redirected and (url == answer.url or _is_front(url)):
            del self._answers[host]
            return False
        return True

    async def _ask(self, host: str, url: str) -> None:
        try:
            response = await self._download(url)
            self._learn(host, response)
        except Exception as error:
            logger.debug(
                "SIMHASH_FLOOD_PROBE: no answer from %(host)s at %(url)s: %(error)r",
                {"host": host, "url": url, "error": error},
                extra={"spider": self._crawler.spider},
            )
        finally:
            self._firsts[host] = None

    async def _download(self, url: str) -> Response:
        # No cookies: the answer must not reach into the session of the crawl.
        meta = {"dont_retry": True, "dont_cache": True, "dont_merge_cookies": True}
        request = Request(url, meta=meta, callback=NO_CALLBACK)
        engine = self._crawler.engine
        if engine is None:
            raise RuntimeError("the crawler has no engine yet")
        if hasattr(engine, "download_async"):
            return await engine.download_async(request)
        return await maybe_deferred_to_future(engine.download(request))  # Scrapy 2.13

    def _learn(self, host: str, response: Response) -> None:
        first = self._firsts[host]
        if not 200 <= response.status < 300 or not isinstance(response, HtmlResponse):
            return
        root = tree_of(response)
        if len(response.body) > LARGEST or root is None or _is_front(response.url):
            return
        reading = self._fingerprinter.read(root, content_language=language_of(response))
        # A host that shows the same to all, as those do whose pages are made by scripts.
        if first is not None and self._is_same(reading, first):
            return
        if reading.text_hash is not None:
            self._answers[host] = _Answer(response.url, reading)
            logger.debug(
                "%(host)s answers %(status)s at a URL that cannot exist: pages that repeat %(url)s are"
                " marked with the"
                " hint not_found",
                {"host": host, "status": response.status, "url": response.url},
                extra={"spider": self._crawler.spider},
            )

    def _is_same(self, a: Reading, b: Reading) -> bool:
        """Tell whether two pages are one, by the rule of the crawl; short ones by their very text."""
        if a.fingerprint is None or b.fingerprint is None:
            return a.text_hash is not None and a.text_hash == b.text_hash
        return self._fingerprinter.is_near_duplicate(a.fingerprint, b.fingerprint)


def _is_front(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query
