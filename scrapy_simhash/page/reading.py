"""Reading: the data with which a page is compared, and the interface of a boilerplate model."""

from __future__ import annotations

from dataclasses import replace
from struct import Struct
from typing import NamedTuple, Protocol

from scrapy_simhash.page.features import with_offer
from scrapy_simhash.page.fingerprint import FACTS_AT, TEXT_MASK, Fingerprint, UniqueText, digest, number
from scrapy_simhash.page.fingerprint.facts import with_rows
from scrapy_simhash.page.structured import NOTHING, Structured
from scrapy_simhash.page.text import Document

#: Stored data of a paragraph: its hash, and its number of tokens, at most 65,535.
KEPT_PARAGRAPH = Struct(">8sH")
_MAX_WORDS = 0xFFFF


class KnownSite(Protocol):
    """The boilerplate model of a site: a :class:`~scrapy_simhash.page.site.SiteProfile`."""

    def flags(self, keys: bytes, /) -> bytes | None:
        """Return a byte for each 8-byte key of a text block in *keys*: 1 for boilerplate, 2 if it may be, else 0.

        Empty if all flags are 0; None while too little is known about the site.
        """
        ...


class Reading(NamedTuple):
    """The data with which a page is compared. The C extension also creates readings."""

    fingerprint: Fingerprint | None
    """None if the main text is too short."""
    page_hash: int | None
    """64-bit hash of title, main text, the lines of the article and structured data with prices, character for
    character: pages with the same hash are equal. See
    :func:`~scrapy_simhash.page.features.whole_text`.

    None for a page without text: it has no fingerprint, and fewer than
    :data:`~scrapy_simhash.page.features.extract.MIN_TOKENS` tokens of main text.
    """
    pieces: bytes = b""
    """Keys of the text blocks of the main text, 8 bytes each, for the boilerplate model of the site; empty without a
    model."""
    may_name_canonical: bool = True
    """Whether the head may name a canonical URL; true if this was not checked, as in pure Python."""
    paragraphs: bytes = b""
    """Result of `packed` for the page, if ``SIMHASH_CHANGES`` is set."""
    is_interstitial: bool = False
    """Whether the page is an interstitial, such as a login page, which is not compared."""
    text_hash: int | None = None
    """64-bit hash of title and main text: pages with different facts may share it. None if unknown."""

    def with_url(self, url: str) -> Reading:
        """Return the reading of a page with little text, whose page hash then also depends on its path and query.

        The host is ignored, because a site may use it with and without ``www``.
        """
        assert self.page_hash is not None
        path = url.partition("://")[2].partition("/")[2]
        return self._replace(page_hash=self.page_hash ^ number(path)) if path else self

    def with_structured(self, about: Structured) -> Reading:
        """Return the reading with structured data added to its page hash and its facts.

        So pages about different things have different page hashes, even if the difference, such as the place of a
        job, is not in the text.
        """
        if about == NOTHING:
            return self
        fingerprint, page_hash = self.fingerprint, with_offer(self.page_hash, about.offer)
        if fingerprint is not None and fingerprint.own:
            own = UniqueText.from_bytes(fingerprint.own)._replace(text=(page_hash or 0) & TEXT_MASK)
            fingerprint = replace(fingerprint, own=own.to_bytes())
        if about.rows:
            if fingerprint is not None and fingerprint.sketch:
                sketch = fingerprint.sketch
                sketch = sketch[:FACTS_AT] + with_rows(sketch[FACTS_AT:], about.rows)
                fingerprint = replace(fingerprint, sketch=sketch)
            if page_hash is not None:
                page_hash ^= number(" ".join(f"{row:x}" for row in about.rows))
        return self._replace(fingerprint=fingerprint, page_hash=page_hash)


def packed(document: Document) -> bytes:
    """Return the stored data of the paragraphs of the main text, in order, 10 bytes each: see `KEPT_PARAGRAPH`."""
    return b"".join(
        [KEPT_PARAGRAPH.pack(digest(part.text), min(len(part.tokens), _MAX_WORDS)) for part in document.main]
    )
