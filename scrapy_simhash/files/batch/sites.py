"""BatchSites: what sites repeat, learned in the order of the records, whoever reads them."""

from __future__ import annotations

from collections.abc import Iterable

from scrapy_simhash.files.batch.page_reader import GivenSite, Page
from scrapy_simhash.fingerprinter import KnownSite, Reading
from scrapy_simhash.page.site import SiteProfiles

#: Pages after which profiles go to the disk, if there is a place for them: fewer than there is room for.
_KEPT_EVERY = 500


class BatchSites:
    """The profiles of the sites of a batch, and when they learn."""

    def __init__(
        self, profiles: SiteProfiles, *, learns: bool = True, given: GivenSite | None = None
    ) -> None:
        """Without *learns* the *profiles* stay as they are; *given* takes the place of each when a page is read."""
        self._profiles = profiles
        self._learns = learns
        self._learned = 0
        self.given = given

    @classmethod
    def first_look(cls) -> BatchSites:
        """Return sites that only learn, for a first look at all pages; see also `learned`."""
        return cls(SiteProfiles(_DiskProfiles()), given=GivenSite(None))

    def learned(self) -> BatchSites:
        """Return sites that know what these have learned, and learn no more."""
        self._profiles.keep()
        return BatchSites(self._profiles, learns=False)

    def of(self, page: Page) -> KnownSite | None:
        """Return by what *page* is read; plain text has no site."""
        return None if page.is_text else self.given or self._profiles.of(page.url)

    def profile_of(self, url: str) -> bytes:
        """Return the profile of the site of *url* as bytes."""
        return self._profiles.of(url).to_bytes()

    def learn(self, url: str, reading: Reading | None) -> bool:
        """Learn from a page, as a detector does, and return whether there was anything to learn."""
        if not self._learns or reading is None or reading.fingerprint is None or not reading.pieces:
            return False
        self._profiles.learn(url, reading.pieces, reading.fingerprint.sketch)
        self._learned += 1
        if self._learned % _KEPT_EVERY == 0:
            self._profiles.keep()
        return True


class _DiskProfiles:
    """Keeps profiles in a file without a name, which goes with this object: memory holds a thousand only."""

    def __init__(self) -> None:
        # Not every batch needs it.
        import sqlite3

        # SQLite's own temporary database: on the disk as soon as it does not fit into its cache.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("CREATE TABLE sites (host TEXT PRIMARY KEY, profile BLOB) WITHOUT ROWID")

    def load_site(self, host: str) -> bytes | None:
        """See :class:`~scrapy_simhash.page.site.profiles.Keeper`."""
        found = self._connection.execute("SELECT profile FROM sites WHERE host = ?", (host,)).fetchall()
        return bytes(found[0][0]) if found else None

    def keep_sites(self, profiles: Iterable[tuple[str, bytes]]) -> None:
        """See :class:`~scrapy_simhash.page.site.profiles.Keeper`."""
        self._connection.executemany("INSERT OR REPLACE INTO sites VALUES (?, ?)", profiles)
