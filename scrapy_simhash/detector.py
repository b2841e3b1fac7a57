"""NearDuplicateDetector: a page in, a verdict out. Knows no Scrapy."""

from __future__ import annotations

from scrapy_simhash.config import Config
from scrapy_simhash.fingerprint import Fingerprint
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.scope import scope_of
from scrapy_simhash.store import MemoryStore, Posting, Store
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

    def __init__(self, config: Config | None = None, store: Store | None = None) -> None:
        self.config = config or Config()
        self.fingerprinter = PageFingerprinter(self.config)
        # An empty store is false, since it has a length.
        self.store: Store = (
            MemoryStore(self.fingerprinter.rule, self.config.blocks) if store is None else store
        )

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

        Raises TypeError for a type that is no page; nothing else, whatever the markup.
        """
        maxsize = self.config.maxsize
        if maxsize and isinstance(html, str | bytes) and len(html) > maxsize:
            return Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)
        reading = self.fingerprinter.read(
            html, url, content_type=content_type, content_language=content_language
        )
        return self.conclude(reading, url, key=key)

    def conclude(self, reading: Reading, url: str, *, key: bytes | None = None) -> Verdict:
        """Return the verdict on a page that has been read, and remember the page; see check().

        Look-up and insert are one step; call it from one thread at a time.
        """
        if reading.fingerprint is not None:
            return self.judge(reading.fingerprint, url, key=key)
        if reading.text_hash is not None:
            return self._judge_short(reading.text_hash, url, key)
        return Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)

    def judge(self, fingerprint: Fingerprint, url: str, *, key: bytes | None = None) -> Verdict:
        """Return the verdict on a page whose fingerprint is known, and remember the page; see check()."""
        claim = self.store.claim(Posting(_key(url, key), url, scope_of(url, self.config.scope), fingerprint))
        if claim.former is not None:
            distance = hamming_distance(claim.former, fingerprint.value)
            reason = Reason.CHANGED if distance else Reason.UNCHANGED
            return Verdict(
                Status.REVISIT,
                fingerprint,
                claim.original,
                distance,
                claim.similarity,
                claim.cluster,
                reason,
            )
        status = Status.NEW if claim.original is None else Status.NEAR_DUPLICATE
        return Verdict(status, fingerprint, claim.original, claim.distance, claim.similarity, claim.cluster)

    def _judge_short(self, value: int, url: str, key: bytes | None) -> Verdict:
        """Return the verdict on a page without a fingerprint: skipped, unless another page says exactly the same."""
        scope = scope_of(url, self.config.scope)
        # A key of its own: what a page says in three words is no earlier version of what it says in a thousand.
        page_key = b"short " + _key(url, key)
        claim = self.store.claim(Posting(page_key, url, scope, Fingerprint(value), is_exact=True))
        if claim.original is None:
            return Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)
        status, reason = Status.NEAR_DUPLICATE, Reason.SHORT_TEXT
        if claim.former is not None:
            status, reason = Status.REVISIT, Reason.UNCHANGED if claim.former == value else Reason.CHANGED
        return Verdict(status, None, claim.original, claim.distance, claim.similarity, claim.cluster, reason)


def _key(url: str, key: bytes | None) -> bytes:
    return url.encode("utf-8", "surrogatepass") if key is None else key
