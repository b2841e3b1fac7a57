"""Pages to fingerprints, batch by batch, and what their sites repeat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from xxhash import xxh3_64_intdigest

from scrapy_simhash.config import Config
from scrapy_simhash.files.batch.page_reader import GivenSite, Page, PageReader, Read, answer_of
from scrapy_simhash.files.engines.tables import ANSWERS, FAULT, READINGS, SITES, rows_of
from scrapy_simhash.files.records.fields import wrong_url
from scrapy_simhash.page.fingerprint import number
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import host_of, scope_function
from scrapy_simhash.store.sqlite.schema import signed
from scrapy_simhash.verdict import Reason


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
            for id, url, page, scope, kind, language, answer in rows_of(batch):
                url = url or ""
                scope = scope_of(url) if scope is None else scope
                asked = Page(url, page or "", self._is_text, kind, language)
                rows.append(self._row(reader, id, asked, scope, GivenSite(answer)))
            yield READINGS.batch(rows)

    def _row(self, reader: PageReader, id: int, page: Page, scope: str, site: GivenSite) -> tuple[Any, ...]:
        learns = self._config.site_learning and not page.is_text
        fault = wrong_url(page.url)
        read = Read(None, fault=fault) if fault else reader.read(page, site if learns else None)
        reading, host = read.reading, host_of(page.url)
        about = (id, page.url, scope, host)
        if reading is None or (reading.fingerprint is None and reading.text_hash is None):
            why = Reason.SHORT_TEXT if reading is not None else Reason.TOO_LARGE
            outcome = FAULT if read.fault else why.value
            return *about, None, None, False, None, None, None, None, read.canonical, outcome, None
        fingerprint = reading.fingerprint
        if fingerprint is None:
            # A page with neither has been returned.
            value, sketch, own = reading.text_hash or 0, b"", b""
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
    """Yield batches of `SITES` for batches of pages: host, pieces, sketch; by host, in the order in which they teach.

    A row without a sketch has a profile in the place of the pieces: what was known of the host before.
    """
    rows = (row for batch in batches for row in rows_of(batch))
    found = []
    for host, pages in groupby(rows, key=itemgetter(0)):
        profile = SiteProfile()
        for _, pieces, sketch in pages:
            if sketch is None:
                profile.join(pieces)
            else:
                profile.learn(pieces, sketch)
        found.append((host, profile.to_bytes()))
        if len(found) >= _SITES:
            yield SITES.batch(found)
            found = []
    yield SITES.batch(found)


def answer_pages(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of `ANSWERS` for batches of pages: host, id, pieces; by host.

    The first row of a host has its profile in the place of the pieces, and no id.
    """
    host, profile = None, SiteProfile()
    for batch in batches:
        found = []
        for name, id, pieces in rows_of(batch):
            if name != host:
                host, profile = name, SiteProfile()
            if id is None:
                profile.join(pieces)
            elif (answer := answer_of(profile, pieces)) is not None:
                found.append((id, answer))
        yield ANSWERS.batch(found)


#: Profiles in a batch, of 64 KiB at most.
_SITES = 100
