"""Store: the memory of who was seen. One small class, whatever keeps it.

A *page* is what has a key. A *content* is what can be found: what a page said first, and no other page before it.
Each page has one content at a time, its own or that of another page, which it repeats; the page that a content came
from gives its number to the *cluster*::

    page 0  /ferry          --> content 0, of page 0      cluster 0
    page 1  /ferry?print=1  --> content 0, of page 0      cluster 0
    page 2  /pilot          --> content 1, of page 2      cluster 2

A *run* is one crawl, or one import, that wrote to the store: from its opening to its closing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import Name, Note
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.header import Header
from scrapy_simhash.verdict import NearMiss
from scrapy_simhash.waiting import Answer


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
    also_near: tuple[int, ...] = ()
    """Numbers of the other clusters with a content that the page repeats, among those that it was compared with, or
    with one of the first copies that it is near (see ``candidates``): none where it has a text that was known. With
    its own they are one group of pages; which page it repeats, and so what may be dropped, they do not change."""
    contradicts: bool = False
    """Whether the facts of the page contradict those of the page in *original*: it is a content of its own all the
    same, in a cluster of its own, so that its own copies are found. Never of a page whose text others have."""


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


class Store(ABC):
    """Keeps postings and answers which of them a new one repeats.

    Every method returns its answer, or an awaitable of it where `is_remote` is true. Whatever goes wrong while it
    works raises StoreUnavailable, and then nothing of that call was stored: the caller goes on without an answer and
    may ask again later. If that is of no use, because what is kept of the page itself is damaged, it raises
    RecordDamaged. All other pages are judged as if the damaged one had been removed. One thread at a time.

    A subclass is made with its header, and has `claim`, `get`, `close`, ``__len__``, and ``__iter__`` (``__aiter__``
    if it is remote), which yields a posting for every content and every page: claimed in this order they make a store
    like this. Page after page by number; of one page, the contents that it had before come first. The store must not
    change meanwhile. What else a subclass does not have does what is said here.
    """

    #: Whether it is elsewhere: methods may return awaitables, any number of claims may wait at once, and other
    #: crawlers may use it at the same time. Look-up and insert are one step at the other end, so that two machines
    #: that ask at once never both hear "new". Where no answer comes, StoreUnavailable is all that is known: the claim
    #: may have been stored, and whoever asks again may hear of a revisit.
    is_remote = False
    #: Kinds of notes that outlive the crawl. Of others `note` returns none, and `replace_notes` keeps nothing.
    note_kinds: Collection[str] = ()
    #: Whether claims tell thresholds and near misses, at the cost of a look-up more for each new page that had
    #: candidates. Is set by who reads them; a store need not care.
    explains = False
    #: What could not be read, from a store that finds that out.
    damage: Damage | None = None

    def __init__(self, header: Header | None) -> None:
        self._header = header

    @property
    def header(self) -> Header:
        """What the fingerprints in here were made and compared by. StoreError before anybody knows it."""
        if self._header is None:
            raise StoreError(f"{self} has no header before the first question to the server")
        return self._header

    def __str__(self) -> str:
        """Return where it is, as messages say it."""
        return f"the store of class {type(self).__name__}"

    @property
    def absence(self) -> StoreError | None:
        """Why it cannot be asked, as of the last attempt; None while it can."""
        return None

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found: contents that are not short. As many as pages where nobody counts."""
        return len(self)

    @abstractmethod
    def __len__(self) -> int:
        """Return how many pages are known, whatever became of them; of a remote store as of the last answer."""

    @abstractmethod
    def claim(self, posting: Posting) -> Answer[Claim]:
        """Look *posting* up and remember it, in one step that nothing comes between.

        Content that is a near-duplicate, by the rule of the header, of what another page had first belongs to that
        page's cluster and is not stored as an original: clusters do not drift along chains A ~ B ~ C. Among several
        such contents the page's own goes first, then those that it does not contradict, of these the ones of the
        cluster it was in, then the most alike, then the nearest, then the oldest. A page that changed is compared
        again; its earlier content stays known as its own.
        """

    def look(self, posting: Posting) -> Answer[Claim]:
        """Return what ``claim`` would, and store nothing. New content has the numbers that it would get.

        Raises StoreUnavailable where there is no such look: commands such as ``scrapy shell`` compare nothing then.
        """
        raise StoreUnavailable(f"{self} cannot compare a page without storing it")

    def unsettle(self, keys: Collection[bytes]) -> Answer[None]:
        """Note that the items of these pages were dropped or lost in this run: it does not settle them. One step.

        A claim is taken for delivered until this is called. Only pages that were delivered in this run change: what
        another run has delivered, and pages that are not known, are left alone. A later claim of the same page counts
        as delivered again. A page whose record is damaged is passed over: nobody is told that it is settled.

        A store whose visits are never settled has nothing to do.
        """
        return None

    def touch(self, visits: Collection[tuple[bytes, int]]) -> Answer[None]:
        """Note that pages had not changed at a later visit: of each its key, and the time, in seconds of Unix time.

        Pages that are not known are passed over. A store that does not care keeps the time of the visit before.
        """
        return None

    @abstractmethod
    def get(self, key: bytes) -> Answer[Page | None]:
        """Return what is known about a page, None if nothing is."""

    def remove(self, key: bytes) -> Answer[bool]:
        """Forget a page and its notes, and return whether it was known.

        The contents that came from it are not found any more. Pages that repeat them stay, without an
        original, and are compared anew at their next visit. Numbers are not used again.

        Raises StoreError from a store that forgets nothing.
        """
        raise StoreError(f"{self} cannot remove pages")

    def pages(self) -> Iterator[Page] | AsyncIterator[Page]:
        """Yield every page as it is at its latest visit, in the order of first visits."""
        keys = dict.fromkeys(posting.key for posting in cast("Iterable[Posting]", self))
        return (page for page in map(self.get, keys) if isinstance(page, Page))

    def runs(self) -> Answer[list[Run]]:
        """Return the runs, oldest first, the present one included; none where they are not kept."""
        return []

    def note(self, kind: str, name: Name) -> Answer[tuple[int, bytes | None]]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`."""
        return 0, None

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]] | AsyncIterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`."""
        return iter(())

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> Answer[list[int | None]]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`."""
        return [1] * len(notes)

    def audit(self, tell: Callable[[int], None]) -> Answer[list[str]]:
        """Return the damaged records, as messages name them; *tell* hears how many postings were read so far.

        Raises StoreError from a store that cannot tell.
        """
        raise StoreError(f"{self} cannot be checked: stores in an SQLite file and in Redis can")

    @abstractmethod
    def close(self, reason: str = "finished") -> Answer[None]:
        """End the run, in order, and let go of whatever is held. Closing again does nothing."""

    def abandon(self) -> Answer[None]:
        """Let go of whatever is held without ending the run, as a kill does: the run settles no page.

        Called in place of ``close`` if ``unsettle`` has failed at the end of a crawl. A store whose visits are never
        settled can end its run.
        """
        return self.close("abandoned")
