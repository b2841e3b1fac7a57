"""Pages of any input on their way into a store: read as a crawl would read them, claimed as a crawl would."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.fields import BrokenRecords
from scrapy_simhash.cli.intake import Intake
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.files.records import Broken, Record, Records
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading


class Pages:
    """Takes the pages of records into *intake*, fingerprints made by *config*.

    *key_of* returns what the page of a request is known by; None for what Scrapy does by default.
    """

    def __init__(
        self, intake: Intake, config: Config, key_of: Callable[[Request], bytes] | None = None
    ) -> None:
        self.too_large = 0
        """Pages larger than ``SIMHASH_MAXSIZE``."""
        self.broken = BrokenRecords()
        self._intake = intake
        self._key_of = key_of or fingerprint
        self._now = 0
        self._fingerprinter = PageFingerprinter(config)

    @cached_property
    def _detector(self) -> NearDuplicateDetector:
        """Made when the first page is to be stored, which is when the store is opened."""
        return NearDuplicateDetector(
            self._fingerprinter.config,
            self._intake.store,
            clock=lambda: self._now,
            fingerprinter=self._fingerprinter,
        )

    def take_all(self, records: Records, tell: Callable[[int], None]) -> dict[str, int]:
        """Take *records* one after another, and return what became of them; *tell* hears how many it were so far.

        Raises Refused at the end if there are records, but not one of them has the fields of a page.
        """
        read = 0
        try:
            for read, record in enumerate(records, 1):
                if isinstance(record, Broken):
                    self.broken.note(record.place, record.reason, is_rest=record.is_rest)
                else:
                    self._take(record)
                tell(read)
        finally:
            # What was learned about sites since the store was told last.
            if "_detector" in vars(self):
                self._detector.flush()
            self.broken.close()
        if records.complaint:
            raise Refused(records.complaint)
        self.broken.check(read - self.broken.count)
        passed_over = records.passed_over.total()
        return {
            "records": read + passed_over,
            **vars(self._intake.counts),
            "skipped": passed_over + self.too_large,
            "broken": self.broken.count,
        }

    def _take(self, record: Record) -> None:
        maxsize = self._fingerprinter.config.maxsize
        if not record.is_text and 0 < maxsize < len(record.page):
            self.too_large += 1
            return
        try:
            key = self._key_of(Request(record.url))
        except ValueError as error:
            self.broken.note(record.place, f"{record.url!r} is not a URL: {error}")
            return
        self._now = int(time.time()) if record.seen is None else record.seen
        reading = self._read(record)
        if reading.text_hash is None:
            self._intake.counts.short += 1  # no store keeps a page that says nothing
            return
        with self._intake.passing_over(record.url):
            verdict = self._detector.conclude(reading, record.url, key=key)
            self._intake.claimed += 1
            self._intake.counts.add(
                verdict.last_seen is not None, verdict.duplicate_of, verdict.fingerprint is None
            )

    def _read(self, record: Record) -> Reading:
        """Return what is left of a page, with what the store knows about its site."""
        if isinstance(record.page, str) and record.is_text:
            return self._fingerprinter.read_text(record.page)
        if not self._intake.is_open:
            # A page that says nothing makes no store.
            reading = self._fingerprinter.read(
                record.page, content_type=record.content_type, content_language=record.content_language
            )
            if reading.text_hash is None:
                return reading
        return self._detector.read(
            record.page,
            record.url,
            content_type=record.content_type,
            content_language=record.content_language,
        )
