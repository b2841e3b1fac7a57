"""Store: the memory of who was seen. One small protocol, whatever keeps it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from scrapy_simhash.fingerprint import Fingerprint


class Posting(NamedTuple):
    """A page as it asks to be remembered."""

    key: bytes
    """What makes a page itself: Scrapy's request fingerprint, not the URL's text."""
    url: str
    scope: str
    """Pages are compared with those of their own scope only."""
    fingerprint: Fingerprint
    is_exact: bool = False
    """Whether only an equal value is a match: a page too short for a fingerprint, whose value is the hash of its
    text. Exact postings are compared with exact ones only."""


class Claim(NamedTuple):
    """What the store knew when a page asked."""

    former: int | None
    """The value that the same page had last time; None at its first visit."""
    cluster: int
    """Number of the page whose content this is: its own when the content is new."""
    original: str | None
    """URL of that page, None when it is the page itself."""
    distance: int | None
    """Bits from the content of that page that decided, None when it is the page itself."""
    similarity: float | None
    """How alike the two are by the rule, 0-1, None when it is the page itself."""


class Store(Protocol):
    """Keeps postings and answers which of them a new one repeats."""

    def claim(self, posting: Posting) -> Claim:
        """Look *posting* up and remember it, in one step that nothing comes between.

        Content that is a near-duplicate, by the rule of the store, of what another page had first belongs to that
        page's cluster and is not stored as an original: clusters do not drift along chains A ~ B ~ C. A page that
        changed is compared again; its earlier content stays known as its own.
        """
        ...

    def __len__(self) -> int:
        """Return how many pages are known, whatever became of them."""
        ...

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found."""
        ...
