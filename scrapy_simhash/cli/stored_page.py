"""A page as a store has it, to be compared: its fingerprint, and no text."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_simhash.cli.comparison import Page
from scrapy_simhash.cli.failures import Failed, Refused
from scrapy_simhash.cli.places import place_of
from scrapy_simhash.cli.postings import blocks_for
from scrapy_simhash.cli.profile_change import keeper, load
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.text import Document
from scrapy_simhash.store import Store


class StoredPages:
    """The pages of a store, by their URLs."""

    def __init__(self, store: Store, options: Namespace) -> None:
        """Look into *store*, that of ``--store``."""
        place = place_of(options.store, options)
        self._store = store
        self._place = place
        self._key_of = options.project.key_of(place) if options.project is not None else fingerprint
        #: By which the fingerprints were made and are compared.
        self.settings = {**store.header.settings, **blocks_for(store.header.settings)}

    def site(self, host: str) -> SiteProfile:
        """Return what is known of the site of *host*. Raises Failed if that is nothing."""
        return load(keeper(self._store, self._place), host, self._place)

    def page(self, url: str) -> Page:
        """Return the page at *url*. Raises Failed if the store has none, Refused if that is no URL."""
        try:
            found = self._store.get(self._key_of(Request(url)))
        except ValueError as error:
            raise Refused(f"{url!r} is not a URL: {error}") from None
        if found is None:
            raise Failed(f"{self._place.shown} has no page {url!r}")
        posting = found.posting
        reading = Reading(None if posting.is_short else posting.fingerprint, posting.text_hash)
        return Page(url, Document("", None, (), ()), reading, [], Counter(), is_stored=True)


@contextmanager
def stored_pages(options: Namespace) -> Iterator[StoredPages]:
    """Open the store of ``--store``, and leave it as it is."""
    with place_of(options.store, options).reading() as store:
        yield StoredPages(store, options)
