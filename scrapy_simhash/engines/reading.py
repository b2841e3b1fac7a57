"""Pages to fingerprints, batch by batch, and what their sites repeat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from xxhash import xxh3_64_intdigest

from scrapy_simhash.batch.page_reader import GivenSite, Page, PageReader, answer_of
from scrapy_simhash.config import Config
from scrapy_simhash.engines.bands import signed
from scrapy_simhash.engines.tables import ANSWERS, READINGS, SITES
from scrapy_simhash.page.fingerprint import number
from scrapy_simhash.scope import host_of, scope_function
from scrapy_simhash.site import SiteProfile
from scrapy_simhash.verdict import Reason

#: Rows that are made into a batch.
_ROWS = 1_000
#: Of a page that could not be read.
FAULT = "fault"


class ReadPages:
    """Pages to `READINGS`: id, url, page, scope, content_type, content_language, answer of the site.

    The last four may be None: a page without an answer is read as one of a site of which nothing is known.
    """

    def __init__(self, config: Config, *, is_text: bool) -> None:
        """*is_text* is for pages of plain text."""
        self._config = config
        self._is_text = is_text

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return the batches of the fingerprints."""
        reader = PageReader(self._config, with_canonical="canonical" in self._config.prefer)
        scope_of = scope_function(self._config.scope)
        for batch in batches:
            rows = []
            for id, url, page, scope, kind, language, answer in _rows(batch):
                url = url or ""
                scope = scope_of(url) if scope is None else scope
                asked = Page(url, page or "", self._is_text, kind, language)
                rows.append(self._row(reader, id, asked, scope, GivenSite(answer)))
            yield READINGS.batch(rows)

    def _row(self, reader: PageReader, id: int, page: Page, scope: str, site: GivenSite) -> tuple[Any, ...]:
        learns = self._config.site_learning and not page.is_text
        read = reader.read(page, site if learns else None)
        reading, host = read.reading, host_of(page.url)
        about = (id, page.url, scope, host)
        if reading is None or (reading.fingerprint is None and reading.text_hash is None):
            why = Reason.SHORT_TEXT if reading is not None else Reason.TOO_LARGE
            outcome = FAULT if read.fault else why.value
            return *about, None, None, False, None, None, None, None, read.canonical, outcome, None
        fingerprint = reading.fingerprint
        if fingerprint is None:
            value, sketch, own = reading.text_hash, b"", b""
        else:
            value, sketch, own = fingerprint.value, fingerprint.sketch, fingerprint.own
        data = b"\0".join((scope.encode("utf-8", "surrogatepass"), value.to_bytes(8, "big"), sketch, own))
        text_hash = None if reading.text_hash is None else signed(reading.text_hash)
        return (
            *about,
            signed(value),
            text_hash,
            fingerprint is None,
            sketch,
            own,
            signed(xxh3_64_intdigest(data)),
            signed(number(page.url)),
            read.canonical,
            None,
            reading.pieces or None,
        )


def learn_sites(batches: Iterator[Any]) -> Iterator[Any]:
    """Pages to `SITES`: host, pieces of the page, sketch; by host, in the order in which pages teach.

    A row without a sketch has what was known of the host before in the place of the pieces.
    """
    rows = (row for batch in batches for row in _rows(batch))
    for host, pages in groupby(rows, key=itemgetter(0)):
        profile = SiteProfile()
        for _, pieces, sketch in pages:
            if sketch is None:
                profile.join(pieces)
            else:
                profile.learn(pieces, sketch)
        yield SITES.batch([(host, profile.to_bytes())])


def answer_pages(batches: Iterator[Any]) -> Iterator[Any]:
    """Pages to `ANSWERS`: host, id, pieces of the page; by host, with the profile before its pages, as one without id."""
    host, profile = None, SiteProfile()
    for batch in batches:
        found = []
        for name, id, pieces in _rows(batch):
            if name != host:
                host, profile = name, SiteProfile()
            if id is None:
                profile.join(pieces)
            elif (answer := answer_of(profile, pieces)) is not None:
                found.append((id, answer))
        yield ANSWERS.batch(found)


def _rows(batch: Any) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)
