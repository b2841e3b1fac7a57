"""Pages of a feed on their way into a store: read as a crawl would read them, claimed as a crawl would."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.feeds import Record
from scrapy_simhash.cli.intake import Intake
from scrapy_simhash.config import Config
from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.page.text import plain_text
from scrapy_simhash.times import parsed


class Fields(NamedTuple):
    """Names of the fields in a record."""

    url: str
    page: str
    is_text: bool
    """Whether *page* is plain text; HTML otherwise."""
    time: str | None


class Pages:
    """Takes the pages of records into *intake*, fingerprints made by *config*.

    *key_of* returns what the page of a request is known by; None for what Scrapy does by default.
    """

    def __init__(
        self,
        intake: Intake,
        config: Config,
        fields: Fields,
        key_of: Callable[[Request], bytes] | None = None,
    ) -> None:
        self.skipped = 0
        """Records without a URL or a page, and pages larger than ``SIMHASH_MAXSIZE``."""
        self._intake = intake
        self._fields = fields
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

    def take_all(self, records: Iterable[Record], tell: Callable[[int], None]) -> int:
        """Take *records* one after another, and return how many there are; *tell* hears how many it were so far.

        Raises Refused for the first that is wrong, before that one is taken, and at the end if there are
        records, but not one of them has the fields.
        """
        read, first = 0, None
        for read, record in enumerate(records, 1):
            first = first or record
            self._take(record)
            tell(read)
        if first is not None and self.skipped == read and not self._has_fields(first):
            raise Refused(
                f"no record has the fields {self._fields.url!r} and {self._fields.page!r}; {first.place} has"
                f" {json.dumps(list(first.fields), ensure_ascii=False)}"
            )
        return read

    def _take(self, record: Record) -> None:
        url, page = _text(record, self._fields.url), _text(record, self._fields.page)
        if not url or not page:
            self.skipped += 1
            return
        self._now = self._seen(record)
        try:
            key = self._key_of(Request(url))
        except ValueError as error:
            raise Refused(f"{record.place}: {url!r} is not a URL: {error}") from None
        reading = self._read(page)
        if reading is None:
            self.skipped += 1
        elif reading.text_hash is None:
            self._intake.counts.short += 1  # no store keeps a page that says nothing
        else:
            with self._intake.passing_over(url):
                verdict = self._detector.conclude(reading, url, key=key)
                self._intake.claimed += 1
                self._intake.counts.add(
                    verdict.last_seen is not None, verdict.duplicate_of, verdict.fingerprint is None
                )

    def _read(self, page: str) -> Reading | None:
        """Return what is left of a page, None for one that is too large."""
        if self._fields.is_text:
            return self._fingerprinter.read_document(plain_text(page))
        maxsize = self._fingerprinter.config.maxsize
        return None if maxsize and len(page) > maxsize else self._fingerprinter.read(page)

    def _seen(self, record: Record) -> int:
        name = self._fields.time
        value = None if name is None else record.fields.get(name)
        if value is None or value == "":
            return int(time.time())
        try:
            return parsed(value)
        except ValueError as error:
            raise Refused(f"{record.place}: the field {name!r} {error}") from None

    def _has_fields(self, record: Record) -> bool:
        return self._fields.url in record.fields and self._fields.page in record.fields


def _text(record: Record, name: str) -> str | None:
    """Return the text of a field, None for none. Raises Refused for what is no text."""
    value = record.fields.get(name)
    if value is None or isinstance(value, str):
        return value
    kind = _KINDS.get(type(value), "something else")
    raise Refused(f"{record.place}: the field {name!r} is {kind}, not a text")


_KINDS: Mapping[type[Any], str] = {
    list: "a list",
    dict: "an object",
    int: "a number",
    float: "a number",
    bool: "true or false",
}
