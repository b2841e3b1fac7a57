"""Pages that the command line names: HTML files, and URLs, which are fetched."""

from __future__ import annotations

from typing import NamedTuple

from scrapy_simhash.cli.failures import Failed, failing
from scrapy_simhash.cli.input import opened

#: What a URL begins with.
URLS = ("http://", "https://")
#: Seconds without an answer after which a URL is given up.
PATIENCE = 30


class Source(NamedTuple):
    """A page as it came."""

    name: str
    html: bytes
    content_type: str | None = None
    """The HTTP header, if there was one."""
    content_language: str | None = None


def read_page(name: str) -> Source:
    """Return the page that *name* means: a URL that begins with http, a file, or standard input for ``-``.

    Raises Failed if it cannot be had.
    """
    if name.startswith(URLS):
        return _fetched(name)
    with opened(name) as given, failing(f"read {given.source}"):
        return Source(given.name, given.stream.read())


def _fetched(url: str) -> Source:
    # Only here, as it takes longer to import than a file takes to read.
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers={"User-Agent": "scrapy-simhash"}), timeout=PATIENCE) as response:
            headers = response.headers
            return Source(url, response.read(), headers["Content-Type"], headers["Content-Language"])
    # Of these HTTPException alone is no OSError: an answer that is no HTTP.
    except (OSError, HTTPException, ValueError) as error:
        raise Failed(f"cannot fetch {url}: {error}") from error
