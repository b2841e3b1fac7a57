"""Store: the interface of all stores.

A page has a key, and is one row. It is an *original*, which others are compared with, or a near-duplicate of one; the
number of the original is that of the *cluster*::

    page 0  /ferry          original 0
    page 1  /ferry?print=1  original 0
    page 2  /pilot          original 2

A small change of an original leaves its fingerprint as it is, so that clusters do not drift. If its new text is no
near-duplicate of its row, the row is replaced, and takes the next number: copies of its former text are new from then
on, and pages that were near-duplicates of it are compared again at their next visit.

A *run* is one crawl, or one import, that wrote to the store: from its opening to its closing.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, cast

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import Name, Note
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.scope import host_of
from scrapy_simhash.store.header import Header
from scrapy_simhash.waiting import Answer

logger = logging.getLogger(__name__)


class Touch(Enum):
    """How a page was met that was not read, which decides the times that change: see `Store.touch`."""

    VISITED = "visited"
    """The server answered that it is unchanged: one visit more, without a change."""
    SEEN = "seen"
    """The crawl has come across it and did not request it."""
    GONE = "gone"
    """It was requested and is not there, or a complete crawl did not come across it: a visit at which it was not
    seen. So a page is gone while its last visit is later than the time at which it was seen."""


class History(NamedTuple):
    """The visits of a page. ``seen``, the time of the latest one, is beside it wherever it occurs."""

    first_seen: int
    """Time of the first visit, in seconds of Unix time."""
    last_visit: int
    """Time of the last visit, also of one at which the page was unchanged or gone."""
    visits: int = 1
    """Number of visits, also of those at which the page was unchanged."""
    changes: int = 0
    """How many of them had another page hash than the one before."""

    def joined(self, other: History) -> History:
        """Return the history of a page that has both."""
        return History(
            min(self.first_seen, other.first_seen),
            max(self.last_visit, other.last_visit),
            self.visits + other.visits,
            self.changes + other.changes,
        )


class Posting(NamedTuple):
    """A page as it asks to be remembered."""

    key: bytes
    """Identifies the page: Scrapy's request fingerprint, not the URL's text."""
    url: str
    """Where it was found; of a page that came again, the latest."""
    scope: str
    """Pages are compared with those of their own scope only."""
    fingerprint: Fingerprint
    """Its value and its sketch are kept; the number of its features is not."""
    is_short: bool = False
    """Whether only equal texts match: a page too short for a fingerprint, whose value is its text hash. Short pages
    are compared with short ones only."""
    page_hash: int | None = None
    """64-bit hash of title, main text, facts and the lines of the article, by which unchanged pages and exact
    duplicates are found; None if it is not known."""
    seen: int = 0
    """When the page was fetched, in whole seconds of Unix time."""
    is_delivered: bool = False
    """Whether an item of the page was delivered since it has this text: of a page that is claimed, before the claim,
    as in an import. To say so of a page after its claim, see :meth:`Store.deliver`."""
    text_hash: int | None = None
    """64-bit hash of title and main text alone, None if it is not known. Pages with different facts may share it."""
    history: History | None = None
    """Of a page that comes from another store: its visits there, which are added to those in the row. A crawl claims
    without it, and *seen* counts as one visit."""

    @property
    def own_page_hash(self) -> int | None:
        """The page hash in its row: of a short page its value."""
        return self.fingerprint.value if self.is_short else self.page_hash


class Visit(NamedTuple):
    """The row of a page before a claim of it."""

    value: int
    """Text hash of the fingerprint in its row."""
    page_hash: int | None
    seen: int
    """Seconds of Unix time."""
    cluster: int
    """Number of the page that it was a near-duplicate of, or its own."""
    is_short: bool = False
    """Whether the page was too short for a fingerprint: *value* is the hash of its text then."""
    is_delivered: bool = False
    """Whether another run has delivered an item of it since it has this text. A page that is requested twice in one
    crawl is delivered twice: the two requests may have different callbacks."""
    history: History | None = None
    """Its visits before, None from a store that does not keep them."""

    @property
    def is_gone(self) -> bool:
        """Whether the page was not there at its last visit: see `Touch`."""
        return self.history is not None and self.history.last_visit > self.seen

    def is_unchanged(self, posting: Posting) -> bool:
        """Return whether *posting* has the page hash of the last visit; where none is known, whether its value."""
        its_hash = posting.own_page_hash
        return its_hash == self.page_hash and (
            its_hash is not None or self.value == posting.fingerprint.value
        )


class Candidate(NamedTuple):
    """The stored page that decided a claim: the original, or of a new page the most alike of all compared ones."""

    key: bytes
    url: str
    compared: bytes
    """`Fingerprint.compared_bytes` of its row."""
    is_generic: bool = False
    """Whether the title of the page that was claimed is generic, see ``candidates``."""


class Claim(NamedTuple):
    """The answer to a page: its row before, and the original that it is a near-duplicate of."""

    former: Visit | None
    """None at the first visit of a page."""
    cluster: int
    """Number of the original: the page's own if it is a near-duplicate of no other."""
    original: str | None
    """URL of the original, None when it is the page itself."""
    distance: int | None
    """Bits in which the nearest values of the page and the original differ, None when it is the page itself."""
    similarity: float | None
    """How alike the two are by the rule, 0-1, None when it is the page itself."""
    is_same_text: bool = False
    """Whether the original has this text, character for character: the text hashes are known and equal. Every copy of
    a short page has it. False when the page is the original itself."""
    rank: int | None = None
    """How many pages had joined the cluster before this one did: 0 for the original, then 1, 2, and so on. A page
    keeps its rank for as long as it stays, and takes a new one if it comes back; none is given twice. None from a
    store that does not count."""
    original_key: bytes | None = None
    """Key of the page in *original*, None when it is the page itself, or from a store that does not return it."""
    is_by_learning: bool = False
    """Whether unique text made the difference: by all its text the page would be a near-duplicate of none of the
    pages that it was compared with, although it is, or would be one of one, although it is not. False from a store
    that does not return it."""
    elsewhere: str | None = None
    """URL of the page that came first with this very text in any scope, perhaps this one's; None if it is the page
    itself, or from a store that does not return it."""
    also_near: tuple[int, ...] = ()
    """Numbers of the other originals that the page is a near-duplicate of, among those that it was compared with, and
    of those with a first copy that it is near (see ``candidates``): none where it has a text that was known. With its
    own they are one group of pages; they do not change which page is its original, and so what may be dropped."""
    contradicts: bool = False
    """Whether the facts of the page contradict those of the page in *original*: it is an original all the same, with
    its own number in *cluster*, so that its own copies are found. Never of a page whose text others have."""
    nearest: Candidate | None = None
    """The original, or of a new page the most alike of the pages that it was compared with: what explains the answer.
    None if nothing was compared, and from a store that does not explain."""


class Page(NamedTuple):
    """The row of a page."""

    number: int
    """Counted from 0. An original whose text is replaced takes the next number; numbers are not used again."""
    posting: Posting
    """As it is stored: the fingerprint is the one that other pages are compared with, URL, hashes and time are
    those of the last visit, and ``history`` has its visits, if the store keeps them."""
    cluster: int
    original: str | None
    """URL of the page that it is a near-duplicate of; None when it is an original, or when that page was removed or
    has another text now."""
    delivered: int | None = None
    """Number of the run in which an item of it was delivered last; None if none was since it has this text."""
    rank: int | None = None
    """See ``Claim``. None from a store that does not count."""

    @property
    def is_gone(self) -> bool:
        """Whether the page was not there at its last visit: see `Touch`."""
        history = self.posting.history
        return history is not None and history.last_visit > self.posting.seen


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

    Every method returns its answer, or an awaitable of it where `is_remote` is true. Any failure raises
    StoreUnavailable, and then nothing of that call was stored: the caller goes on without an answer and may ask again
    later. RecordDamaged is raised where that is of no use, because a record cannot be read. One thread at a time.

    A subclass is made with its header, and has `claim`, `get`, `close`, ``__len__``, and ``__iter__`` (``__aiter__``
    if it is remote), which yields the posting of every page by number: claimed in this order they make a store like
    this. The store must not change meanwhile. Every other method has a default, which its docstring describes.
    """

    #: Whether it is elsewhere: methods may return awaitables, any number of claims may wait at once, and other
    #: crawlers may use it at the same time. Look-up and insert are one step at the other end, so that two machines
    #: that ask at once never both hear "new". Where no answer comes, StoreUnavailable is all that is known: the claim
    #: may have been stored, and whoever asks again may hear of a revisit.
    is_remote = False
    #: Kinds of notes that outlive the crawl. Of others `note` returns none, and `replace_notes` keeps nothing.
    note_kinds: Collection[str] = ()
    #: Whether claims return the nearest candidate. The detector sets it where verdicts are explained; a store may
    #: ignore it.
    explains = False
    #: Whether its pages end with the process.
    is_memory = False

    def __init__(self, header: Header | None) -> None:
        self._header = header
        self._damaged: set[str] = set()

    @property
    def header(self) -> Header:
        """The settings with which its fingerprints were made and compared. StoreError before they are known."""
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
        """How many fingerprints can be found: originals that are not short. All pages if these are not counted."""
        return len(self)

    @abstractmethod
    def __len__(self) -> int:
        """Return how many pages are known, whatever became of them; of a remote store as of the last answer."""

    @abstractmethod
    def claim(self, posting: Posting) -> Answer[Claim]:
        """Look *posting* up and remember it, in one step that nothing comes between.

        A page that is a near-duplicate of an original, by the rule of the header, joins its cluster and is not stored
        as an original: clusters do not drift along chains A ~ B ~ C. An original with an equal text goes before all
        others. Among several originals the page's own row goes first, then those that it does not contradict, of
        these the one that it was a near-duplicate of, then the most alike, then the nearest, then the oldest.
        """

    def look(self, posting: Posting) -> Answer[Claim]:
        """Return the result of ``claim`` without storing anything. A new page has the number that it would get.

        Raises StoreUnavailable where there is no such look: commands such as ``scrapy shell`` compare nothing then.
        """
        raise StoreUnavailable(f"{self} cannot compare a page without storing it")

    def deliver(self, pages: Mapping[bytes, int | None]) -> Answer[None]:
        """Store that items of *pages* were delivered in this run: of each its key, and its page hash at that time.

        One step; call it with many pages at once. A claim with another text removes the mark.

        Unknown pages, and pages whose text has changed meanwhile, are skipped. A store may ignore it:
        then no page is dropped because of what an earlier run delivered.
        """
        return None

    def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED) -> Answer[None]:
        """Store the times of pages that were not read: of each its key, and the seconds of Unix time. One step.

        Pages that are not known are passed over. A Redis cluster keeps none of this.
        """
        return None

    @abstractmethod
    def get(self, key: bytes) -> Answer[Page | None]:
        """Return what is known about a page, None if nothing is."""

    def remove(self, key: bytes) -> Answer[bool]:
        """Remove a page and its notes, and return whether it was known.

        Pages that were near-duplicates of it stay, without an original, and are compared again at their next visit.
        Numbers are not used again.

        Raises StoreError from a store that cannot remove pages.
        """
        raise StoreError(f"{self} cannot remove pages")

    def remove_host(self, host: str) -> Answer[int]:
        """Remove the pages whose URL has this *host*, in lower case, as `remove` does; return how many there were.

        Learned text of the host stays. Several steps: if one fails, the pages before it are removed. O(pages).

        Raises StoreError from a store that cannot remove pages.
        """
        if self.is_remote:
            raise StoreError(f"{self} cannot remove the pages of a host")
        pages = cast("Iterable[Posting]", self)
        keys = [posting.key for posting in pages if host_of(posting.url) == host]
        return sum(bool(self.remove(key)) for key in keys)

    def note_damage(self, record: str) -> None:
        """Count a damaged *record*, and log the first. What follows its name in brackets does not count."""
        is_first = not self._damaged
        self._damaged.add(record.partition(" (")[0])
        if is_first:
            logger.warning("%s is damaged: %s", self, record)

    @property
    def damaged(self) -> int:
        """How many damaged records were met."""
        return len(self._damaged)

    def pages(self) -> Iterator[Page] | AsyncIterator[Page]:
        """Yield every page by number."""
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
        """Return the damaged records, as messages name them; *tell* gets the number of pages that were read so far.

        Raises StoreError from a store that cannot be checked.
        """
        raise StoreError(f"{self} cannot be checked: stores in an SQLite file and in Redis can")

    @abstractmethod
    def close(self, reason: str = "finished") -> Answer[None]:
        """End the run and release all resources. Closing again does nothing."""
