"""Store: the memory of who was seen. One small protocol, whatever keeps it.

A *page* is what has a key. A *content* is what can be found: what a page said first, and no other page before it.
Each page has one content at a time, its own or that of another page, which it repeats; the page that a content came
from gives its number to the *cluster*::

    page 0  /ferry          --> content 0, of page 0      cluster 0
    page 1  /ferry?print=1  --> content 0, of page 0      cluster 0
    page 2  /pilot          --> content 1, of page 2      cluster 2

A *run* is one crawl, or one import, that wrote to the store: from its opening to its closing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.header import Header
from scrapy_simhash.verdict import NearMiss


class Posting(NamedTuple):
    """A page as it asks to be remembered."""

    key: bytes
    """What makes a page itself: Scrapy's request fingerprint, not the URL's text."""
    url: str
    """Where it was found; of a page that came again, the latest."""
    scope: str
    """Pages are compared with those of their own scope only."""
    fingerprint: Fingerprint
    """Its value and its sketch are kept; the number of its features is not."""
    is_short: bool = False
    """Whether only an equal value is a match: a page too short for a fingerprint, whose value is the hash of its
    text. Short pages are compared with short ones only."""
    text_hash: int | None = None
    """64-bit hash of title and text, by which an unchanged page is told; None when nobody knows it."""
    seen: int = 0
    """When the page was fetched, in whole seconds of Unix time."""
    is_delivered: bool = True
    """False for a page of which nobody knows whether its items were kept, as after a kill: it is never *settled*.
    To say so of a page after its claim, see :meth:`Store.unsettle`."""


class Visit(NamedTuple):
    """What the store kept of a page's last visit."""

    value: int
    text_hash: int | None
    seen: int
    """Seconds of Unix time."""
    content: int
    """Number of the content it had."""
    is_settled: bool
    """Whether this very text was delivered in a run that has ended in order: what was made of it is safe."""
    is_short: bool = False
    """Whether the page was too short for a fingerprint: *value* is the hash of its text then."""
    is_live: bool = False
    """Whether it was delivered in another run that is live: not over, with a recent heartbeat, which came after this
    run began. False from a store that was not asked to find out, or that has one run at a time."""


class Claim(NamedTuple):
    """What the store knew when a page asked."""

    former: Visit | None
    """The last visit of the same page; None at its first."""
    content: int
    """Number of the content, counted from 0 in the order in which contents came."""
    cluster: int
    """Number of the page whose content this is: its own when the content is new."""
    original: str | None
    """URL of that page, None when it is the page itself."""
    distance: int | None
    """Bits from the content of that page that decided, None when it is the page itself."""
    similarity: float | None
    """How alike the two are by the rule, 0-1, None when it is the page itself."""
    is_same_text: bool = False
    """Whether it is that page's text to the letter: the content came with the text hash that the page asks with, and
    both are known. Every copy of a short page has it. False when the page is the original itself."""
    rank: int | None = None
    """How many pages had joined the cluster before this one did: 0 for the page that it is named after, then 1, 2,
    and so on. A page keeps its rank for as long as it stays, and takes a new one if it comes back; none is given
    twice. None from a store that does not count."""
    original_key: bytes | None = None
    """Key of the page in *original*, None when it is the page itself, or from a store that does not tell."""
    is_by_learning: bool = False
    """Whether own parts made the difference: by all its text the page would repeat none of the pages that it was
    compared with, although it does, or would repeat one, although it does not. False from a store that does not
    tell."""
    threshold: float | None = None
    """See :class:`~scrapy_simhash.Verdict`: of what decided; None from a store that does not explain."""
    near_miss: NearMiss | None = None
    """See :class:`~scrapy_simhash.Verdict`; None from a store that does not explain."""
    decided_by: str | None = None
    """See :class:`~scrapy_simhash.Verdict`, as the next one; None from a store that does not explain."""
    required: float | None = None
    elsewhere: str | None = None
    """URL of the page that came first with this very text in any scope, perhaps this one's; None if it is the page
    itself, or from a store that does not tell."""


class Page(NamedTuple):
    """A page as the store knows it."""

    number: int
    """Counted from 0, in the order of first visits."""
    posting: Posting
    """The latest; ``is_delivered`` says whether it is settled by now."""
    content: int
    cluster: int
    original: str | None
    """URL of the page that it repeats; None when it is an original, or when that page was removed."""


class Run(NamedTuple):
    """One crawl, or one import, that wrote to the store."""

    number: int
    """Counted from 1."""
    started: int
    """Seconds of Unix time."""
    ended: int | None
    """None while it goes on, and for ever if it was killed."""
    reason: str | None
    """Why it ended, in Scrapy's words: ``finished``, ``shutdown``, ``closespider_pagecount``, ..."""


@runtime_checkable
class Store(Protocol):
    """Keeps postings and answers which of them a new one repeats. One thread at a time.

    Whatever goes wrong while it works raises StoreUnavailable, and then nothing of that call was stored: the caller
    goes on without an answer and may ask again later. If that is of no use, because what is kept of the page itself
    is damaged, it raises RecordDamaged. All other pages are judged as if the damaged one had been removed.
    """

    @property
    def header(self) -> Header:
        """What the fingerprints in here were made and compared by."""
        ...

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found: contents that are not short."""
        ...

    def __len__(self) -> int:
        """Return how many pages are known, whatever became of them."""
        ...

    def claim(self, posting: Posting) -> Claim:
        """Look *posting* up and remember it, in one step that nothing comes between.

        Content that is a near-duplicate, by the rule of the header, of what another page had first belongs to that
        page's cluster and is not stored as an original: clusters do not drift along chains A ~ B ~ C. Among several
        such contents the page's own goes first, then those of the cluster it was in, then the most alike, then
        the nearest, then the oldest. A page that changed is compared again; its earlier content stays known as its
        own.
        """
        ...

    def look(self, posting: Posting) -> Claim:
        """Return what ``claim`` would, and store nothing. New content has the numbers that it would get."""
        ...

    def unsettle(self, keys: Collection[bytes]) -> None:
        """Note that the items of these pages were dropped or lost in this run: it does not settle them. One step.

        A claim is taken for delivered until this is called. Only pages that were delivered in this run change: what
        another run has delivered, and pages that are not known, are left alone. A later claim of the same page counts
        as delivered again. A page whose record is damaged is passed over: nobody is told that it is settled.
        """
        ...

    def get(self, key: bytes) -> Page | None:
        """Return what is known about a page, None if nothing is."""
        ...

    def remove(self, key: bytes) -> bool:
        """Forget a page, and return whether it was known.

        The contents that came from it are not found any more. Pages that repeat them stay, without an
        original, and are compared anew at their next visit. Numbers are not used again.
        """
        ...

    def __iter__(self) -> Iterator[Posting]:
        """Yield a posting for every content and every page: claimed in this order they make a store like this.

        Page after page by number; of one page, the contents that it had before come first. The store must not change
        meanwhile.
        """
        ...

    def runs(self) -> list[Run]:
        """Return the runs, oldest first, the present one included."""
        ...

    def close(self, reason: str = "finished") -> None:
        """End the run, in order, and let go of whatever is held. Closing again does nothing."""
        ...

    def abandon(self) -> None:
        """Let go of whatever is held without ending the run, as a kill does: the run settles no page.

        Called in place of ``close`` if ``unsettle`` has failed at the end of a crawl.
        """
        ...


@runtime_checkable
class ListsPages(Protocol):
    """A store that reads all pages faster than one by one."""

    def pages(self) -> Iterator[Page]:
        """Yield every page as it is at its latest visit, in the order of first visits."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A `Store` or an `AsyncStore` whose claims can tell thresholds and near misses."""

    explains: bool
    """Whether they do, at the cost of a look-up more for each new page that had candidates."""


@runtime_checkable
class KeepsSites(Protocol):
    """A store that also keeps what was learned about sites: see :class:`~scrapy_simhash.page.site.SiteProfile`."""

    def load_site(self, host: str) -> bytes | None:
        """Return the profile of *host*, None if there is none. Raises StoreUnavailable."""
        ...

    def keep_sites(self, profiles: Iterable[tuple[str, bytes]]) -> None:
        """Keep the profiles of hosts, each in place of its former one. Raises StoreUnavailable."""
        ...

    def sites(self) -> Iterator[tuple[str, bytes]]:
        """Yield each host with its profile, in the order of hosts."""
        ...


@runtime_checkable
class SharesSites(Protocol):
    """An `AsyncStore` that also keeps what was learned about sites, for all crawlers that share it.

    Every profile has a version, which changes whenever somebody writes it. So a crawler can join what others have
    learned with its own, and nothing is lost.
    """

    async def load_site(self, host: str, known: bytes = b"") -> tuple[bytes, bytes | None]:
        """Return the version of the profile of *host* and the profile; ``(b"", None)`` if there is none.

        None in place of a profile whose version is *known*. Raises StoreUnavailable.
        """
        ...

    async def replace_site(self, host: str, former: bytes, profile: bytes) -> bytes | None:
        """Keep *profile* if the version of the one in its place is *former*, empty for none; return the new version.

        None if it has another version, and then nothing was changed. One step. Raises StoreUnavailable.
        """
        ...

    def sites(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield each host with its profile, in the order of hosts."""
        ...


#: How often another crawler may be faster at writing a profile, before the caller hears of it.
_LOSSES = 50


async def change_site(store: SharesSites, host: str, change: Callable[[bytes | None], bytes | None]) -> None:
    """Keep what *change* makes of the profile of *host*, or of None if there is none, whoever writes it meanwhile.

    *change* is called again whenever somebody else was faster; it returns None for a profile that is to stay as it
    is. Two trips for each time. Raises StoreUnavailable, also if others keep being faster.
    """
    for _ in range(_LOSSES):
        version, kept = await store.load_site(host)
        profile = change(kept)
        if profile is None or await store.replace_site(host, version, profile) is not None:
            return
    raise StoreUnavailable(f"crawlers kept changing the profile of {host}")


class Answered(NamedTuple):
    """What is known of a page before it is asked for again."""

    seen: int
    """When it was fetched last, in seconds of Unix time."""
    is_settled: bool
    """See `Visit`."""
    text_hash: int | None
    """See `Posting`."""
    value: int
    is_short: bool
    cluster: int
    original: str | None
    """The last four: see `Visit` and `Page`."""
    about: bytes
    """What was kept of its latest answer."""
    requests: bytes
    """What was kept of the requests in it, empty for none."""


@runtime_checkable
class KeepsAnswers(Protocol):
    """A store that also keeps what a crawl made of each page's latest answer; of an AsyncStore all are coroutines.

    It does not look into the bytes. They are forgotten with their page.
    """

    def answer(self, key: bytes) -> Answered | None:
        """Return what is known of a page, None if the page or its answer is not. Raises StoreUnavailable."""
        ...

    def keep_answers(self, answers: Collection[tuple[bytes, int, bytes, bytes]]) -> None:
        """Keep answers: of each the key of its page, the time of the visit, what is to be known of it, its requests.

        The visit is the page's last one from now on. Answers of pages that are not known are passed over. One step.
        Raises StoreUnavailable.
        """
        ...


@runtime_checkable
class AsyncStore(Protocol):
    """A `Store` somewhere else: the same methods with the same meaning, but those that wait are coroutines.

    Any number of claims may wait at once. Look-up and insert are one step at the other end, so that two machines that
    ask at once never both hear "new". Where no answer comes, StoreUnavailable is all that is known: the other end may
    have stored the claim, and whoever asks again may hear of a revisit.
    """

    @property
    def header(self) -> Header:
        """See :attr:`Store.header`."""
        ...

    @property
    def index_size(self) -> int:
        """See :attr:`Store.index_size`; as of the last answer."""
        ...

    def __len__(self) -> int:
        """Return how many pages are known, as of the last answer."""
        ...

    async def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim`."""
        ...

    async def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look`."""
        ...

    async def unsettle(self, keys: Collection[bytes]) -> None:
        """See :meth:`Store.unsettle`."""
        ...

    async def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get`."""
        ...

    async def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove`."""
        ...

    def __aiter__(self) -> AsyncIterator[Posting]:
        """See :meth:`Store.__iter__`."""
        ...

    async def runs(self) -> list[Run]:
        """See :meth:`Store.runs`."""
        ...

    async def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close`."""
        ...

    async def abandon(self) -> None:
        """See :meth:`Store.abandon`."""
        ...
