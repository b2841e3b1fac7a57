"""NearDuplicateDetector: a page in, a verdict out. Knows no Scrapy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeGuard, cast

from scrapy_simhash.config import Config
from scrapy_simhash.fingerprint import Fingerprint
from scrapy_simhash.fingerprinter import SCHEME, PageFingerprinter, Reading
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.scope import scope_function
from scrapy_simhash.store import AsyncStore, Claim, Header, MemoryStore, Page, Posting, Store, Visit
from scrapy_simhash.text import Html
from scrapy_simhash.verdict import Reason, Status, Verdict


class NearDuplicateDetector:
    """Judges pages one after another, each against all that came before.

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
        store: Store | AsyncStore | None = None,
        clock: Callable[[], float] = time.time,
        *,
        fingerprinter: PageFingerprinter | None = None,
    ) -> None:
        """Make a detector that remembers in *store*: in memory if None, else one that was opened for its header.

        With an `AsyncStore` only the methods that are coroutines can be called. *clock* tells when a page is seen, in
        seconds of Unix time. *fingerprinter* is one of the same *config*, if there is one already.

        A detector that has seen no page, and was given no store, can be pickled and copied: the copy is empty, with
        the same *config*, *clock* and *fingerprinter*. Any other detector raises TypeError.
        """
        self._clock = clock
        # What is to be put right in the store, by key: the text that was handed on after all, None for a doubt.
        self._amendments: dict[bytes, Reading | None] = {}
        self._amending = asyncio.Lock()
        self.config = config or Config()
        self._scope_of = scope_function(self.config.scope)
        self.fingerprinter = fingerprinter or PageFingerprinter(self.config)
        self._was_given_store = store is not None
        # An empty store is false, since it has a length.
        self.store: Store | AsyncStore = (
            MemoryStore(header_for(self.config), self.config.blocks) if store is None else store
        )
        #: The pages of this crawl once more, whatever their scopes.
        self._everywhere = (
            MemoryStore(header_for(self.config), self.config.blocks) if self.config.across_scopes else None
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle an empty detector as what it was made of; raise TypeError for any other."""
        name = type(self).__name__
        advice = "pickle its config or its fingerprinter"
        if self._was_given_store:
            raise TypeError(
                f"a {name} that was given a store ({type(self.store).__name__}) cannot be pickled or copied, since"
                f" two detectors cannot share one: {advice}, and open a store in the other process"
            )
        seen = len(cast(MemoryStore, self.store))
        if seen or self._amendments:
            raise TypeError(
                f"a {name} that has seen pages ({seen}) cannot be pickled or copied, since the copy would not learn"
                f" of later pages: {advice}, call read() in the other processes and conclude() in this one"
            )
        return partial(type(self), fingerprinter=self.fingerprinter), (self.config, None, self._clock)

    def check(
        self,
        html: Html,
        url: str,
        *,
        key: bytes | None = None,
        content_type: str | None = None,
        content_language: str | None = None,
    ) -> Verdict:
        """Return the verdict on a page, and remember the page.

        *html*, *content_type* and *content_language* are as for
        :meth:`PageFingerprinter.extract() <scrapy_simhash.PageFingerprinter.extract>`. *key* says when two visits are
        visits of one page, by default when *url* is the same. The fingerprint takes most of the time; the
        look-up and the insert that follow are one step.

        Raises TypeError for a type that is no page, whatever the markup, and StoreUnavailable when the store does not
        work; the page is not remembered then.
        """
        maxsize = self.config.maxsize
        if maxsize and isinstance(html, str | bytes) and len(html) > maxsize:
            return Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)
        reading = self.fingerprinter.read(html, content_type=content_type, content_language=content_language)
        return self.conclude(reading, url, key=key)

    def conclude(
        self,
        reading: Reading,
        url: str,
        *,
        key: bytes | None = None,
        remember: bool = True,
        drops_copies: bool = False,
    ) -> Verdict:
        """Return the verdict on a page that has been read, and remember the page, if asked to; see check().

        *drops_copies* says that the page goes no further if it repeats another one: then its text is not settled.
        Look-up and insert are one step; call it from one thread at a time.
        """
        if self._amendments:
            self.amend()
        posting = self._posting(reading, url, key, drops_copies)
        if posting is None:
            return _NOTHING_SAID
        store = self._local_store()
        if remember:
            for version in _versions(posting):
                former = _outdated(store.get(version))
                if former is None:
                    break
                store.claim(former)
        return self._verdict(posting, store.claim(posting) if remember else store.look(posting))

    async def conclude_async(
        self,
        reading: Reading,
        url: str,
        *,
        key: bytes | None = None,
        remember: bool = True,
        drops_copies: bool = False,
    ) -> Verdict:
        """Do what ``conclude`` does, with any store; any number of pages may wait for theirs at once."""
        if not is_async(self.store):
            return self.conclude(reading, url, key=key, remember=remember, drops_copies=drops_copies)
        if self._amendments:
            await self.amend_async()
        posting = self._posting(reading, url, key, drops_copies)
        if posting is None:
            return _NOTHING_SAID
        if remember:
            for version in _versions(posting):
                former = _outdated(await self.store.get(version))
                if former is None:
                    break
                await self.store.claim(former)
        claim = await (self.store.claim(posting) if remember else self.store.look(posting))
        return self._verdict(posting, claim)

    def judge(self, fingerprint: Fingerprint, url: str, *, key: bytes | None = None) -> Verdict:
        """Return the verdict on a page whose fingerprint is known, and remember the page; see check().

        Without its text, a page is unchanged when its fingerprint is.
        """
        return self.conclude(Reading(fingerprint, None), url, key=key)

    def doubt(self, key: bytes) -> None:
        """Note that what was made of the page *key* was lost: its text is settled only if an earlier run did that.

        The store learns of it with the next page, or by ``amend``.
        """
        self._amendments |= {key: None, _SHORT + key: None}

    def vouch(self, key: bytes, reading: Reading) -> None:
        """Note that a page was handed on after all: it was claimed with *drops_copies*, and repeats another.

        Nothing follows if the page has another text when the store learns of it.
        """
        key = key if reading.fingerprint is not None else _SHORT + key
        # What is doubted stays so.
        if self._amendments.get(key, reading) is not None:
            self._amendments[key] = reading

    def amend(self) -> None:
        """Tell the store what is to be put right. Raises StoreUnavailable; the rest can be told later."""
        store = self._local_store()
        while self._amendments:
            key, vouched = next(iter(self._amendments.items()))
            amended = _amended(store.get(key), vouched)
            if amended is not None:
                store.claim(amended)
            del self._amendments[key]

    async def amend_async(self) -> None:
        """Do what ``amend`` does, with any store."""
        if not is_async(self.store):
            self.amend()
            return
        # One after another: a doubt must not be overtaken by what it is about.
        async with self._amending:
            while self._amendments:
                key, vouched = next(iter(self._amendments.items()))
                amended = _amended(await self.store.get(key), vouched)
                if amended is not None:
                    await self.store.claim(amended)
                if self._amendments[key] is vouched:  # nothing else was noted meanwhile
                    del self._amendments[key]

    def _posting(self, reading: Reading, url: str, key: bytes | None, drops_copies: bool) -> Posting | None:
        """Return what is asked of the store, None for a page that says nothing."""
        page_key = url.encode("utf-8", "surrogatepass") if key is None else key
        scope = self._scope_of(url)
        now = int(self._clock())
        if reading.fingerprint is not None:
            return Posting(
                page_key,
                url,
                scope,
                reading.fingerprint,
                text_hash=reading.text_hash,
                seen=now,
                is_dropped_as_copy=drops_copies,
            )
        if reading.text_hash is None:
            return None
        # A key of its own: what a page says in three words is no earlier version of what it says in a thousand.
        short = Fingerprint(reading.text_hash)
        return Posting(
            _SHORT + page_key,
            url,
            scope,
            short,
            is_exact=True,
            text_hash=reading.text_hash,
            seen=now,
            is_dropped_as_copy=drops_copies,
        )

    def _verdict(self, posting: Posting, claim: Claim) -> Verdict:
        verdict = verdict_of(posting, claim)
        if self._everywhere is None:
            return verdict
        # All are remembered there; who only looks has a crawl of one page.
        original = self._everywhere.claim(posting._replace(scope="")).original
        is_elsewhere = original is not None and self._scope_of(original) != posting.scope
        if not is_elsewhere or verdict.status is Status.SKIPPED:
            return verdict
        return replace(verdict, elsewhere=original)

    def _local_store(self) -> Store:
        if is_async(self.store):
            raise TypeError(
                f"a {type(self.store).__name__} is asked by coroutines: await conclude_async() instead"
            )
        return cast(Store, self.store)


_SHORT = b"short "
_NOTHING_SAID = Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)


def header_for(config: Config) -> Header:
    """Return the header of a store for fingerprints that are made and compared by *config*."""
    return Header.of(config, SCHEME)


def is_async(store: Store | AsyncStore) -> TypeGuard[AsyncStore]:
    """Tell whether the methods of *store* are coroutines."""
    return hasattr(store, "__aiter__")


def _versions(posting: Posting) -> tuple[bytes, ...]:
    """Return the keys under which a page that is short now may have had another text, the long one first."""
    return (posting.key.removeprefix(_SHORT), posting.key) if posting.is_exact else ()


def _outdated(page: Page | None) -> Posting | None:
    """Return what says that *page* has had another text since, None if that is known, or there is no such page.

    When it has its old text again, it is no unchanged page: a long text and a short one have keys of their own, and
    neither would know of the other.
    """
    if page is None or page.posting.text_hash is None:
        return None
    return page.posting._replace(text_hash=None, is_handed_on=False)


def _amended(page: Page | None, vouched: Reading | None) -> Posting | None:
    """Return what puts *page* right as it is kept, None if there is nothing to be put right.

    *vouched* is the text that was handed on, None if the page is doubted.
    """
    if page is None or page.posting.is_handed_on:
        # Settled by an earlier run, which nothing takes back.
        return None
    if vouched is not None and not _has_text(page.posting, vouched):
        # It came again meanwhile, and whoever judged it then has told what became of that.
        return None
    return page.posting._replace(is_handed_on=vouched is not None)


def _has_text(posting: Posting, reading: Reading) -> bool:
    value = reading.text_hash if reading.fingerprint is None else reading.fingerprint.value
    return (posting.fingerprint.value, posting.text_hash) == (value, reading.text_hash)


def verdict_of(posting: Posting, claim: Claim) -> Verdict:
    """Return what a claim says about the page that asked."""
    fingerprint = None if posting.is_exact else posting.fingerprint
    short = Reason.SHORT_TEXT if posting.is_exact else None
    if posting.is_exact and claim.original is None:
        return _NOTHING_SAID
    former = claim.former
    if former is None:
        status = Status.NEW if claim.original is None else Status.NEAR_DUPLICATE
        return Verdict(
            status,
            fingerprint,
            claim.original,
            claim.distance,
            claim.similarity,
            claim.cluster,
            short,
            is_exact=claim.is_same_text,
            rank=claim.rank,
        )
    return Verdict(
        Status.REVISIT,
        fingerprint,
        claim.original,
        claim.distance if posting.is_exact else hamming_distance(former.value, posting.fingerprint.value),
        claim.similarity,
        claim.cluster,
        _fate(posting, former, claim),
        former.seen,
        former.is_settled,
        claim.is_same_text,
        claim.rank,
    )


def _fate(posting: Posting, former: Visit, claim: Claim) -> Reason:
    """Return how a page has fared since it was seen last."""
    if (former.value, former.text_hash) == (posting.fingerprint.value, posting.text_hash):
        return Reason.HANDED_ON if former.is_live else Reason.UNCHANGED
    if claim.content == former.content:
        return Reason.SMALL_CHANGE
    return Reason.CHANGED if claim.original is None else Reason.NOW_NEAR_DUPLICATE
