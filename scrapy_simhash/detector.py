"""NearDuplicateDetector: compare pages without Scrapy."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading, scheme_name, scheme_of
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.judge.measured import BASES, BY_EQUAL_TEXT
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.page.site import SiteProfiles
from scrapy_simhash.page.text import Html
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import Claim, Header, Posting, Row, Store
from scrapy_simhash.store.candidates import distance_of
from scrapy_simhash.verdict import NearMiss, Reason, Status, Verdict
from scrapy_simhash.waiting import maybe_await, run_in, run_sync

if TYPE_CHECKING:
    from scrapy_simhash.store.sqlite import SqliteStore

_T = TypeVar("_T")


class NearDuplicateDetector:
    """Compares each page with all earlier pages.

    >>> story = "<p>" + " ".join(f"the ship and {word} went out to the sea" for word in "abcdefgh")
    >>> detector = NearDuplicateDetector()
    >>> detector.check(story, "https://example.com/story").status.value
    'new'
    >>> again = detector.check(story + "<p>Buy boats!", "https://example.com/story?print=1")
    >>> again.status.value, again.duplicate_of, again.distance
    ('near_duplicate', 'https://example.com/story', 0)
    """

    def __init__(
        self,
        config: Config | None = None,
        store: Store | str | PathLike[str] | None = None,
        clock: Callable[[], float] = time.time,
        *,
        fingerprinter: PageFingerprinter | None = None,
    ) -> None:
        """Create a detector that stores pages in *store*: None for memory, a path for an SQLite file.

        Open any other store with the same header, see `header_for`. Call `close` at the end.

        With a remote store, synchronous methods run an event loop of this detector; inside a running event loop, call
        the coroutine methods. *clock* returns Unix time in seconds. *fingerprinter* is an existing fingerprinter with
        the same *config*.
        """
        self._clock = clock
        # Page hashes of delivered pages, by key: those to be stored, and those being stored.
        self._delivered: dict[bytes, int | None] = {}
        self._being_stored: dict[bytes, int | None] = {}
        self._storing = asyncio.Lock()
        self._first_waits_since = 0.0
        self.config = config or Config()
        self._scope_of = scope_function(self.config.scope)
        self._has_scopes = self.config.scope != "crawl"
        self.fingerprinter = fingerprinter or PageFingerprinter(self.config)
        if isinstance(store, str | PathLike):
            from scrapy_simhash.store.sqlite import SqliteStore

            store = SqliteStore(store, header_for(self.config))
        # Compare with None, because an empty store is false.
        self.store: Store = self._new_store() if store is None else store
        # The event loop for a remote store in synchronous code.
        self._loop: asyncio.AbstractEventLoop | None = None
        # For `verdict_of`. Explanations take a few microseconds per page.
        explains = store is None or self.config.report is not None
        self.explains_by: Rule | None = self.fingerprinter.rule if explains else None
        # Boilerplate models of hosts, if the rule uses them.
        self.sites: SiteProfiles | None = None
        if self.config.site_learning and self.fingerprinter.rule.compares_sketches:
            self.sites = SiteProfiles(self.store if SITE in self.store.note_kinds else None)
        self._learned = 0

    def check(
        self,
        html: Html,
        url: str,
        *,
        key: bytes | None = None,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Verdict:
        """Return the verdict on a page, and store the page.

        *html*, *content_type* and *content_language* are as for
        :meth:`PageFingerprinter.extract() <scrapy_simhash.PageFingerprinter.extract>`. *key* identifies the page on
        later visits; the default is *url*. Lookup and insert are atomic.

        Raises TypeError if *html* has another type, and StoreUnavailable if the store fails; then the page is not
        stored. Invalid HTML does not raise an exception.
        """
        maxsize = self.config.maxsize
        if maxsize and isinstance(html, str | bytes) and len(html) > maxsize:
            return Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)
        if self.store.is_remote:
            self._run_sync(self.load_site(url))
        reading = self.read(html, url, content_type=content_type, content_language=content_language)
        return self.conclude(reading, url, key=key)

    async def load_site(self, url: str) -> None:
        """Load the boilerplate model of the host of *url* from a remote store. Await this before read().

        Never raises: if the store fails, the host is unknown.
        """
        if self.sites is not None and self.store.is_remote:
            await self.sites.load(url)

    def read(
        self,
        html: Html,
        url: str,
        *,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Reading:
        """Return the fingerprint and hashes of a page for conclude(), with the unique text if boilerplate is learned.

        Arguments as for check(). Thread-safe.
        """
        return self.fingerprinter.read(
            html,
            content_type=content_type,
            content_language=content_language,
            site=None if self.sites is None else self.sites.of(url),
            url=url,
        )

    def conclude(
        self, reading: Reading, url: str, *, key: bytes | None = None, remember: bool = True
    ) -> Verdict:
        """Return the verdict on a *reading*, and store the page if *remember* is true; see check().

        Lookup and insert are atomic. Call this method from one thread at a time. If only the fingerprint of a page is
        known, pass ``Reading(fingerprint, None)``: the page counts as unchanged if its fingerprint is equal.
        """
        return self._run_sync(self.conclude_async(reading, url, key=key, remember=remember))

    async def conclude_async(
        self, reading: Reading, url: str, *, key: bytes | None = None, remember: bool = True
    ) -> Verdict:
        """Coroutine version of ``conclude``; any number of calls may wait for a remote store concurrently."""
        posting = self.posting(reading, url, key)
        if posting is None:
            return verdict_without_text(reading)
        claim = await self.claim(posting, remember)
        verdict = verdict_of(posting, claim, self.explains_by)
        sites = self.sites
        if remember and sites is not None and reading.fingerprint is not None and reading.pieces:
            if self.store.is_remote:
                await sites.load(url)
            sites.learn(url, reading.pieces, reading.fingerprint.sketch, int(self._clock()))
            self._learned += 1
            if self._learned % _PAGES_PER_WRITE == 0:
                await sites.share()
        return verdict

    async def unchanged(
        self, key: bytes, page_hash: int, key_of_url: Callable[[str], bytes]
    ) -> Verdict | None:
        """Return the stored verdict on a page that was not read; None unless the stored page hash is *page_hash*.

        The page is not compared: its original is the stored one. *key_of_url* returns the key of a URL. Raises
        StoreUnavailable.
        """
        page = await maybe_await(self.store.get(key))
        if page is None or page.posting.own_page_hash != page_hash:
            return None
        posting, original = page.posting, page.original
        claim = Claim(page, page.cluster, original, None if original is None else 0, None, rank=page.rank)
        verdict = verdict_of(posting, claim)
        if original is None:
            return verdict
        original_key = key_of_url(original)
        first = await maybe_await(self.store.get(original_key))
        is_exact = first is not None and first.posting.own_page_hash == page_hash
        return replace(verdict, original_key=original_key, is_exact=is_exact)

    async def claim(self, posting: Posting, remember: bool = True) -> Claim:
        """Look up *posting*, and store it if *remember* is true. Raises StoreUnavailable.

        Stores a pending delivery of the page first.
        """
        if not remember:
            return await maybe_await(self.store.look(posting))
        delivered, key = self._delivered, posting.key
        if key in self._being_stored or (
            delivered
            and (
                key in delivered
                or len(delivered) >= _MAX_DELIVERED
                or time.monotonic() - self._first_waits_since > _MAX_DELIVERY_AGE
            )
        ):
            await self.store_deliveries()
        answer = self.store.claim(posting)
        return answer if isinstance(answer, Claim) else await answer

    def deliver(self, key: bytes, page_hash: int | None) -> None:
        """Record that an item of the page *key* was delivered; *page_hash* is its ``Verdict.page_hash``.

        Deliveries are stored in batches: before the next claim of the page, when 500 are pending, after 0.2 s, or by
        flush().
        """
        if not self._delivered:
            self._first_waits_since = time.monotonic()
        self._delivered[key] = page_hash

    def flush(self) -> None:
        """Store pending deliveries and boilerplate models.

        Raises StoreUnavailable; then the deliveries stay pending.
        """
        self._run_sync(self.flush_async())

    async def flush_async(self) -> None:
        """Coroutine version of ``flush``."""
        await self.store_deliveries()
        if self.sites is not None:
            await self.sites.share()

    def close(self, reason: str = "finished") -> None:
        """Flush, and close the store: the run ends with *reason*. Raises StoreUnavailable."""
        self.flush()
        self._run_sync(maybe_await(self.store.close(reason)))

    async def store_deliveries(self) -> None:
        """Store pending deliveries. Raises StoreUnavailable; then they stay pending."""
        async with self._storing:
            if not self._delivered:
                return
            pages, self._delivered = self._delivered, {}
            self._being_stored = pages
            try:
                await maybe_await(self.store.deliver(pages))
            except BaseException:
                self._delivered = pages | self._delivered
                raise
            finally:
                self._being_stored = {}

    def _run_sync(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine from synchronous code: for a remote store in an event loop of this detector."""
        if not self.store.is_remote:
            return run_sync(coroutine)
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            coroutine.close()
            raise TypeError(
                f"a {type(self.store).__name__} cannot be called synchronously while an event loop runs: await"
                " conclude_async() or flush_async() instead"
            )
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, self._loop.close)
        return run_in(self._loop, coroutine)

    def posting(self, reading: Reading, url: str, key: bytes | None = None) -> Posting | None:
        """Return the record to claim; None for a page without text. Arguments as for conclude()."""
        is_short = reading.fingerprint is None
        fingerprint = reading.fingerprint
        if fingerprint is None:
            if reading.page_hash is None:
                return None
            fingerprint = Fingerprint(reading.page_hash)
        if key is None:
            key = url.encode("utf-8", "surrogatepass")
        seen = int(self._clock())
        scope = self._scope_of(url) if self._has_scopes else ""
        return Posting(
            key, url, scope, fingerprint, is_short, reading.page_hash, seen, text_hash=reading.text_hash
        )

    def _new_store(self) -> SqliteStore:
        from scrapy_simhash.store.sqlite import SqliteStore

        return SqliteStore(header=header_for(self.config))


#: Number of pages between two writes of boilerplate models; a killed process loses at most the data of these pages.
_PAGES_PER_WRITE = 500
#: Max pending deliveries, which are lost if the process is killed.
_MAX_DELIVERED = 500
#: Max age of pending deliveries in seconds, checked by each claim, so that other crawlers see deliveries soon.
_MAX_DELIVERY_AGE = 0.2
#: The verdict on a page without text, which is not looked up.
NO_TEXT = Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)
_INTERSTITIAL = Verdict(Status.SKIPPED, reason=Reason.INTERSTITIAL)


def verdict_without_text(reading: Reading) -> Verdict:
    """Return the verdict on a page for which posting() returns None."""
    return _INTERSTITIAL if reading.is_interstitial else NO_TEXT


def header_for(config: Config) -> Header:
    """Return the header of a store for fingerprints computed and compared with *config*.

    Raises SettingError for an unknown scheme, and for a scheme of 128 bits, which no store supports.
    """
    scheme = scheme_of(config)
    if scheme is not None and scheme.width > Fingerprint.width:
        raise SettingError(f"SIMHASH_SCHEME must have at most 64 bits in a store, got {config.scheme!r}")
    return Header.of(config, scheme_name(config))


def verdict_of(posting: Posting, claim: Claim, explains_by: Rule | None = None) -> Verdict:
    """Return the verdict for a claim, with an explanation if there is a rule and the claim has a nearest page."""
    fingerprint = None if posting.is_short else posting.fingerprint
    short = Reason.SHORT_TEXT if posting.is_short else None
    if posting.is_short and claim.original is None:
        return replace(
            NO_TEXT, text_number=claim.cluster, page_hash=posting.own_page_hash, former=claim.former
        )
    former, distance, reason = claim.former, claim.distance, short
    if former is None:
        status = Status.NEW if claim.original is None else Status.NEAR_DUPLICATE
    else:
        status, reason = Status.REVISIT, _revisit_reason(posting, former, claim)
        if not posting.is_short:
            # Short pages have no fingerprint to compare.
            before = former.posting
            former_value = before.fingerprint.value
            distance = None if before.is_short else hamming_distance(former_value, posting.fingerprint.value)
        if distance is not None and former.is_unchanged(posting):
            distance = 0
    # This is faster than the constructor of a frozen dataclass, which calls a function per field.
    verdict = object.__new__(Verdict)
    vars(verdict).update(
        status=status,
        fingerprint=fingerprint,
        duplicate_of=claim.original,
        distance=distance,
        similarity=claim.similarity,
        cluster=claim.cluster,
        reason=reason,
        last_seen=None if former is None else former.posting.seen,
        # A page that was reported as gone is delivered again when it is back.
        is_delivered=reason is Reason.UNCHANGED
        and former is not None
        and former.delivered is not None
        and not former.is_gone,
        is_exact=claim.is_same_text,
        rank=claim.rank,
        is_by_learning=claim.is_by_learning,
        also_near=claim.also_near,
        contradicts=claim.contradicts,
        text_number=claim.cluster,
        page_hash=posting.own_page_hash,
        original_key=claim.original_key,
        former=former,
    )
    if explains_by is not None and claim.nearest is not None:
        return explained(verdict, posting, claim, explains_by)
    return verdict


#: Threshold, basis and required similarity of a page that has the text of a near-duplicate in the cluster, but is not
#: similar to the original.
_EQUAL_TEXT = 1.0, BASES[BY_EQUAL_TEXT], 1.0


def explained(verdict: Verdict, posting: Posting, claim: Claim, rule: Rule) -> Verdict:
    """Return *verdict* with the threshold and basis of the nearest candidate, or with the near miss."""
    nearest, page = claim.nearest, posting.fingerprint
    if nearest is None or posting.is_short:
        return verdict
    others = [nearest.compared]
    found = rule.nearest(page, others, claim.is_generic)
    is_near = any(near.similarity is not None for near in rule.compare_all(page, others, claim.is_generic))
    if claim.original is None:
        if found is None:
            return verdict
        if nearest.key == posting.key:
            return replace(verdict, threshold=found.threshold) if is_near else verdict
        miss = NearMiss(nearest.url, distance_of(page, nearest.compared), *found[1:])
        return replace(verdict, near_miss=miss)
    if not is_near:
        threshold, decided_by, required = _EQUAL_TEXT
    elif found is not None:
        _, _, threshold, decided_by, required = found
    else:
        return verdict
    return replace(verdict, threshold=threshold, decided_by=decided_by, required=required)


def _revisit_reason(posting: Posting, former: Row, claim: Claim) -> Reason:
    """Return how a page has changed since its previous visit."""
    if former.is_unchanged(posting):
        return Reason.UNCHANGED
    if claim.cluster == former.cluster:
        return Reason.SMALL_CHANGE
    return Reason.CHANGED if claim.original is None else Reason.NOW_NEAR_DUPLICATE
