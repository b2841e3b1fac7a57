"""Reading: all that is kept of a page to compare it, and what reading it asks of its site."""

from __future__ import annotations

from dataclasses import replace
from struct import Struct
from typing import NamedTuple, Protocol

from scrapy_simhash.page.features import with_offer
from scrapy_simhash.page.fingerprint import FACTS_AT, TEXT_MASK, Fingerprint, OwnPart, digest, number
from scrapy_simhash.page.fingerprint.facts import with_rows
from scrapy_simhash.page.structured import NOTHING, Structured
from scrapy_simhash.page.text import Document

#: What is kept of a paragraph: its hash, and its words, of which 65,535 are counted.
KEPT_PARAGRAPH = Struct(">8sH")
_MOST_WORDS = 0xFFFF


class KnownSite(Protocol):
    """What is known about the site of a page: a :class:`~scrapy_simhash.page.site.SiteProfile`."""

    def flags(self, keys: bytes, /) -> bytes | None:
        """Return a byte for each piece, by *keys* of 8 bytes: 1 if it is the site's, 2 if it may be, else 0.

        Empty if all are 0; None while too little is known to tell what the site repeats.
        """
        ...


class Reading(NamedTuple):
    """What is needed of a page to compare it: of constant size, however large the page. The kernel makes it too."""

    fingerprint: Fingerprint | None
    """None when the main text is too short."""
    page_hash: int | None
    """64-bit hash of title, main text, the lines of the article and what structured data state, price included,
    character for character: two pages with the same hash are the same. See
    :func:`~scrapy_simhash.page.features.whole_text`.

    None for a page that says nothing: it has no fingerprint, and fewer than
    :data:`~scrapy_simhash.page.features.extract.LEAST_TOKENS` tokens of main text.
    """
    pieces: bytes = b""
    """Keys of the pieces of the main text, 8 bytes each, from which the profile of its site learns; empty without
    one."""
    may_name_canonical: bool = True
    """Whether the head may name a canonical URL; true where nobody has looked, as in pure Python."""
    paragraphs: bytes = b""
    """What `packed` makes of the page, if ``SIMHASH_CHANGES`` wants to compare it later."""
    is_interstitial: bool = False
    """Whether the page stands in front of another one, as to log in: then it says nothing."""
    text_hash: int | None = None
    """64-bit hash of title and main text alone: pages with different facts may share it. None if it is not known."""

    def with_url(self, url: str) -> Reading:
        """Return this for a page that says little: unchanged when it comes again, and no copy of another page.

        Another host, as with and without ``www``, makes no other page.
        """
        assert self.page_hash is not None
        path = url.partition("://")[2].partition("/")[2]
        return self._replace(page_hash=self.page_hash ^ number(path)) if path else self

    def with_structured(self, about: Structured) -> Reading:
        """Return this with what structured data say about the page: in its page hash, and in its facts.

        So pages about different things never have the same page hash: where a job is often stands beside the text.
        """
        if about == NOTHING:
            return self
        fingerprint, page_hash = self.fingerprint, with_offer(self.page_hash, about.offer)
        if fingerprint is not None and fingerprint.own:
            own = OwnPart.from_bytes(fingerprint.own)._replace(text=(page_hash or 0) & TEXT_MASK)
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
    """Return what is kept of the paragraphs of the main text, in their order, 10 bytes each: see `KEPT_PARAGRAPH`."""
    return b"".join(
        [KEPT_PARAGRAPH.pack(digest(part.text), min(len(part.tokens), _MOST_WORDS)) for part in document.main]
    )
